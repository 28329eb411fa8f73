# SPDX-License-Identifier: MIT
# room: store
# Losses from a stored session are detected: by every reader, and in full by `session verify`.
need python3
sessions=$SRC/tests/data/sessions

run() {
	echo "\$ coeval ${*//"$SRC"/SRC}"
	coeval "$@" 2>&1 | head -n 12 | sed "s|$SRC|SRC|g"
	echo "-> ${PIPESTATUS[0]}"
}
# A copy of the session s to be damaged.
fresh() { rm -rf d; cp -r s d; }
verify() {
	local status=0
	coeval session verify d >out 2>&1 || status=$?
	sed '1,/^$/d' out
	echo "-> $status"
}

# Some packets of edges on one clock, and others' trace on another.
python3 -c '
import sys
sys.stdout.buffer.write(bytes(i & 255 for i in range(40000)))' >samples.raw
coeval import -o s --format raw --channels 8 --rate 10k --node desk samples.raw > /dev/null
coeval import -o s "$sessions/foreign/traces/core" > /dev/null
coeval sync s --pulse D7:rise:25600us --pulse D6:rise:12800us >/dev/null
run session verify s
coeval session verify s --json | python3 -c 'import json, sys; j = json.load(sys.stdin); print(j["ok"], [c["name"] for c in j["clocks"]], [f["name"] for f in j["files"]])'

echo "== a stream cut where a packet ends"
at=$(python3 -c '
import struct
print(struct.unpack("<Q", open("s/traces/desk/stream", "rb").read()[48:56])[0] // 8)')
fresh
truncate -s "$at" d/traces/desk/stream
coeval info d 2>&1 | grep -E 'warning|damaged|^  desk' | sed -E 's/  +/ /g; s/was cut here.*/was cut here/'
coeval show d 2>/dev/null | grep -c 'truncated'
coeval sync d --pulse D7:rise:25600us --pulse D6:rise:12800us >/dev/null 2>err; echo "sync -> $?, $(grep -c warning err) warning"
verify

echo "== a stream deleted"
fresh
rm d/traces/desk/stream
coeval info d 2>&1 | grep -E 'warning|damaged|^  desk' | sed -E 's/  +/ /g'
coeval decode d --uart D0:1200 --clock desk; echo "decode -> $?"
verify
fresh
rm d/traces/core/cpu1
coeval info d 2>&1 | grep -E 'warning|^  core'
verify

echo "== other files deleted"
for file in traces/desk/metadata traces/desk/index/stream.idx; do
	fresh
	rm d/$file
	coeval info d >/dev/null 2>err
	echo "info -> $?, $(cat err)"
	verify
done

echo "== packets swapped, repeated, taken out, of another trace; an index of another"
swap() {
	fresh
	python3 - "$@" <<'END'
import struct, sys
path = "d/traces/desk/stream"
bytes = open(path, "rb").read()
packets = []
while bytes:
    n = struct.unpack("<Q", bytes[48:56])[0] // 8
    packets.append(bytes[:n])
    bytes = bytes[n:]
open(path, "wb").write(b"".join(packets[int(i)] for i in sys.argv[1:] if int(i) < len(packets)))
END
	verify
}
swap 0 2 1 3 4 5 6 7 8
swap 0 1 1 2 3 4 5 6 7 8
swap 0 2 3 4 5 6 7 8
coeval import -o other --format raw --channels 8 --rate 10k --node desk samples.raw > /dev/null
fresh
cp other/traces/desk/stream d/traces/desk/stream
coeval show d >/dev/null; echo "show -> $?"
verify
fresh
python3 -c '
path = "d/traces/desk/index/stream.idx"
bytes = bytearray(open(path, "rb").read())
bytes[16 + 72 + 7] ^= 1
open(path, "wb").write(bytes)'
verify

echo "== facts that stand twice"
edit() { # of a JSON file, without its checksum: as one that was never there
	python3 - "$@" <<'END'
import json, sys
path, change = sys.argv[1:]
j = json.load(open(path))
del j["sha256"]
exec(change)
json.dump(j, open(path, "w"))
END
}
for change in 'j["clocks"][0]["rate_hz"] = 20000' 'j["clocks"][0]["resolution_ticks"] = 2' 'j["clocks"][0]["start_unix_ns"] = 10**18' \
	'j["clocks"][1]["uuid"] = "00000000-0000-0000-0000-000000000001"' 'j["clocks"][0]["clock_class"] = "tocks"'; do
	fresh
	edit d/session.json "$change"
	coeval info d >/dev/null; echo "info -> $?"
done
fresh
edit d/sync.json 'end = {"rate_ppb": 0.0, "drift_ppb": 0.0, "wander_ppb_s": 0.0}
j["clocks"][0]["maps"] = [{"epoch": 0, "rate_hz": 20000, "bound_kind": "proven", "before": end, "after": end, "knots": [[0, 0, 0, 0]]}]'
coeval info d >/dev/null; echo "info -> $?"
fresh
edit d/sync.json 'j["clocks"][0]["clock"] = "nobody"'
verify

echo "== versions to come"
fresh
edit d/session.json 'j["coeval_session"] = 2'
run info d
run session verify d
fresh
edit d/sync.json 'j["coeval_sync"] = 3'
run show d
verify
cp "$sessions/simulated/calibration.json" d/calibration.json
sed -i 's/"coeval_calibration": 1/"coeval_calibration": 2/' d/calibration.json
run sync d --pulse D7:rise:25600us
fresh
sed -i 's/tracer_major = 1/tracer_major = 2/' d/traces/desk/metadata
run show d

echo "== edited"
for file in session.json sync.json; do
	fresh
	sed -i 's/desk/disk/' d/$file
	run show d
	verify
done

echo "== a damaged clock map, one that is missing, and what an interrupted sync leaves"
coeval sim "$SRC/examples/worlds/nominal.yaml" -o m --duration 5m >/dev/null
coeval sync m >/dev/null
map=$(ls m/derived/*.knots | head -n 1)
python3 - "$map" <<'END'
import sys

bytes = bytearray(open(sys.argv[1], "rb").read())
bytes[4096 + 100] ^= 4
open(sys.argv[1], "wb").write(bytes)
END
named() { sed -E 's/[0-9a-f]{16}\.knots/MAP.knots/; s/[0-9]+ knots/N knots/; s/clock [0-9]+:/clock N:/'; }
coeval session verify m 2>&1 | sed '1,/^$/d' | named
coeval show m --from 100 --until 100.01 2>&1 >/dev/null | named
rm "$map"
{ coeval info m; echo "-> $?"; } 2>&1 | named
coeval sync m 2>&1 >/dev/null | named
cp "$map" m/derived/0123456789abcdef.knots
cp "$map" m/derived/new
cp "$map" m/derived/observations.12.new
cp "$map" m/derived/mine.txt
run session clean m
coeval session verify m | tail -n 1
[ -s "$map" ] && ls m/derived | grep -vc knots

echo "== no session"
run session verify nothing
run session verify samples.raw
run session verify "$sessions/foreign/traces/core"
run info "$sessions"
mkdir one
mv s one
run show one
run sync one
run session
run session vrify one/s
exit 0
