# SPDX-License-Identifier: MIT
# room: analysis; full
# A real Linux, Debian's in an emulator: who woke whom by its own trace, against what it notes beside each wake-up and what a
# program with scripted waits knows. No cause is wrong, and at most 2 % are unknown where the events tell.
without_sanitizers
need qemu-system-x86_64
need python3
need gcc
kept=$SRC/build/linux
if ! [ -s "$kept/vmlinuz" ]; then
	mkdir -p "$kept" new
	name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	(cd new && [ -n "$name" ] && apt-get download "$name" >/dev/null 2>&1 && dpkg-deb -x ./*.deb .) ||
		skip "Debian's kernel cannot be fetched here (linux-image-cloud-amd64)"
	cp new/boot/vmlinuz-* "$kept/vmlinuz.new" && mv "$kept/vmlinuz.new" "$kept/vmlinuz"
	rm -rf new
fi
gcc -O1 -Wall -Wextra -Werror -static -D_GNU_SOURCE -o init "$SRC/tests/calls/linux_init.c" -pthread ||
	skip "no static C library; apt-get install libc6-dev"
python3 "$SRC/tests/calls/initrd.py" init >initrd.gz
# once in a while an emulated Linux stands still while it starts
for try in 1 2 3; do
	timeout 80 qemu-system-x86_64 -nodefaults -display none -no-reboot -accel tcg -smp 2 -m 512 \
		-kernel "$kept/vmlinuz" -initrd initrd.gz -append "console=ttyS0 panic=-1 no_hash_pointers seed=$COEVAL_SEED rounds=40" \
		-serial file:console -serial file:serial >emulator 2>&1
	[ "$(tail -n 1 serial)" = end ] && break
done
[ "$(tail -n 1 serial)" = end ] || skip "the emulated Linux did not come to its end: $(tail -n 1 console) $(tail -n 1 emulator)"

for kind in lttng perf flags; do
	python3 "$SRC/tests/calls/linux_ftrace.py" write serial $kind $kind
	coeval sql $kind --json "select * from waits" >waits.json 2>/dev/null || exit 1
	python3 "$SRC/tests/calls/linux_ftrace.py" check serial waits.json $kind 2>numbers || cat numbers
done
