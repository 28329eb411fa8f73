# SPDX-License-Identifier: MIT
# room: analysis
# Durations with their bounds from lines of any session, the doctor on another machine's /proc and /sys, and refusals.
need python3
refused() {
	local status=0

	echo "\$ coeval $*"
	coeval "$@" || status=$?
	echo "exit status $status"
}

cat >two.vcd <<'V'
$timescale 1 us $end
$scope module m $end
$var wire 1 a A $end
$var wire 1 b B $end
$upscope $end
$enddefinitions $end
#0
0a
0b
#100
1a
#250
1b
#300
0a
0b
#400
1a
#560
1b
#600
0a
0b
V
coeval import -o s two.vcd > /dev/null
refused precision s --between m.A:rise..m.B:rise --svg times.svg
grep -c "<svg" times.svg
refused precision s --between m.A..m.A --json
refused precision s
refused precision s --between m.A:fall..C

# A few that are far off leave a histogram of the others.
python3 - >far.vcd <<'P'
print("$timescale 1 us $end\n$scope module m $end\n$var wire 1 a A $end\n$upscope $end\n$enddefinitions $end\n#0\n0a")
t = 0
for i in range(1000):
    high = 300000 if i in (100, 500, 900) else 1 if i in (200, 700) else 1000 + i % 7
    print(f"#{t + 50}\n1a\n#{t + 50 + high}\n0a")
    t += 50 + high + 100
P
coeval import -o far far.vcd > /dev/null
refused precision far --between m.A:rise..m.A:fall --svg far.svg
grep -o "2 shorter, 3 longer" far.svg
coeval precision far --between m.A:rise..m.A:fall --json | grep -oE '"histogram_(shorter|longer)":[0-9]+'

refused precision s --between A
refused precision s --between A:up..B
refused precision s --svg x.svg
refused precision nowhere

# A machine that is prepared, but for its governor and a sibling.
mkdir -p pc/proc/sys/kernel pc/proc/irq pc/sys/devices/system/{clocksource/clocksource0,cpu/cpu3/{topology,cpufreq,cpuidle/state0,cpuidle/state1},cpu/intel_pstate}
echo "flags : fpu constant_tsc nonstop_tsc rdtscp" >pc/proc/cpuinfo
echo "0.10 0.20 0.30 1/100 4711" >pc/proc/loadavg
echo -1 >pc/proc/sys/kernel/sched_rt_runtime_us
echo 7 >pc/proc/irq/default_smp_affinity
echo tsc >pc/sys/devices/system/clocksource/clocksource0/current_clocksource
cpu=pc/sys/devices/system/cpu
echo 0-3 >$cpu/online
echo 2-3 >$cpu/isolated
echo 3 >$cpu/nohz_full
echo 1 >$cpu/intel_pstate/no_turbo
echo 1,3 >$cpu/cpu3/topology/thread_siblings_list
echo powersave >$cpu/cpu3/cpufreq/scaling_governor
for k in 0 1; do
	echo "C$k" >$cpu/cpu3/cpuidle/state$k/name
	echo $((k * 200)) >$cpu/cpu3/cpuidle/state$k/latency
	echo $k >$cpu/cpu3/cpuidle/state$k/disable
done
refused doctor --root pc --cpu 3
echo performance >$cpu/cpu3/cpufreq/scaling_governor
echo 3 >$cpu/cpu3/topology/thread_siblings_list
refused doctor --root pc --cpu 3
refused doctor --root pc --cpu 2 --json
refused doctor --cpu x
refused doctor --root nothing

refused capture --driver poll -o p
refused capture --driver poll --device shm:there/is/none -o p
refused capture --driver poll --device shm:two.vcd,width=3 -o p
refused capture --driver poll --device ioport:0x378,width=2 -o p
refused capture --driver poll --device gpiochip:there/is/none,lines=1 -o p
refused capture --driver poll --device shm:two.vcd,cpu=4000 -o p
[ ! -e p ] || echo "a session is left"
