# SPDX-License-Identifier: MIT
# room: cli
# --follow: of a session that has ended the same as without; of one that grows, until a violation or a signal.
need python3

run() {
	local status=0

	echo "\$ $*"
	"$@" 2>&1 || status=$?
	[ $status -eq 0 ] || echo "(exit status $status)"
	echo
}

cat >world.yaml <<'YAML'
name: wired
seed: 3
duration: 1m
clocks:
  - { name: node, count: 3, rate: 8M, oscillator: { offset_sd_ppm: 50, walk_ppb: 1 } }
pulses:
  - { line: PPS, clocks: node*, period: 500ms, jitter: { normal_ns: 100 } }
  - { line: WIRE, clocks: node*, period: 1s, jitter: { normal_ns: 5 } }
YAML
cat >good.yaml <<'YAML'
- { event: node1.PPS:rise, every: 500ms +- 2ms }
- { after: node1.WIRE:rise, then: other.WIRE:rise, within: -5us to 5us }
YAML
echo '- { count: any WIRE:rise, at most: 3, in: 100s }' >bad.yaml
coeval sim world.yaml -o s >/dev/null

echo "== nothing ties it"
run coeval show s --follow
run coeval check s good.yaml --follow

echo "== it has ended: the same as without --follow"
coeval sync s --follow --pulse PPS:rise:500ms >synced
for options in --bounds "--select PPS:rise" --ticks --json; do
	coeval show s --follow $options 2>notes >followed
	coeval show s $options | cmp - followed && wc -l <followed
done
cat notes
coeval show s --bounds | cmp - synced
coeval check s good.yaml | diff - <(coeval check s good.yaml --follow 2>/dev/null) && echo checked alike
chmod -R a-w s
before=$(cat s/sync.json | sha256sum)
run coeval check s bad.yaml --follow --silent-after 1min
run coeval info s --follow --json | tail -n 2
coeval info s --follow 2>/dev/null | tail -n 4
[ "$(cat s/sync.json | sha256sum)" = "$before" ] || echo sync.json is another one
chmod -R u+w s

echo "== power"
python3 - <<'END'
with open("power.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,current_mA,voltage_V\n")
    for k in range(5000):
        f.write(f"1600000000.{k * 100 + 50:06d}0,4,4,{10 if k % 100 < 20 else 1},3\n")
END
coeval import -o p power.csv >/dev/null
coeval sync p >/dev/null
for options in "" --json; do
	coeval power p --current current --volts voltage $options | cmp - <(coeval power p --current current --volts voltage $options --follow 2>/dev/null) && echo alike
done

echo "== it grows: a writer that is held open, interrupted"
# 20 s of samples at once; line 2 rises at 15 s
python3 - live.raw <<'END'
import sys

with open(sys.argv[1], "wb") as f:
    f.write(bytes((k % 1000 < 100) | (2 if k % 200 < 100 else 0) | (4 if k > 150000 else 0) for k in range(200000)))
END
mkfifo samples
coeval capture -d pipe --rate 10k --lines 8 --name a -o live <samples >/dev/null 2>&1 &
capture=$!
exec 9>samples
cat live.raw >&9

# Run until there is output, or so long if there will be none; then send it the signal.
interrupted() { # output, signal, seconds, command
	local out=$1 signal=$2 wait=$3 status=0 pid

	shift 3
	echo "\$ $* (SIG$signal)"
	# a background job ignores SIGINT, unless it has job control
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" >"$out" 2>notes &
	pid=$!
	for _ in $(seq "$wait"); do
		[ -s "$out" ] && break
		sleep 1
	done
	kill -s "$signal" $pid
	wait $pid || status=$?
	grep -v "waiting for" notes
	echo "(exit status $status)"
}
echo '- { name: period, event: a.D0:rise, every: 100ms +- 1ms }' >period.yaml
echo '- { name: quiet, never: a.D2:rise }' >quiet.yaml
interrupted shown INT 30 coeval show live --follow --select D0:rise
head -n 2 shown
run timeout 60 coeval check live quiet.yaml --follow
for seconds in 1 3 10; do # on a busy machine it has not begun yet
	interrupted report INT $seconds coeval check live period.yaml --follow >said
	grep -q "before its clocks" said || break
done
cat said
sed 's/holds  *[0-9]*/holds  N/' report
interrupted table TERM 30 coeval info live --follow
grep -c '^settled' table | sed 's/[1-9][0-9]*/tables/'
grep -c $'\33' table
coeval show live --follow 2>/dev/null | head -n 1
exec 9>&-
wait $capture

echo "== what does not go together"
run coeval show s --follow --nominal
run coeval check s good.yaml --follow --until 3
run coeval power s --power x --follow --node node1
run coeval info s --silent-after 3s
run coeval info s --follow --silent-after 0
