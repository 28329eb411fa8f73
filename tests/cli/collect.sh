# SPDX-License-Identifier: MIT
# room: uplink
# Sessions that have ended, and one that grows, sent to a collector with a server of its own; what is refused; keys and TLS.
source "$SRC/tests/uplink/start.bash"
need jq
need openssl

run() {
	local status=0

	echo "\$ $*"
	"$@" 2>&1 || status=$?
	[ $status -eq 0 ] || echo "(exit status $status)"
	echo
}

# Without what differs from run to run.
quietly() {
	run "$@" | sed "s/:$port/:PORT/g"
}

cat >world.yaml <<'YAML'
name: wired
seed: 3
duration: 20s
clocks:
  - { name: node, count: 3, rate: 8M, oscillator: { offset_sd_ppm: 50, walk_ppb: 1 } }
pulses:
  - { line: PPS, clocks: node*, period: 500ms, jitter: { normal_ns: 100 } }
YAML
coeval sim world.yaml -o s >/dev/null

echo "== usage"
run coeval send
run coeval send s
run coeval collect all
run coeval collect all --local-server --server nats://h
run coeval send s --server nats://127.0.0.1:1 --name 'a b'
run coeval collect all --local-server --listen 0.0.0.0:4222
run coeval collect all --local-server --quota lots

echo "== a session that has ended"
port=$(free_port)
coeval collect all --local-server --listen 127.0.0.1:$port --metrics all.prom >collected 2>&1 &
collector=$!
wait_for test -s all/collect/server/nats-server.log
quietly coeval send s --server nats://127.0.0.1:$port --name bed
quietly coeval send s --server nats://127.0.0.1:$port --name bed --json
for clock in node1 node2 node3; do
	cmp s/traces/$clock/stream all/traces/bed.$clock/stream && echo "bed.$clock is $clock"
done
run coeval session verify all

echo "== one that nobody sent to is begun again"
for round in 1 2; do
	port2=$(free_port)
	coeval collect idle --local-server --listen 127.0.0.1:$port2 &
	idle=$!
	wait_for grep -q 'Server is ready' idle/collect/server/nats-server.log
	wait_for test -s idle/collect/nodes.json # by then it takes signals
	kill -INT $idle
	ends $idle || echo "exit status $?"
	rm idle/collect/nodes.json idle/collect/server/nats-server.log
done
run coeval info idle

echo "== one that grows, in another name"
grow=$(dirname "$(command -v coeval)")/tests/grow
"$grow" g 4 60 20000 &
wait_for test -s g/traces/n0/stream
quietly coeval send g --server nats://127.0.0.1:$port --name g
for clock in n0 n1 n2 n3; do
	cmp g/traces/$clock/stream all/traces/g.$clock/stream && echo "g.$clock is $clock"
done
wait_for grep -q '"g"' all/collect/nodes.json
grep -c '^coeval_' all.prom >/dev/null && echo "metrics are kept"
kill -INT $collector
ends $collector || echo "exit status $?"
cat collected
coeval info all --json | jq -c '[.clocks[] | {clock, node}]'
run coeval session verify all

echo "== a quota"
port=$(free_port)
coeval collect small --local-server --listen 127.0.0.1:$port --quota 1kB >collected 2>&1 &
collector=$!
wait_for test -s small/collect/server/nats-server.log
timeout 4 coeval send s --server nats://127.0.0.1:$port --name bed 2>&1 | sed 's/clock node.:/clock nodeN:/'
kill -INT $collector
ends $collector || echo "exit status $?"
sed 's/clock node./clock nodeN/' collected

echo "== keys"
run coeval collect keys keys --add n1 --add n2 --testbed lab
ls keys
stat -c '%a %n' keys/n1.nk keys/server.key
grep -c 'nkey: U' keys/nats-server.conf
port=$(free_port)
coeval collect safe --local-server --listen 127.0.0.1:$port --keys keys --testbed lab >collected 2>&1 &
collector=$!
wait_for test -s safe/collect/server/nats-server.log
quietly coeval send s --server tls://127.0.0.1:$port --testbed lab --key keys/n1.nk --ca keys/ca.pem --name n1
echo "-- without a key"
timeout 3 coeval send s --server tls://127.0.0.1:$port --testbed lab --ca keys/ca.pem --name n1 2>&1 | sed "s/:$port/:PORT/g"
echo "-- without the certificate"
timeout 6 coeval send s --server tls://127.0.0.1:$port --testbed lab --key keys/n1.nk --name n1 2>&1 | sed "s/:$port/:PORT/g"
echo "-- in another's name"
timeout 5 coeval send s --server tls://127.0.0.1:$port --testbed lab --key keys/n1.nk --ca keys/ca.pem --name n2 2>&1 | sed -E 's/Violation for .*;/Violation for ...;/' # one of several
kill -INT $collector
ends $collector || echo "exit status $?"
cat collected
run coeval collect keys keys --revoke n2 --testbed lab
run coeval collect keys keys --revoke n7 --testbed lab
grep -c 'nkey: U' keys/nats-server.conf
