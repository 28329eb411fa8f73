# SPDX-License-Identifier: MIT
# For tests/cli/perfetto*.sh.
# shellcheck shell=bash

# compare SESSION [FROM TO]
compare() {
	local status=0 epoch

	coeval export "$1" ${2+--from "$2" --until "$3"} --to perfetto -o trace.pftrace 2>/dev/null || status=$?
	protoc --decode=Trace -I "$SRC/tests/data" perfetto.proto <trace.pftrace >decoded || echo "protoc: $?"
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
