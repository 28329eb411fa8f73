# SPDX-License-Identifier: MIT
# room: gateware; full
# The whole way of a TraceLab observer: verilated gateware, its SPI and UART, driver, session, timeline. Simulated.
need verilator
need c++
need flock
mkdir -p "$SRC/build/gateware"
flags="-O2 -D_GNU_SOURCE -Wall -Wextra -Werror -I$SRC/tests -I$SRC/gateware/tb"
if ! { flock "$SRC/build/gateware" make -s -C "$SRC/gateware" "../build/gateware/libtracelab_sim.a" >make.log 2>&1 &&
	cc -std=gnu11 $flags -c "$SRC/tests/tracelab_gateware.c" -o device.o >>make.log 2>&1 &&
	c++ device.o "$SRC/build/gateware/libtracelab_sim.a" -lpthread -o device >>make.log 2>&1; }; then
	cat make.log
	exit 1
fi
until_true() {
	for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done
	echo "in vain: $*"
}
observe() {
	rm -f spi tty
	./device spi tty &
	until_true test -S spi
	until_true test -e tty
	timeout 60 coeval capture --driver tracelab --device spi,tty --name obs "$@" || echo "status $?"
	wait
}
# Edges of T1 and how far they are apart: it toggles every 500 us of the observer's clock.
apart() {
	coeval show "$1" --select edge | grep 'T1 =' | tr -d '[]' | awk '
		NR > 1 { d = sprintf("%.0f", ($1 - last) * 1e9); n[d]++ } { last = $1 }
		END { for (d in n) print d " ns" (n[d] > 30 ? ", many times" : ", " n[d] " times") }'
}

echo "== fine mode"
observe -o fine --duration 50ms --power 10k | sed -E 's/[0-9]+ records/N records/'
apart fine
coeval show fine | grep -c 'power =' | awk '{ print ($1 > 400 && $1 < 520 ? "about 500 samples" : $1) }'
coeval show fine | grep 'power =' | awk -F'= ' '{ v = $2 + 0; if (v < last || v > last + 1 && last) bad++; last = v } END { print bad + 0 " out of order" }'

echo "== actuation"
observe -o act --duration 2s --control ctl >act.txt &
until_true test -e act/capture/control
# one after the other is done: the simulated observer is many times slower than the clock that gives its "now"
for order in "set ACT1" "clear ACT1" "pulse ACT2:1ms"; do
	coeval control act act $order at +20ms | sed -E 's/[0-9.]+ s/T s/g'
done
coeval control ctl stop >/dev/null
wait
coeval show act --select edge | grep -oE 'ACT[0-9] = [01]'
coeval show act --select acted | wc -l

echo "== paper mode"
observe -o paper --duration 30ms --mode paper | sed -E 's/[0-9]+ records/N records/'
apart paper
