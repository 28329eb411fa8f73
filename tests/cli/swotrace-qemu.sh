# SPDX-License-Identifier: MIT
# room: firmware; full
# The image that traces itself, on an emulated STM32F405: it has no trace units, and the library
# says so. The cost of the library's calls there, in instructions, beside the times in the thesis
# (section 9.2, 80 MHz).
need qemu-system-arm
need arm-none-eabi-gcc
need arm-none-eabi-nm
"$SRC/firmware/build" swotrace fw emulated >build.log 2>&1 || { cat build.log; exit 1; }
# the images for real boards build as well
"$SRC/firmware/build" swotrace fw-l476 l476 >build.log 2>&1 || { cat build.log; exit 1; }
"$SRC/firmware/build" swotrace fw-f4 f4 >build.log 2>&1 || { cat build.log; exit 1; }
grep -q 'all .* frames together' build.log || { cat build.log; exit 1; }
# the library is C99 for any core that has such units
for core in cortex-m3 cortex-m7 cortex-m33; do
	for source in "$SRC"/firmware/lib/swotrace/*.c "$SRC"/firmware/lib/swotrace/stm32/*.c; do
		arm-none-eabi-gcc -mcpu=$core -mthumb -O2 -ffreestanding -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
			-c "$source" -o core.o || exit 1
	done
done

# Every instruction is one line of the log; after its last word the image sleeps.
single=-singlestep
version=$(qemu-system-arm --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
[ "${version:-0}" -lt 9 ] || single="-accel tcg,one-insn-per-tb=on"
timeout 120 qemu-system-arm -M netduinoplus2 -kernel fw/swotrace.elf -nographic -monitor none \
	-serial null -serial file:out $single -d exec,nochain -D log </dev/null 2>qemu.log &
qemu=$!
trap 'kill "$qemu" 2>/dev/null || true' EXIT
for _ in $(seq 600); do
	! grep -q '^done' out 2>/dev/null || break
	sleep 0.1
done
kill "$qemu" 2>/dev/null || true
wait "$qemu" 2>/dev/null || true
grep -q '^done' out || { echo "it did not end"; cat out qemu.log; exit 1; }

{
	echo 'coeval swotrace'
	echo 'init: the trace units do not answer, comparators 0, mask 0, counters 0'
	printf '%s: the trace units do not answer\n' cpi exc sleep lsu fold cyc ram
	echo done
} >expected
tr -d '\r' <out | diff expected - || exit 1

# Between two marks, what is neither the mark nor the caller; a register costs a load or store and a return. How many there are depends
# on the compiler, so they are printed, and compared with the thesis's time: at 80 MHz an instruction takes at least a cycle.
arm-none-eabi-nm fw/swotrace.elf | awk '$3 == "model_read" || $3 == "model_write" { print $1 }' >entries
awk 'NR == FNR { entry[$1] = 1; next }
	$5 == "mark" { if (last != "mark") n++; last = $5; next }
	{ last = $5; split($4, at, "/") }
	entry[at[2]] { calls[n]++ }
	$5 != "measure" && $5 != "choose" && $5 !~ /^model_/ { instructions[n]++ }
	END {
		m = split("init,deinit,init with the debug port,start a counter,stop it,normalise a count," \
			"start four comparators,stop them,normalise accesses,,controller begins a run," \
			"ends it,,begins and decides,ends unmeasured", name, ",")
		split("7,,,5.26,2.45,,13.40,4.06,", us, ",")
		if (n != m + 1) { print "marks: " n; exit 1 }
		printf "%-24s %12s %9s  %s\n", "call", "instructions", "registers", "thesis, cycles at 80 MHz"
		for (i = 1; i < n; i++) {
			if (name[i] == "")
				continue
			all = instructions[i] + 2 * calls[i]
			thesis = us[i] == "" ? "" : sprintf("%.0f (%s us)", us[i] * 80, us[i])
			printf "%-24s %12d %9d  %s\n", name[i], all, calls[i], thesis
			if (thesis != "" && i > 1 && all > us[i] * 80) { print name[i] ": more than that"; bad = 1 }
		}
		exit bad
	}' entries log
