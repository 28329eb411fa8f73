# SPDX-License-Identifier: MIT
# For tests/cli/perfetto*.sh.
# shellcheck shell=bash

# The packets of a trace whose packets are all compressed.
expand() {
	python3 -c '
import sys, zlib

def varint(i):
    v = shift = 0
    while True:
        v |= (data[i] & 127) << shift
        shift, i = shift + 7, i + 1
        if data[i - 1] < 128:
            return v, i

data, at = sys.stdin.buffer.read(), 0
while at < len(data):
    (packet, at), (compressed, field) = varint(at), varint(varint(varint(at)[1])[1])
    (size, begin), (n, at) = varint(at), varint(field)
    if packet != 1 << 3 | 2 or compressed != 50 << 3 | 2 or begin + size != at + n:
        sys.exit("a packet that is not compressed")
    sys.stdout.buffer.write(zlib.decompress(data[at:at + n]))
    at += n'
}

# compare SESSION [FROM TO]
compare() {
	local status=0 epoch

	coeval export "$1" ${2+--from "$2" --until "$3"} --to perfetto -o trace.pftrace 2>/dev/null || status=$?
	protoc --decode=Trace -I "$SRC/tests/data" perfetto.proto < <(expand <trace.pftrace) >decoded || echo "protoc: $?"
	coeval show "$1" ${2+--from "$2" --until "$3"} --json >shown 2>/dev/null
	epoch=$(coeval info --json "$1" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["epoch_unix_ns"])')
	printf '%s: %s: ' "$1" $status
	python3 "$SRC/tests/compare_perfetto.py" decoded shown "$epoch" || echo "they differ"
}

# tracks NODE: tracks of it, with their parents
tracks() {
	python3 - "$1" <<'END'
import re, sys
text = open("decoded", encoding="utf-8").read()
names = {}
for track in re.findall(r"^  track \{\n(.*?)^  \}", text, re.M | re.S):
    fields = dict(re.findall(r"^    (\w+): (.*)$", track, re.M))
    names[fields["uuid"]] = names.get(fields.get("parent"), "") + "/" + fields["name"].strip('"')
print(*sorted(n for n in names.values() if n.startswith("/" + sys.argv[1])), sep="\n")
END
}
