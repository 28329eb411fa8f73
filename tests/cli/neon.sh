# SPDX-License-Identifier: MIT
# room: core; full
# The NEON scan finds the same edges as the plain one (emulated: no Arm machine is needed).
need aarch64-linux-gnu-gcc
need qemu-aarch64
aarch64-linux-gnu-gcc -std=gnu11 -O2 -static -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -Werror \
	-I"$SRC/include" -I"$SRC/src" "$SRC/tests/neon_main.c" "$SRC"/src/store/scan*.c -o neon || exit 1
qemu-aarch64 ./neon
