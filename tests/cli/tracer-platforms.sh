# SPDX-License-Identifier: MIT
# room: firmware; full
# A Cortex-M4 that traces itself, emulated: what it wrote leaves by its UART, by semihosting, by memory with a doorbell, or stays where
# it is; and what is in the session, with what it counts as lost, is what it traced.
need qemu-system-arm
need arm-none-eabi-gcc
need python3
for line in uart semihost shared; do
	"$SRC/firmware/build" tracing $line $line >build.log 2>&1 || { cat build.log; exit 1; }
done
cmp uart/metadata shared/metadata || exit 1
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

emulate() { # image [more]
	local image=$1

	shift
	timeout 60 qemu-system-arm -kernel "$image/tracing.elf" -nographic -monitor none \
		-semihosting-config enable=on,target=native "$@" >/dev/null 2>qemu.log
}

there() { # file
	for _ in $(seq 200); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	echo "$1 never came"
	cat qemu.log
	exit 1
}

count() {
	coeval show s --json >s.json && python3 "$SRC/tests/tracer_count.py" s.json "$@"
	rm -rf s
}

# other cores
for source in "$SRC"/firmware/lib/tracer/{tracer,drain,rest}.c "$SRC"/firmware/lib/tracer/platform/*.c; do
	arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -O2 -ffreestanding -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
		-c "$source" -o core.o || exit 1
	! command -v riscv64-unknown-elf-gcc >/dev/null ||
		riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32 -O2 -ffreestanding -std=c99 -pedantic -Wall -Wextra -Wshadow \
			-Wconversion -Werror -c "$source" -o core.o || exit 1
done

echo "== a file by semihosting"
emulate semihost -M mps2-an386 -serial null || { cat qemu.log; exit 1; }
coeval capture --driver serial --device mps2=trace.bin --metadata semihost/metadata -o s | sed 's/, .*//'
count lossy

echo "== its UART, as it sends"
emulate uart -M mps2-an386 -chardev socket,id=line,path=uart.sock,server=on,wait=on -serial chardev:line &
there uart.sock
coeval capture --driver serial --device mps2=uart.sock --metadata uart/metadata -o s | sed 's/, .*//'
count lossy

echo "== shared memory, and a doorbell"
emulate shared -M mps2-an386,memory-backend=ram -object memory-backend-file,id=ram,size=16M,mem-path=ram.bin,share=on \
	-chardev socket,id=line,path=bell.sock,server=on,wait=on -serial chardev:line &
there bell.sock
coeval capture --driver shm --device mps2=ram.bin --bell bell.sock --metadata shared/metadata --duration 3s -o s 2>errors |
	sed 's/, .*//'
cat errors
count

echo "== what is no doorbell"
coeval capture --driver shm --device mps2=ram.bin --bell ram.bin --metadata shared/metadata -o t
echo "exit status $?"
coeval capture --driver shm --device mps2=ram.bin --bell nowhere --metadata shared/metadata -o t
echo "exit status $?"
coeval capture --driver shm --device mps2=ram.bin --bell mq:word --metadata shared/metadata -o t
echo "exit status $?"
coeval capture --driver serial --device mps2=trace.bin --bell uart.sock --metadata shared/metadata -o t
echo "exit status $?"
