# SPDX-License-Identifier: MIT
# room: firmware; full
# The image for floods boots on an emulated STM32F405, which has a timer and a UART and no radio: it says so every second. The images
# for real boards build as well.
need qemu-system-arm
need arm-none-eabi-gcc
build() {
	"$SRC/firmware/build" glossy "$@" >build.log 2>&1 || { cat build.log; exit 1; }
}
build fw-blackpill blackpill
build fw-nucleo nucleo
build fw-relay emulated
ID=7 INITIATOR=1 AVERAGE=16 ALPHA_PM=1000 build fw-initiator emulated
EARLY_MS=5 build fw-late emulated

boot() {
	: >out
	timeout 60 qemu-system-arm -M netduinoplus2 -kernel "$1" -nographic -monitor none \
		-serial null -serial stdio </dev/null >out 2>qemu.log &
	qemu=$!
}
halt() {
	kill "$qemu" 2>/dev/null || true
	wait "$qemu" 2>/dev/null || true
}
trap halt EXIT

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

boot fw-relay/glossy.elf
see 'coeval glossy node'
see '^glossy relay id 1 following 0 hops 0 floods 0 missed 0 .* pps 0 no_pps 0 .* alpha_pm 100 average 8 .* lost 0 radio absent absent [1-9]'
# and it continues
see 'radio absent absent [3-9][0-9] '
halt

boot fw-initiator/glossy.elf
see '^glossy initiator id 7 .* alpha_pm 1000 average 16 '
halt

boot fw-late/glossy.elf
see '^error: the pulse is not early enough for a flood'
