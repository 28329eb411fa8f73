# SPDX-License-Identifier: MIT
# room: firmware; full
# An emulated Cortex-M4 whose interrupts trace while they break into the program and into one another, at moments drawn from a seed:
# every event is whole and in order, and what was dropped is counted. Programs that are not ours read the same.
need qemu-system-arm
need arm-none-eabi-gcc
need cc
seed=${COEVAL_SEED:-$RANDOM$RANDOM}
echo "COEVAL_SEED=$seed" >seed
tracer=$SRC/firmware/lib/tracer
cc -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" -I"$SRC/firmware/apps" -I"$SRC/tests" "$SRC/tests/tracer_print.c" "$tracer/metadata.c" -o print || exit 1

# With exclusives; and for a core without them, whose code a Cortex-M4 runs as well, by masking interrupts.
for core in cortex-m4 cortex-m0plus; do
	mkdir trace
	./print >trace/metadata || exit 1
	arm-none-eabi-gcc -mcpu=$core -mthumb -O2 -std=gnu99 -ffreestanding -fno-tree-loop-distribute-patterns -Wall -Wextra -Wshadow \
		-Wconversion -Werror -DSEED="$((seed | 1))u" -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" -I"$SRC/firmware/apps" -I"$SRC/tests" -nostdlib -L "$SRC/firmware/boards/cortexm" \
		-T "$SRC/firmware/apps/taskbench/mps2/mps2.ld" "$SRC/tests/tracer_m4.c" "$tracer/tracer.c" "$tracer/drain.c" \
		"$SRC/firmware/boards/cortexm/start.c" -lgcc -o image.elf || exit 1
	timeout 120 qemu-system-arm -M mps2-an386 -kernel image.elf -display none -monitor none -serial none -semihosting \
		-icount shift=0 </dev/null || { echo "the image failed"; exit 1; }
	mv packets.bin trace/stream

	coeval show --ticks trace >shown 2>errors || { cat seed errors; exit 1; }
	od -An -v -tu4 counts.bin >counts
	# numbers of each, program and interrupts, go up; together with those reported as lost they are as many as were begun
	awk 'NR == FNR { begun = $1 + $2 + $3; lost = $4; next }
		/gap: / { if (!/why = discarded/) bad = bad "\n" $0; sub(/.*lost = /, ""); told += $0; next }
		/ tracer_clock: / { next }
		/ pair: / { who = $0; sub(/.*who = /, "", who); n = $0; sub(/.*number = /, "", n) }
		/ words: / { who = $0; sub(/.*five = /, "", who); n = $0; sub(/.*last = /, "", n)
			if (!/first = "who", five = [0-2], second = "it was", last = /) bad = bad "\n" $0 }
		{ who += 0; n += 0; events++; of[who]++
			if (n < next_of[who] || (n % 5 == 4) != / words: /) bad = bad "\n" $0
			next_of[who] = n + 1
			match($0, /[0-9]+/); tick = substr($0, RSTART, RLENGTH) + 0
			if (tick < before || (before && tick > before + 2147483648)) bad = bad "\nback in time: " $0
			before = tick }
		END {
			printf "%d events, %d lost\n", events, lost >"tally"
			if (bad) print "wrong:" bad
			if (told != lost) print told " told as lost of " lost
			if (events + lost != begun) print events " events and " lost " lost, but " begun " begun"
			print (of[0] > 1000 && of[1] > 1000 && of[2] > 1000 && lost > 100 ? "enough of each" : "too few: " of[0] " " of[1] " " of[2] " " lost)
		}' counts shown >result
	grep -qx 'enough of each' result && [ "$(wc -l <result)" -eq 1 ] || { cat seed result; exit 1; }
	if command -v babeltrace2 >/dev/null && command -v python3 >/dev/null; then
		python3 "$SRC/tests/compare_babeltrace.py" trace >compared || { cat seed compared; exit 1; }
	fi
	rm -r trace
done
