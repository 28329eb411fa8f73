# SPDX-License-Identifier: MIT
# room: firmware; full
# Programs that trace themselves and end in every possible way: their events are in the trace, or counted as lost.
need cc
need python3
t=$SRC/firmware/lib/tracer
cc -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wconversion -Werror -I"$SRC/tests/tracer" -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" -DTRACER_CONFIG='"linux/config.h"' \
	"$SRC/tests/tracer/program.c" "$t"/*.c "$t"/linux/*.c -pthread -o program || exit 1
trap 'kill $(jobs -p) 2>/dev/null || true; rm -f /dev/shm/coeval-test-$$*' EXIT

ended() { # the writer of a program that did not end by exit() needs a moment: no packet is there any more that is not whole
	local before=x now=

	while [ "$before" != "$now" ]; do
		before=$now
		sleep 0.2
		now=$(stat -c %s trace/stream)
	done
}

count() {
	coeval import -o s trace > /dev/null && coeval show s --json >s.json && python3 "$SRC/tests/tracer/count.py" s.json "$@"
	rm -rf s trace
}

for how in plain tsc kill _exit exec; do
	echo "== $how"
	(./program $how 5000 trace || true) 2>/dev/null
	[ $how = plain ] || [ $how = tsc ] || ended
	count 0:5000
done
echo "== threads"
./program threads 20000 trace
count 0:20000 1:20000 2:20000 3:20000
echo "== killed while four threads trace"
for _ in 1 2 3; do
	(./program threads-kill 100000000 trace || true) 2>/dev/null
	ended
	count 0:0
done
echo "== a signal handler"
./program signals 20 trace
coeval import -o s trace > /dev/null && coeval show s --json >s.json
grep -c '"who":100' s.json
rm -rf s trace
echo "== a child"
./program fork 20000 trace
ended
count 0:20000 1:20000
echo "== a program that keeps running: what it wrote is there after a second"
./program wait 10 trace &
for _ in $(seq 100); do
	[ ! -s trace/stream ] || break
	sleep 0.1
done
count 0:10
kill $!
wait $! 2>/dev/null

echo "== its writer is killed: the program does not notice"
./program slow 200000 trace &
while [ ! -s trace/stream ] && kill -0 $! 2>/dev/null; do
	sleep 0.01
done
killed=
while [ -z "$killed" ] && kill -0 $! 2>/dev/null; do
	for process in /proc/[0-9]*; do
		[ "$process/exe" -ef program ] && [ "$process" != /proc/$! ] && kill -9 "${process#/proc/}" &&
			killed=yes && echo killed
	done
done
wait $!
echo "exit status $?"
rm -rf trace

echo "== where no trace can be"
./program plain 10 nowhere/trace
echo "exit status $?"

ring=/dev/shm/coeval-test-$$
echo "== a ring in memory, which the capture finds after the program was killed"
(./program ring-kill 5000 $ring || true) 2>/dev/null
coeval capture --driver shm --device program=$ring --metadata $ring.metadata --duration 200ms -o s >/dev/null || exit 1
coeval show s --json >s.json && python3 "$SRC/tests/tracer/count.py" s.json 0:5000
rm -rf s
echo "== with a doorbell: a FIFO"
listening() { # the capture that was started
	for _ in $(seq 100); do
		[ ! -e s/session.json ] || break
		sleep 0.05
	done
	sleep 0.3
}
mkfifo bell
coeval capture --driver shm --device program=$ring --metadata $ring.metadata --bell bell --duration 2s -o s >/dev/null &
listening
./program ring 5000 $ring bell
wait $!
coeval info s | awk '$1 ~ /^program/ && /MHz/ { print $1, $6 }'
rm -rf s
echo "== a message queue"
queue=/coeval-test-$$
if grep -q mqueue /proc/filesystems; then
	coeval capture --driver shm --device program=$ring --metadata $ring.metadata --bell mq:$queue --duration 2s -o s >/dev/null &
	listening
	./program ring 5000 $ring mq:$queue
	wait $!
	coeval info s | awk '$1 ~ /^program/ && /MHz/ { print $1, $6 }'
	python3 -c 'import ctypes, sys; ctypes.CDLL(None).mq_unlink(sys.argv[1].encode())' $queue
fi
echo "== the newest only"
./program ring-newest 100000 $ring
coeval capture --driver shm --device program=$ring --metadata $ring.metadata --duration 200ms -o n >/dev/null || exit 1
coeval show n | tail -n 1 | sed 's/.*number/number/'
