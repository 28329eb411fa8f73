# SPDX-License-Identifier: MIT
# room: capture
# An observer from start to end, with samples from files and pipes: what it stores, how it ends, how it resumes, how
# it is steered, what it refuses.
need python3

# A counter on eight lines at 10 kHz: edges on every tick of its lowest line, and every sample is distinct.
samples() {
	python3 -c '
import sys
first, n = int(sys.argv[1]), int(sys.argv[2])
sys.stdout.buffer.write(bytes(i >> 4 & 255 for i in range(first, first + n)))' "$1" "$2" 2>/dev/null
}
# In real time, for at most 15 s; ends when there is no reader. In the pipe live.N, which the capture is to read.
live() {
	mkfifo live.$1
	timeout 15 python3 -c '
import os, time
begin, sent = time.monotonic(), 0
try:
    while True:
        due = int((time.monotonic() - begin) * 10000)
        if due > sent:
            os.write(1, bytes(i >> 4 & 255 for i in range(sent, due)))
            sent = due
        time.sleep(0.01)
except BrokenPipeError:
    pass' >live.$1 &
}
run() {
	echo "\$ coeval $*"
	timeout 20 coeval "$@"
	local status=$?
	[ "$status" -eq 0 ] || echo "status $status"
}
# The same without times and counts that differ from run to run.
vague() { sed -E 's/[0-9]+\.[0-9]+ s/T s/; s/[0-9 ,]+ records?/N records/; s/"(seconds|edges)":[0-9.e-]+/"\1":N/g'; }
# Wait until a command succeeds, 10 s at the most.
until_true() {
	for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done
	echo "in vain: $*"
}
ask() { run control "$@" | vague; }
cap() { timeout 20 coeval capture --driver pipe --rate 10k --lines 8 "$@"; }

echo "== file and pipe"
samples 0 5000 >five.raw
run capture -d file --device five.raw --rate 10k --lines 8 --name a -o file
samples 0 5000 | run capture -d pipe --rate 10k --lines 8 --name a -o pipe
coeval show file >file.txt
coeval show pipe | cmp - file.txt && echo "the same timeline, $(grep -c edge file.txt) lines with edges"
samples 0 5000 | run capture -d pipe --rate 10k --lines 8 --duration 200ms --name a -o short
samples 0 5000 | run capture -d pipe --rate 10k --lines 8 --name a -o json --json | sed 's/"cpu_seconds":[0-9.]*/"cpu_seconds":N/'
run capture -d file --device five.raw --rate 10k --lines 16 --unit-size 2 --name a -o wide

echo "== SIGTERM ends it cleanly"
live 1
coeval capture -d pipe --rate 10k --lines 8 --name a -o term <live.1 >term.txt &
pid=$!
until_true test -s term/traces/a/stream
run session join term -o none
run capture -d file --device five.raw --rate 10k --lines 8 --name b -o term
kill $pid
wait $pid
echo "status $?"
vague <term.txt
ls term/capture
coeval info term --json | grep -o '"finished": *[a-z]*'

echo "== kill -9, and on with the same session"
live 2
coeval capture -d pipe --rate 10k --lines 8 --name a -o crash <live.2 >/dev/null 2>&1 &
pid=$!
until_true test -s crash/traces/a/stream
sleep 0.5
{ kill -9 $pid; wait $pid; } 2>/dev/null # the shell reports it in one or the other
coeval info crash >/dev/null 2>&1; echo "info: status $?"
samples 0 3000 | cap --name a -o crash | vague
coeval show crash >crash.txt; echo "show: status $?"
grep -o 'unfinished' crash.txt
coeval export crash --to csv -o crash.csv
grep -c ',slip,' crash.csv
samples 0 3000 | run capture -d pipe --rate 20k --lines 8 --name a -o crash
samples 0 3000 | run capture -d pipe --rate 10k --lines 7 --name a -o crash
samples 0 3000 | run capture -d pipe --rate 10k --lines 8 --names A,B,C,D,E,F,G,H --name a -o crash

echo "== without its anchor"
rm crash/capture/a.json
samples 0 3000 | cap --name a -o crash 2>&1 | vague

echo "== steered by its socket"
live 3
coeval capture -d pipe --rate 10k --lines 8 --name a -o steered --control s.sock --wait --metrics m.prom <live.3 2>&1 >steered.txt &
pid=$!
until_true test -S s.sock
ask s.sock status
ask s.sock sing
ask s.sock start soon
ask s.sock "$(printf '%0150d' 0)"
python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
s.connect("s.sock")
s.sendall(b"x" * 300)
print(s.recv(200).decode(), end="")'
ask s.sock prepare
samples 0 3000 | run capture -d pipe --rate 10k --lines 8 --name b -o other --control s.sock
ask s.sock start +0.2
until_true grep -q beacons_total m.prom
ask s.sock status
ask s.sock start
ask s.sock stop | sed 's/"state":"[a-z]*"/"state":S/'
wait $pid
echo "status $?"
vague <steered.txt
grep -c '^coeval_' m.prom
grep '^coeval_up' m.prom
test -e s.sock || echo "the socket is gone"
run control s.sock status

echo "== a dead observer's socket is replaced"
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("dead.sock")'
samples 0 3000 | run capture -d pipe --rate 10k --lines 8 --name a -o dead --control dead.sock

echo "== a start in the future"
before=$(date +%s%N)
samples 0 3000 | run capture -d pipe --rate 10k --lines 8 --name a -o later --start $(((before + 500000000) / 1000000000 + 1)) | sed 's/--start [0-9]*/--start T/'
[ $(($(date +%s%N) - before)) -gt 400000000 ] && echo "it waited"

echo "== refused"
run capture -d logic --rate 10k
run capture -d pipe
run capture -d pipe --rate 10k
run capture -d pipe --rate 10k --lines 8 --wait
run capture -d file --device none.raw --rate 10k --lines 8
samples 0 100 | run capture -d pipe --rate 10k --lines 8 --name a -o deaf --radio spidev9.9

echo "== joined"
samples 0 4000 | cap --name b -o b
samples 0 4000 | cap --name c -o c
run session join file b -o all | grep -v '^  '
run session join c -o all --link | grep -v '^  '
run session join short -o all | grep -v '^  '
coeval info all >/dev/null; echo "info: status $?"
ls all/traces
[ -L all/traces/c ] && echo "c is a link"

echo "== a full disk"
cat >full.sh <<'END'
mount -t tmpfs -o size=2m tmpfs full || exit 77
python3 -c '
import os
for i in range(3000):
    os.write(1, bytes(i & 255 for i in range(1000)))' 2>/dev/null | timeout 20 coeval capture -d pipe --rate 10k --lines 8 --name a -o full/s 2>&1
echo "status ${PIPESTATUS[1]}"
coeval show full/s >shown.txt
echo "show: status $?"
grep -o 'disk full' shown.txt
[ "$(wc -l <shown.txt)" -gt 100000 ] && echo "what was captured is there"
END
mkdir full
unshare -rm true 2>/dev/null && timeout 60 unshare -rm bash full.sh >full.txt 2>&1
if grep -qs 'status' full.txt; then
	sed -E 's/[0-9]+\.[0-9]+ s/T s/; s/[0-9 ,]+ records/N records/' full.txt
else
	echo "SKIP capture: no file system can be mounted here; run as root, or where users may have namespaces (sysctl user.max_user_namespaces)" >&3
	cat <<'END'
coeval: warning: a: no room left: full/s/traces/a: cannot write a packet: No space left on device; this stream ends here, with a gap. What was captured is kept
full/s: 1 clock, T sN records, 0 beacons, 1 gap
coeval: full/s: 1 of 1 clocks could not be written to the end
status 4
show: status 0
disk full
what was captured is there
END
fi
exit 0
