# SPDX-License-Identifier: MIT
# room: uplink
# A collector's session in a view: how each node is, also of one that falls silent.
source "$SRC/tests/uplink/start.bash"
need jq
source "$SRC/tests/view/start.bash"
grow=$(dirname "$(command -v coeval)")/tests/grow
port=$(free_port)
coeval collect all --local-server --listen 127.0.0.1:$port --patience 1s >collected 2>&1 &
collector=$!
wait_for test -s all/collect/server/nats-server.log
for node in a b; do
	"$grow" $node 3 500 20000 steady &
	wait_for test -s $node/traces/n2/stream
	coeval send $node --server nats://127.0.0.1:$port --name $node >$node.sent 2>&1 &
	senders+=($!)
	wait_for test -s all/traces/$node.n2/stream
done
wait_for grep -q '"b"' all/collect/nodes.json
start_view all

nodes() {
	python3 - "$(cat address)" <<'E2'
import re, sys, urllib.request
port, token = re.match(r"http://[^:]*:(\d+)/#([^&]*)", sys.argv[1]).groups()
request = urllib.request.Request(f"http://127.0.0.1:{port}/api/nodes", headers={"Coeval-Token": token})
print(urllib.request.urlopen(request).read().decode())
E2
}
nodes | jq -c '[.nodes[] | {node, state, clocks, beacons: (.beacons > 0), gaps, refused}] | sort_by(.node)[]'
kill -STOP ${senders[1]}
wait_for sh -c 'grep -q "\"b\",\"state\":\"silent\"" all/collect/nodes.json'
nodes | jq -c '[.nodes[] | {node, state}] | sort_by(.node)[]'
kill -CONT ${senders[1]}
wait ${senders[*]}
sleep 1.5
nodes | jq -c '[.nodes[] | {node, state, backlog_bytes}] | sort_by(.node)[]'
kill $viewer
kill -INT $collector
wait
