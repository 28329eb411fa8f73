# SPDX-License-Identifier: MIT
# room: uplink
# A node keeps little: what the collector has is freed there; what it has not goes last, and is a gap on both sides.
source "$SRC/tests/uplink/start.bash"
need jq
port=$(free_port)
url=nats://127.0.0.1:$port

collect() {
	coeval collect all --local-server --listen 127.0.0.1:$port "$@" >collected 2>&1 &
	collector=$!
	wait_for grep -q 'Server is ready' all/collect/server/nats-server.log
}

# capture SEED: 2 MB of noise in 3 s
capture() {
	python3 -c 'import random, sys, time
r = random.Random(int(sys.argv[1]))
for _ in range(60):
    sys.stdout.buffer.write(r.randbytes(33333))
    sys.stdout.buffer.flush()
    time.sleep(0.05)' $1 |
		coeval capture --driver pipe --rate 1MHz --lines 8 --name n1 --flush 100ms -o n1 --server $url --keep 5MB "${@:2}" 2>said
}

kept() {
	local bytes blocks

	bytes=$(stat -c %s n1/traces/n1/stream)
	blocks=$(stat -c '%b * %B' n1/traces/n1/stream)
	[ $bytes -gt $1 ] && [ $((blocks)) -lt 6000000 ] && echo "more than $1 bytes, of which less than 6000000 are kept" || echo "$bytes bytes, $((blocks)) kept"
}

gaps() {
	echo "gaps of $1: $(coeval info $1 --json | jq -c '.clocks[0].gaps_by_cause // {} | map_values(.gaps)')"
}

echo "== the collector has all"
collect
capture 1 | cut -d, -f1
cat said
kill -INT $collector
wait $collector
kept 8000000
coeval session verify all | tail -n 1
coeval session verify n1 | tail -n 1
gaps n1
gaps all
coeval show n1 --from 1.9s >here
coeval show all --from 1.9s | cmp - here && [ $(wc -l <here) -gt 50000 ] && echo "what is kept reads as at the collector"

echo "== the collector is away"
capture 2 >captured &
capture=$!
wait_for grep -q 'no room' said
sleep 3.5
kept 17000000
pkill -INT -P $capture coeval
wait $capture
grep -o 'coeval: warning: n1: no room' said | uniq
collect --until-ended
coeval send n1 --server $url --keep 5MB | sed 's/[0-9][0-9,]* bytes/... bytes/g'
wait $collector
coeval session verify all | tail -n 1
coeval session verify n1 | tail -n 1
gaps n1
gaps all
cmp <(tail -c 500000 n1/traces/n1/stream) <(tail -c 500000 all/traces/n1/stream) && echo "the end is the same"

echo "== too little"
coeval send n1 --server $url --keep 20kB
