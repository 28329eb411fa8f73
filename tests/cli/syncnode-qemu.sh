# SPDX-License-Identifier: MIT
# room: firmware; full
# The sync node's image boots on an emulated STM32F405, which has a timer and a UART and no radio: it says so every second,
# keeps its schedule, and obeys commands.
need qemu-system-arm
need arm-none-eabi-gcc
"$SRC/firmware/build" syncnode fw emulated >build.log 2>&1 || { cat build.log; exit 1; }
# the images for real boards build as well
"$SRC/firmware/build" syncnode fw-blackpill blackpill >build.log 2>&1 || { cat build.log; exit 1; }
"$SRC/firmware/build" syncnode fw-nucleo nucleo >build.log 2>&1 || { cat build.log; exit 1; }

# A node of several keeps to its slot from the first beacon on.
ID=7 SLOT=3/4 INTERVAL_MS=2000 "$SRC/firmware/build" syncnode fw-site emulated >build.log 2>&1 || { cat build.log; exit 1; }

boot() {
	: >out
	timeout 60 qemu-system-arm -M netduinoplus2 -kernel "$1" -nographic -monitor none \
		-serial null -serial stdio <in >out 2>qemu.log &
	qemu=$!
}
halt() {
	kill "$qemu" 2>/dev/null || true
	wait "$qemu" 2>/dev/null || true
}
trap halt EXIT
mkfifo in
exec 9<>in

# Wait for a line that matches, up to 20 s.
see() {
	for _ in $(seq 200); do
		if grep -q -e "$1" out; then
			echo "seen: $1"
			return 0
		fi
		sleep 0.1
	done
	echo "not seen: $1"
	cat out qemu.log
	exit 1
}

boot fw-site/syncnode.elf
see ' silent [1-9][0-9]* why no-pulse .* id 7 .* interval_ms 2000 slot 3/4 '
halt

boot fw/syncnode.elf
see 'coeval sync node'
see 'seq [1-9][0-9]* sent 0 missed [1-9][0-9]* silent 0 why - radio absent .* clock free .* id 1 .* interval_ms 1000 slot 1/1'
echo 'id 3' >&9
see '^ok'
see 'id 3 payload coeval interval_ms 1000 '
echo 'interval 500ms' >&9
see 'id 3 payload coeval interval_ms 500 '
echo 'slot 1/40' >&9
see '^error: beacons of neighbouring slots would collide'
echo 'slot 2/4' >&9
see 'why no-pulse .* slot 2/4'
echo 'utc 1700000000' >&9
see '^error: no pulse to tie it to'
echo 'hello' >&9
see '^error: not understood'
see 'wrong 1 lost 0'

see '^seq 1[0-9] '

# The schedule went on: what was due is what was missed and kept silent.
tr -d '\r' <out | awk '/^seq/ { n++; if ($2 != $4 + $6 + $8 || $2 < last) bad = 1; last = $2 }
	END { print (n > 5 && last > 5 && !bad) ? "the schedule holds" : "the schedule does not hold" }'
