# SPDX-License-Identifier: MIT
# room: lab
# `coeval task bench` on a simulated bench: a plan, a whole run, a resumed one, a stopped one, and errors.
need_pty
config=$SRC/examples/taskbench/nucleo-l476.json
show() {
	sed 's|/dev/pts/[0-9]*|PORT|g; s|'"$SRC"'/||g'
}
try() {
	echo "\$ coeval task bench $*" | show
	status=0
	coeval task bench "$@" 2>&1 | show || status=$?
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || echo "exit status $status"
}

try "$config" --dry-run

cat >small.json <<'END'
{
	"target": { "port": "/dev/ttyNone0" },
	"instruments": {
		"dmm": {
			"address": "/dev/usbtmc0", "identity": "DMM7510", "result": "current", "sample_hz": 10000,
			"setup": ["*RST", ":SENS:DIG:CURR:SRAT {sample_hz}", ":FORM:DATA SREAL"],
			"arm": "INIT", "done_query": ":TRIG:STAT?", "done_is": "IDLE",
			"count_query": ":TRAC:ACT?", "fetch_query": ":TRAC:DATA? {first}, {last}, \"defbuffer1\", READ",
			"format": "f32-swapped"
		}
	},
	"experiments": [
		{ "kind": "trace", "workloads": ["reg-add", { "name": "spi", "label": "spi@1M", "arg": 1000000 }],
		  "hz": [13e6, 80e6], "counters": ["cycles", "lsu"] },
		{ "kind": "energy", "workloads": "reg-add", "hz": [13e6, 80e6], "policies": ["fast-flash", "low-voltage"],
		  "instrument": "dmm" }
	]
}
END
try small.json -o r.csv -t t.csv --simulated
head -n 3 r.csv
cat t.csv
try small.json -o r.csv --simulated --json | head -n 3
try small.json -o r.csv --dry-run

echo '# ten rows are taken away: they alone are measured again'
{ head -n 1 r.csv; tail -n +12 r.csv; } >part.csv
try small.json -o part.csv --simulated | head -n 2

echo '# stopped by SIGINT'
sed 's/"experiments"/"give_up_after": 7, "experiments"/; s/"hz": \[13e6, 80e6\], "c/"hz": [13e6, 26e6, 40e6, 53333333, 80e6], "repetitions": 900, "c/' small.json >long.json
coeval task bench long.json -o s.csv --simulated >out 2>err &
bench=$!
for _ in $(seq 100); do
	[ -e s.csv ] && [ "$(wc -l <s.csv)" -gt 20 ] && break
	sleep 0.05
done
kill -INT "$bench"
status=0
wait "$bench" || status=$?
echo "exit status $status"
cat err
awk -F, 'END { print (NR > 20) ? "rows are kept" : "rows are lost" } NF != 20 { print "line", NR, "has", NF, "columns" }' s.csv

echo '# what is wrong'
try small.json -o none.csv
ls none.csv 2>/dev/null
try small.json -o /no/such/folder/r.csv --simulated
mkfifo pipe
try small.json -o pipe --simulated
echo '# a disk that is full after 1 KiB'
(trap '' XFSZ; ulimit -f 1; try small.json -o full.csv --simulated 2>&1) | head -n 2
wc -l <full.csv | awk '{ print ($1 > 2) ? "what fitted is there" : "nothing is there" }'
sed 's/"identity": "DMM7510"/"identity": "34465A"/' small.json >other.json
try other.json -o o.csv --simulated
sed 's/"repetitions"/"repetition"/; s/"kind": "trace"/"kind": "trace", "repetition": 3/' small.json >unknown.json
try unknown.json -o o.csv
try no.json
try
echo 'task,hz' >bad.csv
try small.json -o bad.csv --simulated
