# SPDX-License-Identifier: MIT
# room: uplink; full
# Nodes in networks of their own, whose links to the server and the collector are cut and restored while they capture.
source "$SRC/tests/uplink/start.bash"
need ip
need nsenter
alone="unshare --net --mount-proc --pid --fork --kill-child"
[ "$(id -u)" -eq 0 ] || alone="unshare --map-root-user --net --mount-proc --pid --fork --kill-child"
$alone sh -c 'mount -t tmpfs tmpfs /run && mkdir /run/netns && ip netns add n && ip link add name near type veth peer name far netns n' 2>why ||
	skip "no networks can be made here (as root, or where users may have namespaces): $(head -n 1 why)"
seed=${COEVAL_SEED:-$RANDOM}
$alone sh -c 'mount -t tmpfs tmpfs /run && mkdir /run/netns && exec "$@"' - timeout 200 python3 "$SRC/tests/uplink/links.py" \
	"$(command -v coeval)" "$(command -v nats-server)" "${COEVAL_KILL_SECONDS:-20}" "$seed" 4 2>notes || echo "exit status $?; seed $seed"
cat notes >&3
