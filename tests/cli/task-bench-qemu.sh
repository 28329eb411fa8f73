# SPDX-License-Identifier: MIT
# room: lab; full
# The firmware of the task bench, workloads and all, runs on an emulated Cortex-M4, and `coeval task bench` steers it over its UART: it is
# rebooted before each run, set, and told to work. Stand-ins for BEEBS benchmarks go in as a user's checkout would.
need qemu-system-arm
need arm-none-eabi-gcc
need python3
BEEBS=$SRC/tests/data/beebs "$SRC/firmware/build" taskbench fw mps2 >build.log 2>&1 || { cat build.log; exit 1; }
grep -e 'left out' -e 'benchmarks in' build.log | sed 's/:[0-9:]* /: /; s/ in .*beebs.o//; s|left out broken: .*|left out broken: why|'

# the image of a real board builds as well
if [ -d "$SRC/firmware/lib/swotrace" ]; then
	"$SRC/firmware/build" taskbench fw-l476 l476 >build.log 2>&1 || { cat build.log; exit 1; }
fi

# -icount: its clock goes by instructions, so that two runs of the same are nearly the same
qemu-system-arm -M mps2-an386 -kernel fw/taskbench.elf -nographic -monitor none -serial pty \
	-icount shift=5,sleep=off >qemu.log 2>&1 &
qemu=$!
trap 'kill "$qemu" 2>/dev/null; wait "$qemu" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
	port=$(grep -o '/dev/pts/[0-9]*' qemu.log || true)
	[ -n "$port" ] && break
	sleep 0.1
done
[ -n "$port" ] || { cat qemu.log; exit 1; }

cat >bench.json <<END
{
	"target": { "port": "$port" },
	"retries": 0,
	"experiments": [ {
		"kind": "trace",
		"workloads": [
			"reg-add", "ram-div", "double-mul",
			{ "name": "spi", "iterations": 50, "arg": 5000000 },
			{ "name": "sleep", "iterations": 10, "arg": 3 },
			"sum", "two-sums", { "name": "bare", "iterations": 200000 }, { "name": "wrong", "iterations": 10 }
		],
		"hz": 25000000,
		"counters": ["cycles"],
		"repetitions": 2,
		"min_seconds": 0.02
	} ]
}
END
status=0
coeval task bench bench.json -o results.csv --json >summary.json 2>problems || status=$?
echo "exit status $status"
sed "s|$port|PORT|g; s/^coeval: warning: //" problems

python3 -c 'import json; s = json.load(open("summary.json")); print(s["made"], s["failed"], len(s["problems"]), len(s["settings"]))'

# Two runs of the same agree to a ten-thousandth, whatever the compiler makes of them; each took its time; cycles are seconds times 25 MHz.
awk -F, 'NR > 1 {
		n++
		if (!($1 in cycles)) cycles[$1] = $7
		apart = $7 / cycles[$1] - 1
		if (apart > 1e-4 || apart < -1e-4) bad = bad " " $1
		if ($17 < 0.0199) short = short " " $1
		ratio = $7 / $17 / 25e6
		if (ratio < 0.999 || ratio > 1.001) off = off " " $1
	}
	END { print n, "rows; differ:" bad "; too short:" short "; cycles and seconds disagree:" off }' results.csv

# What it cannot do, it says.
sed 's/"counters": \["cycles"\]/"counters": ["lsu"]/; s/"hz": 25000000/"hz": [25000000]/' bench.json >lsu.json
coeval task bench lsu.json -o lsu.csv 2>&1 >/dev/null | sed "s|$port|PORT|g" | head -n 1
sed 's/"hz": 25000000/"hz": [80000000]/' bench.json >fast.json
coeval task bench fast.json -o fast.csv 2>&1 >/dev/null | sed "s|$port|PORT|g" | head -n 1
