# SPDX-License-Identifier: MIT
# room: uplink; full
# Disks without room: the collector's, a node's, the server's. It is said, nothing wrong is stored, and when there is room all arrives.
if [ "${1-}" != mounted ]; then
	alone="unshare --mount-proc --pid --fork --kill-child"
	[ "$(id -u)" -eq 0 ] || alone="unshare --map-root-user --mount-proc --pid --fork --kill-child"
	mkdir full
	$alone mount -t tmpfs -o size=1m tmpfs full 2>why ||
		skip "no file system can be mounted here (as root, or where users may have namespaces): $(head -n 1 why)"
	exec $alone bash "$0" mounted
fi
source "$SRC/tests/uplink/start.bash"
port=$(free_port)
url=nats://127.0.0.1:$port

# disk NAME SIZE: one that is soon full
disk() {
	mkdir -p $1
	mount -t tmpfs -o size=$2 tmpfs $1
}

# fill FILE: take all room but SPARE bytes
fill() {
	python3 -c 'import os, sys
v = os.statvfs(os.path.dirname(sys.argv[1]))
with open(sys.argv[1], "wb") as f:
    f.write(bytes(max(0, v.f_bavail * v.f_frsize - int(sys.argv[2]))))' $1 $2
}

serve() {
	cat >server.conf <<-END
		listen: "127.0.0.1:$port"
		max_payload: 1MB
		jetstream { store_dir: "$1", max_file_store: 200MB, max_memory_store: 16MB }
	END
	nats-server -c server.conf >>server.log 2>&1 &
	server=$!
}

end_server() {
	{ kill -KILL $server && wait $server; } 2>/dev/null
}

# collect SESSION
collect() {
	coeval collect $1 --server $url --stream-size 100MB "${@:2}" >>collected 2>&1 &
	collector=$!
}

# samples SEED KB
samples() {
	python3 -c 'import random, sys
sys.stdout.buffer.write(random.Random(int(sys.argv[1])).randbytes(int(sys.argv[2]) * 1000))' $1 $2
}

# cpu PID SECONDS: whether a process does little meanwhile
idles() {
	python3 -c 'import sys, time
def spent():
    f = open(f"/proc/{sys.argv[1]}/stat").read().rsplit(")", 1)[1].split()
    return (int(f[11]) + int(f[12])) / 100
a = spent()
time.sleep(float(sys.argv[2]))
print("it idles" if spent() - a < 0.2 * float(sys.argv[2]) else f"it was busy for {spent() - a} s")' $1 $2
}

# begins SESSION CLOCK NODE: what is stored of a clock is what the node has
begins() {
	cmp -n $(stat -c %s $1/traces/$2/stream) $1/traces/$2/stream $3/traces/$2/stream &&
		[ $(stat -c %s $1/traces/$2/stream) -lt $(stat -c %s $3/traces/$2/stream) ] && echo "a part of $2 is stored, as it is"
}

whole() {
	cmp $1/traces/$2/stream $3/traces/$2/stream && echo "all of $2 is stored"
}

# said FILE: each thing that was said once, without what differs from run to run
said() {
	sed -E 's/: [^:]*: No space/: ...: No space/; s/node n.: [^:]*\/stream: .*No space/node: ...: No space/; s/[0-9]+ packets/... packets/; s/^all: [0-9]+ nodes?, [0-9]+ clocks?/all: ... nodes, ... clocks/; s/[0-9]+ messages/... messages/; s/[0-9,]+ bytes/... bytes/; s/[0-9.]+ s, [0-9,]+ records/... s, ... records/' $1 |
		sed -E 's/(cannot take clock [^:]*|is not stored): .*(No space|no room).*/\1: no room/' | sort -u
}

# There is no room for packets, and the node knows.
no_room() {
	grep -q 'traces/.*No space left' collected && grep -q 'cannot take' sent
}

echo "== the collector's disk is full, and has room again"
serve $PWD/store
samples 1 500 | coeval capture --driver pipe --rate 1MHz --lines 8 --name n1 -o n1 >/dev/null
disk full 8m
collect full/all
wait_for test -s full/all/session.json
fill full/filler 1000000
coeval send n1 --server $url --name n1 >sent 2>&1 &
sender=$!
wait_for no_room
sleep 2
begins full/all n1 n1
idles $collector 3
idles $sender 1
rm full/filler
ends $sender
echo "status $?"
said sent
whole full/all n1 n1

echo "== full, and the collector is started again"
>collected
samples 2 500 | coeval capture --driver pipe --rate 1MHz --lines 8 --name n2 -o n2 >/dev/null
fill full/filler 1000000
coeval send n2 --server $url --name n2 >sent 2>&1 &
sender=$!
wait_for no_room
kill -INT $collector
ends $collector
echo "status $?"
said collected
>collected
fill full/more 0
collect full/all
ends $collector
echo "status $?"
said collected
rm full/filler full/more
collect full/all --until-ended
ends $sender
echo "status $?"
said sent
whole full/all n2 n2
ends $collector
coeval session verify full/all | tail -n 1
umount full

echo "== a node's disk is full"
>collected
disk full 2m
collect all --until-ended
samples 3 900 | timeout 60 coeval capture --driver pipe --rate 1MHz --lines 8 --name n3 -o full/n3 --server $url --flush 100ms >captured 2>&1
echo "status $?"
said captured
ends $collector
said collected
whole all n3 full/n3
coeval session verify all | tail -n 1
umount full
end_server

echo "== the server's disk is full, and it is started again with room"
>collected
disk full 20m
fill full/filler 1000000
serve $PWD/full/store
collect other --until-ended
wait_for sh -c 'ls full/store/jetstream/*/streams/*/meta.inf'
coeval send n1 --server $url --name n1 >sent 2>&1 &
sender=$!
wait_for grep -q 'takes no packets\|has no room' sent && echo "the node says so"
idles $sender 2
idles $collector 5
[ $(wc -l <collected) -lt 3 ] && echo "the collector does not say the same again and again"
begins other n1 n1
end_server
rm full/filler
serve $PWD/full/store
ends $sender
echo "status $?"
ends $collector
whole other n1 n1
coeval session verify other | tail -n 1
end_server
umount full
