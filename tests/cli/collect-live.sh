# SPDX-License-Identifier: MIT
# room: uplink; full
# What arrives at a collector is followed live: the same as once it has all arrived. A node that is away holds nobody up, and what was final stays.
source "$SRC/tests/uplink/start.bash"
need jq
grow=$(dirname "$(command -v coeval)")/tests/grow
port=$(free_port)
coeval collect all --local-server --listen 127.0.0.1:$port >collected 2>&1 &
collector=$!
wait_for test -s all/collect/server/nats-server.log

# begin NAME SECONDS SECOND_US: a session of three clocks is written in haste, and sent
begin() {
	"$grow" $1 3 $2 $3 steady &
	writers+=($!)
	wait_for test -s $1/traces/n2/stream
	coeval send $1 --server nats://127.0.0.1:$port --name $1 >$1.sent 2>&1 &
	senders+=($!)
	wait_for test -s all/traces/$1.n2/stream
}

cat >compare.py <<'E2'
import re, sys
LINE = re.compile(r"\[ *(-?[0-9.]+) \+- +([0-9.]+) (ns|us|ms|s)\] (.*)")
UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
def read(name):
    out = []
    for line in open(name):
        m = LINE.match(line)
        if not m:
            print("odd:", line.strip())
            continue
        mark = "  (out of order)"
        out.append((float(m[1]), float(m[2]) * UNIT[m[3]], m[4].replace(mark, ""), mark in m[4]))
    return out
live, offline = read(sys.argv[1]), read(sys.argv[2])
E2

echo "== nobody is away: the same, byte for byte"
writers=() senders=()
begin a 300 20000
begin b 300 20000
coeval show all --follow --bounds >live 2>said &
live=$!
wait ${writers[*]} ${senders[*]}
kill -INT $collector
wait $collector
wait $live
cat said
coeval show all --follow --bounds >offline
cmp live offline && echo "$(($(wc -l <live) / 1000)) thousand records"

echo "== one is away, and comes back"
coeval collect more --local-server --listen 127.0.0.1:$port >collected 2>&1 &
collector=$!
wait_for test -s more/collect/server/nats-server.log
mkdir away && cd away && ln -s ../more all
writers=() senders=()
begin a 700 20000
begin b 700 20000
coeval show all --follow --bounds --silent-after 3s >live 2>said &
live=$!
cat >rules.yaml <<'YAML'
- { after: "a.n0.D0:rise", then: "b.n0.D0:rise", within: -1ms to 1ms }
YAML
coeval check all rules.yaml --follow --silent-after 3s --json >checked 2>&1 &
check=$!
sleep 4
kill -STOP ${senders[1]}
sleep 4
before=$(wc -l <live)
sleep 4
[ "$(wc -l <live)" -gt "$before" ] && echo "the others are shown meanwhile"
wait_for grep -q '"node":"b","state":"silent"' all/collect/nodes.json && echo "b is silent"
kill -CONT ${senders[1]}
wait ${writers[*]} ${senders[*]}
kill -INT $collector
wait $collector
wait $live $check
cat said
coeval show all --follow --bounds >offline
echo "meanwhile nothing is said; then: $(jq -r '.checks[0] | "\(.verdict), \(.violated) violated"' checked)"
coeval sync all >/dev/null
echo "in the end: $(coeval check all rules.yaml --json | jq -r '.checks[0] | .verdict')"
cd ..
cat >>compare.py <<'E2'
rest = [r for r in live if not r[3]]
print("all came:", len(live) == len(offline))
print("late are only those of b:", {r[2][:2] for r in live if r[3]} <= {"b."} and any(r[3] for r in live))
print("the rest is in order:", all(x[0] <= y[0] for x, y in zip(rest, rest[1:])))
# each record as it was said and as it is in the end: the same within their bounds
def by_clock(records):
    of = {}
    for r in records:
        of.setdefault(r[2].split()[0], []).append(r)
    for v in of.values():
        v.sort()
    return of
a, b = by_clock(live), by_clock(offline)
off = sum(abs(x[0] - y[0]) > x[1] + y[1] for k in b for x, y in zip(a[k], b[k]))
print("within bounds:", off <= 0.001 * len(offline) or off)
E2
python3 compare.py away/live away/offline
