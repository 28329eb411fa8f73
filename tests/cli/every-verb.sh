# SPDX-License-Identifier: MIT
# room: cli
# Every verb on a session of every importer, of a simulation and of a capture, whole and with a stream cut: whatever it makes of what is
# not meant for it, it ends by itself, with a status of ours and messages of ours.
need python3
data=$SRC/tests/data

python3 - <<'END'
import struct, zipfile

with zipfile.ZipFile("logic.sr", "w") as z:
    z.writestr("version", "2")
    z.writestr("metadata", "[global]\nsigrok version=0.6.0\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\nsamplerate=1 MHz\n"
               "probe1=RX\nprobe2=TX\nunitsize=1\n")
    z.writestr("logic-1-1", bytes((i >> 3) & 3 for i in range(4000)))
open("samples.raw", "wb").write(bytes((i >> 4) & 255 for i in range(5000)))
rows = "".join(f"16000000{i // 10:02d}.{i % 10}000000,2,102,{1 + i % 7}.5,3.3\n" for i in range(100))
open("power.csv", "w").write("timestamp,observer_id,node_id,current_mA,voltage_V\n" + rows)
# RocketLogger: two channels, blocks of four samples
def channel(unit, scale, name):
    return struct.pack("<iiHH16s", unit, scale, 4, 0xFFFF, name)
head = b"%RLD" + struct.pack("<HHIIQH6sqqiHH", 3, 56 + 4 + 2 * 28, 4, 3, 12, 1000, bytes(6), 1500000000, 0, 4, 0, 2) + b"hey\0"
head += channel(2, -9, b"I1H") + channel(1, -8, b"V1")
def stamp(ns):
    return struct.pack("<qqqq", 1500000000 + ns // 10**9, ns % 10**9, ns // 10**9, ns % 10**9)
body = b"".join(stamp(k * 4014080) + b"".join(struct.pack("<ii", 1000 + i, 330000000) for i in range(4)) for k in range(3))
open("energy.rld", "wb").write(head + body)
# synchronisation, a software event, its time, an exception and a sample of the program counter; then junk
itm = bytes([0] * 5 + [0x80]) + b"".join(bytes([0x01, i & 127, 0x10, 0x0e, 0x0f, 0x10, 0x17, i & 255, 1, 0, 8, 0x20]) for i in range(200)) + bytes(range(0xa0, 0xb0))
open("itm.bin", "wb").write(itm)
frames = b"\xff\xff\xff\x7f"
for i in range(0, len(itm) - 14, 14):
    part = itm[i:i + 14]
    frame = bytearray([0x03]) + part[:14]  # stream 1
    low = 0
    for k in range(2, 15, 2):
        low |= (frame[k] & 1) << (k // 2)
        frame[k] &= 0xFE
    frames += bytes(frame) + bytes([low])
open("tpiu.bin", "wb").write(frames)
END
cat >world.yaml <<'END'
duration: 4s
clocks: [{ name: node, count: 2, rate: 1 MHz, oscillator: { offset_sd_ppm: 40 } }]
beacons: [{ period: 500ms, receiver: { normal_ns: 500 } }]
messages: [{ from: node1, to: node2, per_second: 5, latency_min_ns: 50000, latency_exp_ns: 20000 }]
END

make() { # SESSION COMMAND...: which has to succeed, or there is nothing to be tried
	local name=$1 status=0
	shift
	coeval "$@" >made 2>&1 || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || echo "$name cannot be made ($status): $(cat made)"
	[ -e "$name/session.json" ] || { echo "$name was not made"; exit 1; }
}
make csv import -o csv --rate 1M "$data/small.csv"
make vcd import -o vcd "$data/small.vcd"
make flocklab import -o flocklab "$data/gpiotracing.csv"
make power import -o power power.csv
make rld import -o rld energy.rld
make sr import -o sr logic.sr
make raw import -o raw --channels 8 --rate 1M samples.raw
make ctf import -o ctf "$data/sessions/foreign/traces/core"
make hosts import -o hosts "$SRC/examples/two-hosts"
make ett import -o ett "$SRC/examples/ett/selftest.img"
make itm import -o itm --format itm --rate 16M itm.bin
make tpiu import -o tpiu --format tpiu --rate 16M tpiu.bin
make swo import -o swo --format swo --rate 16M itm.bin
make uart import -o uart --channels 8 --rate 1M --uart D0:9600 samples.raw
make sim sim world.yaml -o sim
make capture capture -d file --device samples.raw --rate 10k --lines 8 --name a -o capture
make joined session join -o joined csv sim ctf
cp -r "$data/sessions/unfinished" unfinished
sessions="csv vcd flocklab power rld sr raw ctf hosts ett itm tpiu swo uart sim capture joined unfinished"

cat >rules.yaml <<'END'
- { name: short, state: D0 is high, at most: 1s }
- { name: both, never: D0 is high, while: D1 is high }
END
cat >map.yaml <<'END'
program: two
pins: [D0, D1]
codes: changes
start: a
points:
  - { name: a, code: [D0], next: [b] }
  - { name: b, code: [D1], next: [a] }
END

try() {
	local status=0
	timeout 60 coeval "$@" >out 2>err </dev/null || status=$?
	[ "$status" -le 4 ] || echo "coeval $*: status $status: $(tail -n 3 err)"
	grep -aqE 'Sanitizer|runtime error|\(null\)|Assertion' out err && echo "coeval $*: $(grep -aE 'Sanitizer|runtime error|\(null\)|Assertion' out err | head -n 3)"
	if [ "$status" -ne 0 ] && ! [ -s err ] && ! [ -s out ]; then
		echo "coeval $*: status $status without a word"
	fi
	grep -avE '^coeval|^with the rules of sync.json: |^usage: coeval|^Try `coeval|^  |^$|^[a-z_A-Z0-9.-]+(:[0-9]+:[0-9]+)?: ' err | head -n 2 | sed "s|^|coeval $*: says |"
}
every_verb() {
	local s=$1
	try info "$s"
	try info --json "$s"
	try show --bounds "$s"
	try show --json --ticks "$s"
	try session verify "$s"
	try sync "$s"
	try sync "$s" --beacon 500ms
	try sync "$s" --match lttng-tcp
	try sync "$s" --match tracer
	try sync "$s" --compare
	try sync "$s" --advise
	for line in D0 A LED1 RX; do
		try sync "$s" --pulse $line:rise:1s
		try sync "$s" --pulse $line:rise:1s --estimator kalman --json
		try sync "$s" --calibrate $line
		try decode "$s" --uart $line:9600
		try decode "$s" --swo $line
		try power "$s" --power volts --line $line
		try precision "$s" --between $line:rise..$line:fall
	done
	try decode "$s" --port 1 --metadata "$data/sessions/foreign/traces/core/metadata"
	try report "$s" -o report.html
	try check "$s" rules.yaml
	try check "$s" rules.yaml --json
	try calls "$s"
	try calls "$s" --json
	try calls "$s" --html page.html --svg flame.svg --folded folded.txt
	try task "$s"
	try task "$s" --json
	try flow "$s" map.yaml
	try flow "$s" map.yaml --between a..b --json
	try power "$s" --power volts --each 100ms --json
	try power "$s" --current current --volts 3.3
	try power "$s" --current I1H --volts 3.3 --json
	try precision "$s"
	try precision "$s" --gaps 3 --json
	for format in vcd fst csv ctf perfetto grace flocklab ett-text parquet arrow null; do
		rm -rf exported
		try export "$s" --to $format -o exported
	done
	try control act "$s" set D0 at 1
	rm -rf again
	try session join -o again "$s"
	try session verify again
	try info again
}
for s in $sessions; do
	every_verb "$s"
	for stream in "$s"/traces/*/*; do
		case $stream in */metadata) continue ;; esac
		[ ! -f "$stream" ] || truncate -s $(($(stat -c %s "$stream") * 2 / 3)) "$stream"
	done
	try info "$s"
	try show "$s"
	try sync "$s" --pulse D0:rise:1s
	try report "$s" -o report.html
	try session verify "$s"
	find "$s"/traces -mindepth 2 -maxdepth 2 -type f ! -name metadata -delete
	try info "$s"
	try show "$s"
	try sync "$s"
	try report "$s" -o report.html
	try decode "$s" --uart D0:9600
	try export "$s" --to vcd -o exported.vcd
	try calls "$s"
	try task "$s"
	try precision "$s"
	try session verify "$s"
done >failed
cat failed
[ ! -s failed ]
