# SPDX-License-Identifier: MIT
# room: capture
# Captures of rings that are killed, that find the disk full, and whose core restarts.
need cc
need python3
t=$SRC/firmware/lib/tracer
cc -std=gnu11 -O2 -I"$SRC/tests/tracer" -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" -DTRACER_CONFIG='"linux/config.h"' \
	"$SRC/tests/tracer/program.c" "$t"/*.c "$t"/linux/*.c -pthread -o program || exit 1
ring=/dev/shm/coeval-rings-$$
trap 'kill $(jobs -p) 2>/dev/null || true; umount full 2>/dev/null || true; rm -f $ring $ring.metadata' EXIT

capture() { # session, more
	local session=$1

	shift
	coeval capture --driver shm --device program=$ring --metadata $ring.metadata -o "$session" "$@"
}

clocks() {
	coeval info "$1" | awk '$1 ~ /^program/ && /MHz/ { print $1 }'
}

echo "== killed, and resumed: one clock, and nothing is missing"
./program ring-slow 200000 $ring &
program=$!
for _ in 1 2 3; do
	(exec coeval capture --driver shm --device program=$ring --metadata $ring.metadata -o s >/dev/null 2>&1) &
	capture=$!
	sleep 0.4
	kill -9 $capture
	wait $capture 2>/dev/null
done 2>/dev/null
wait $program
capture s --duration 300ms >/dev/null
clocks s
coeval show s --json >s.json && python3 "$SRC/tests/tracer/count.py" s.json 0:200000

echo "== ended in the middle of a packet, and resumed"
rm -f $ring $ring.metadata
./program ring-slow 30000 $ring &
until [ -e $ring ]; do sleep 0.01; done
sleep 0.1
capture e --duration 150ms >/dev/null 2>&1 # on a busy machine there may be nothing yet
capture e --duration 150ms >/dev/null 2>&1
wait $!
capture e --duration 300ms >/dev/null 2>&1 # there may be nothing left
clocks e
coeval show e --json >e.json && python3 "$SRC/tests/tracer/count.py" e.json 0:30000

echo "== the core restarted while there was no reader"
./program ring 1000 $ring
capture s --duration 300ms 2>&1 | grep -o 'the epoch program#2'
clocks s

echo "== a full disk: what was captured is kept, and its end is missing"
mkdir full
mount -t tmpfs -o size=1m tmpfs full 2>/dev/null || { echo "a disk cannot be filled here"; exit 0; }
./program ring-slow 100000 $ring &
sleep 0.2
capture full/s --duration 3s >/dev/null 2>log
echo "exit status $?"
grep -c 'no room left' log
coeval show full/s >shown
tail -n 1 shown | grep -o 'unfinished'
wait
