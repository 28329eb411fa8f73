# SPDX-License-Identifier: MIT
# room: lab; full
# The compiler keeps the work of the synthetic workloads, whatever it optimises for: each iteration has its
# eight operations, of the kind that the workload is named after.
need arm-none-eabi-gcc
for level in -O1 -O2 -O3 -Os -Ofast; do
	arm-none-eabi-gcc -std=c99 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 "$level" -ffreestanding \
		-c "$SRC/firmware/apps/workloads/synthetic.c" -o synthetic.o
	arm-none-eabi-objdump -dr synthetic.o >listing
	awk -F'\t' -v level="$level" '
		/^[0-9a-f]+ <.*>:$/ { name = $0; gsub(/.*<|>:/, "", name) }
		# what steps pointers and counters adds a number
		name ~ /_add$/ && $3 ~ /^adds?(\.w)?$/ && $4 !~ /#/ { operations[name]++ }
		name ~ /_mul$/ && $3 ~ /^muls?(\.w)?$/ { operations[name]++ }
		name ~ /_div$/ && $3 ~ /^udiv$/ { operations[name]++ }
		name ~ /^float_add$/ && $0 ~ /vadd\.f32/ { operations[name]++ }
		name ~ /^float_mul$/ && $0 ~ /vmul\.f32/ { operations[name]++ }
		name ~ /^float_div$/ && $0 ~ /vdiv\.f32/ { operations[name]++ }
		name ~ /^double_/ && /__aeabi_d(add|mul|div)/ { operations[name]++ }
		name ~ /^ram_/ && $3 ~ /^str/ { stores[name]++ }
		name ~ /^(ram|flash)_/ && $3 ~ /^ldr/ { loads[name]++ }
		END {
			for (memory = split("reg ram flash float double", m, " "); memory; memory--)
				for (i = split("add mul div", op, " "); i; i--) {
					f = m[memory] "_" op[i]
					n++
					if (operations[f] < 8) bad = bad " " f "=" operations[f] + 0
					if (m[memory] == "ram" && stores[f] < 8) bad = bad " " f " stores=" stores[f] + 0
					if (m[memory] ~ /^(ram|flash)$/ && loads[f] < 8) bad = bad " " f " loads=" loads[f] + 0
				}
			print level ": " n " workloads;" (bad ? " too little of" bad : " all their work is there")
		}' listing
done
