# SPDX-License-Identifier: MIT
# room: capture
# The doctor with a /proc and /sys that hold little, nothing, or garbage: unreadable values are unknown.
need python3
look() {
	local status=0

	coeval doctor "$@" || status=$?
	echo "exit status $status"
}

mkdir -p empty
look --root empty
mkdir -p pc/proc/sys/kernel pc/proc/irq pc/sys/devices/system/cpu/cpu2/cpufreq
cpu=pc/sys/devices/system/cpu
echo 0-1,4 >$cpu/online

# Of another machine, its own processors count.
look --root pc | head -1
echo 1 >$cpu/isolated
look --root pc | head -1
look --root pc --cpu 2

# Files that are empty, of other bytes, and of other words.
for text in '' '\377\376\001\n' 'none of this\n' '\303\244\n'; do
	for name in $cpu/online $cpu/isolated $cpu/cpu2/cpufreq/scaling_governor pc/proc/loadavg \
		pc/proc/sys/kernel/sched_rt_runtime_us pc/proc/irq/default_smp_affinity pc/proc/cpuinfo; do
		printf "$text" >$name
	done
	echo "--- '$text'"
	look --root pc --cpu 2 | grep -v "not told here" || true
	look --root pc --cpu 2 --json >got || true
	[ "$(head -c 1 got)" != "{" ] || sed '$d' got | python3 -c 'import json, sys
points = json.load(sys.stdin)["points"]
print(len(points), "points,", sum(p["state"] == "unknown" for p in points), "unknown")'
done

# This one: whatever it is, each point has a state.
coeval doctor --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert len(d["points"]) == 17, d
assert d["points"][-1]["name"] == "counters", d
assert all(p["state"] in ("good", "bad", "unknown") and p["value"] for p in d["points"]), d'
if [ -e /sys/devices/system/cpu/online ]; then
	look --cpu 4095 | grep -o "processor 4095 is not one of those online" | head -1
else
	echo "SKIP doctor: /sys is not mounted; mount -t sysfs sys /sys" >&3
	echo "processor 4095 is not one of those online"
fi
