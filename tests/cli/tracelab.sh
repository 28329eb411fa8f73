# SPDX-License-Identifier: MIT
# room: capture
# A TraceLab observer from its pins to the timeline, simulated: SPI behind a socket, the UART behind a pseudo-terminal.
# What it stores, actuation in time and too late, losses, a stuck link, refusals, and its bytes from a file.
need_pty
device=$(dirname "$(command -v coeval)")/tests/tracelab_device
[ -x "$device" ] || skip "tracelab_device is not built"

until_true() {
	for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done
	echo "in vain: $*"
}
observe() {
	rm -f spi tty
	"$device" spi tty "${spill[@]}" &
	until_true test -S spi
	until_true test -e tty
	timeout 30 coeval capture --driver tracelab --device spi,tty --name obs "$@"
	local status=$?
	[ "$status" -eq 0 ] || echo "status $status"
	wait
}
run() { timeout 20 coeval "$@" || echo "status $?"; }
refused() {
	timeout 20 coeval "$@" 2>&1 | sed '/^usage/d'
	echo "status ${PIPESTATUS[0]}"
}
vague() { sed -E 's/[0-9 ,]+ records/N records/; s/[0-9]+\.[0-9]+ s/T s/g'; }
edges() { coeval show "$1" --select edge | grep -c "$2"; }

echo "== captured"
spill=(--spill bytes.spi)
observe -o fine --duration 1500ms --power 1k | vague
coeval show fine --select edge | sed -n '1,3p;$p'
echo "$(edges fine 'T1 = 1') times up, $(edges fine 'PPS = 1') PPS"
coeval show fine | grep -c pulse
coeval show fine | grep sample | tail -n +11 | head -2 | sed -E 's/0\.[0-9]+\]/T]/'

echo "== the same from its bytes"
coeval capture --driver tracelab --device bytes.spi --power 1k --name obs -o file | vague
for s in fine file; do coeval show $s --select edge --until 1.4 >$s.txt; done
cmp fine.txt file.txt && echo "the same $(wc -l <file.txt) lines with edges"
"$device" --file 3 10 >whole.spi
{ head -c 30001 whole.spi; tail -c 60000 whole.spi; } >cut.spi
run capture --driver tracelab --device cut.spi --name obs -o cut
coeval show cut | grep gap
cat whole.spi whole.spi >twice.spi
run capture --driver tracelab --device twice.spi --name obs -o twice
coeval show twice | grep gap
coeval info twice | grep "obs  *100 MHz"
head -c 100000 /dev/zero >zero.spi
refused capture --driver tracelab --device zero.spi --name obs -o zero

echo "== actuation"
spill=()
observe -o act --duration 20s --control ctl >act.txt &
until_true test -e act/capture/control
coeval control act act set ACT1 at 2.8s clear ACT1 at 2.81s pulse ACT3:2ms at 2.9s
coeval control act act --json pulse ACT2 at 5.2s | sed -E 's/(5\.20[01]0000)[0-9]+/\1XX/g'
refused control act --no-wait act pulse ACT1:10ms at 60s set ACT2 at 60.005s
refused control act --no-wait act set ACT2 at 60.01s
refused control act act set ACT1 at 1ms | sed -E 's/now is.*/now is .../'
refused control act act set PPS at +1s
refused control act act set ACT1 at 8000000s
refused control act act set "ACT1 x" at +1s
refused control act act set ACT1 at soon
refused control act ctl pulse ACT1:0s at +1s
refused control act act set ACT1 +1s
coeval control ctl stop >/dev/null
wait
vague <act.txt
test -e act/capture/control || echo "the socket is gone"
coeval show act --select edge | grep ACT
coeval show act | grep acted | sed -E 's/time = [0-9]+/time = N/'

echo "== more than there is room for"
spill=(--burst 600000)
observe -o burst --duration 1500ms >/dev/null
coeval show burst | grep -o 'why = [a-z]*' | sort -u
# twice 600,000 edges of T2, less the one at 0; T1's and the PPS' beside them; the state at the start
coeval info burst --json | grep -oE '"(lost|edge)":[0-9]+' | cut -d: -f2 | awk '{ sum += $1 } END { print "stored and lost: " sum }'

echo "== paper mode"
spill=()
observe -o paper --duration 500ms --mode paper --mask T1 | vague
coeval show paper --select edge | sed -n '1,4p'

echo "== two observers on the time of the PPS"
for observer in a:12 b:-31; do
	"$device" --file 40 ${observer#*:} >${observer%:*}.spi
	coeval capture --driver tracelab --device ${observer%:*}.spi --name ${observer%:*} -o s${observer%:*}
done
coeval session join sa sb -o both | head -n 1
coeval sync both --pulse PPS:rise:1s
coeval show both --select edge | grep 'PPS = 1' | tr -d '[]' | awk '
	$2 == "a" { a[++n] = $1 } $2 == "b" { b[++m] = $1 }
	END { for (i = 1; i <= n; i++) { # of the second that each took for its first nothing is known here
		d = a[i] - b[i]; d -= int(d + (d < 0 ? -0.5 : 0.5)); if (d > 22e-9 || d < -22e-9) far++ }
	      print n " and " m " pulses, " far + 0 " of them further apart than 22 ns" }'

echo "== an observer that is gone"
rm -f spi tty
"$device" spi tty --spill gone.spi --gone 1.5 &
until_true test -S spi
until_true test -e tty
timeout 20 coeval capture --driver tracelab --device spi,tty --name obs -o gone --power 1k >/dev/null 2>&1
echo "status $?"
wait
coeval capture --driver tracelab --device gone.spi --power 1k --name obs -o kept >/dev/null
for s in gone kept; do coeval show $s | grep power | tail -1 >$s.txt; done
cmp gone.txt kept.txt && echo "kept to its last reading"

echo "== a link that is stuck"
spill=(--stuck)
observe -o stuck --duration 1200ms --control stuck.sock 2>&1 >/dev/null &
until_true coeval control stuck.sock status
sleep 1.5
coeval control stuck.sock stop >/dev/null
wait

echo "== refused"
refused capture --driver tracelab -o none
refused capture --driver tracelab --device spidev0.0 -o none
refused capture --driver tracelab --device nowhere,/dev/null -o none
refused capture --driver tracelab --device bytes.spi --mask T9 -o none
refused capture --driver tracelab --device bytes.spi --mode gps -o none
refused capture --driver tracelab --device whole.spi --mode paper -o wrong
refused capture --driver tracelab --device whole.spi --names A,B,A -o twin
refused capture --driver tracelab --device bytes.spi --power 100k -o none
refused capture --driver tracelab --device bytes.spi --rate 1k -o none
refused capture --driver file --device bytes.spi --rate 1k --lines 8 --power 1k -o none
refused control act none set ACT1 at +1s
