# SPDX-License-Identifier: MIT
# room: firmware
# Hooks of real-time kernels: FreeRTOS and RIOT in QEMU, with tasks whose waits are known; Zephyr's against its prototypes.
need arm-none-eabi-gcc

for cores in 1 2; do
	arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -std=gnu11 -Wall -Wextra -Werror -ffreestanding -DRTOS_CORES=$cores \
		-I"$SRC/tests/firmware/zephyr-stub" -I"$SRC/firmware" -c "$SRC/firmware/rtos/zephyr/hooks.c" -o zephyr.o &&
		echo "Zephyr's compile for $cores"
done
need qemu-system-arm
FREERTOS=${FREERTOS:-$SRC/../shared/data/rtos/freertos}
RIOT=${RIOT:-$SRC/../shared/data/rtos/riot}
[ -d "$FREERTOS" ] && [ -d "$RIOT" ] || skip "no FREERTOS= and RIOT=, and ../shared/data is not there"
export FREERTOS RIOT

for kernel in freertos riot; do
	echo "== $kernel"
	"$SRC/firmware/build" rtos $kernel $kernel >build.log 2>&1 || { cat build.log; exit 1; }
	(cd $kernel && timeout 60 qemu-system-arm -M mps2-an385 -kernel rtos.elf -nographic -monitor none -icount shift=6 \
		-semihosting-config enable=on,target=native </dev/null)
	coeval capture --driver serial --device rt=$kernel/trace.bin --metadata $kernel/metadata -o s-$kernel >/dev/null 2>&1
	coeval calls s-$kernel --json >calls.json
	coeval task s-$kernel --json >tasks.json
	# who woke whom, and on what it was blocked; not the first and the last wait, which the trace cuts
	coeval sql s-$kernel --csv "select thread, \"on\", by, context, count(*) n from waits where why = 'blocked' and thread not like '%/child-%'
		and thread not like '%dle%' and begin_ns > 5000000 and (select max(end_ns) from waits) > end_ns
		group by 1, 2, 3, 4" | sed 's/0x[0-9a-f]*/ADDRESS/'
	python3 - $kernel <<'P'
import json, sys
calls = json.load(open("calls.json"))
lanes = {l["lane"].split("/")[-1]: l for l in calls["lanes"]}
repairs = {k: v for k, v in calls["repairs"].items() if v and k not in ("open",)}
print("repairs", repairs or "none")
for name in ("hi", "mid", "lo"):
    l = lanes[name]
    ms = lambda k: round(l[k] / 1e6, 2)
    # the time that the kernel's own code takes is in what ran; the program computes what it says
    print(name, "preempted", ms("preempted_ns") > 0, "blocked more than it ran" if ms("blocked_ns") > ms("busy_ns") else "ran more than it was blocked")
hi = lanes["hi"]
print("the highest task is preempted by interrupts alone:", hi["preempted_ns"] < 0.01 * hi["blocked_ns"])
# what a task ran itself is the same for both; they end a last run, which the trace cuts, in their own ways
own = {}
for t in json.load(open("tasks.json"))["tasks"]:
    own[t["task"]] = own.get(t["task"], 0) + t["own_s"] * 1e3
for name in ("hi", "mid", "interrupt 15"):
    if abs(own[name] - lanes[name]["busy_ns"] / 1e6) > 0.05 * own[name]:
        print(name, "costs", own[name], "ms, and was busy for", lanes[name]["busy_ns"] / 1e6)
print("task and calls agree on what tasks ran")
jobs = [f for f in calls["functions"] if f["function"] == "job" and f["lane"].endswith("/hi")][0]
print("its job computes 1 ms:", abs(jobs["self_ns"] / jobs["calls"] - 1e6) < 3e4)
P
done
echo "== the same without a rule for who woke: what FreeRTOS alone says by its lists"
coeval sql s-freertos --csv "select count(*) > 30 from \"event_task_ready\"" | tail -1
