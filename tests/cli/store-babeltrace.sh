# SPDX-License-Identifier: MIT
# room: store; full
# Stored and exported traces are CTF that babeltrace2 reads without a warning.
need babeltrace2
need python3

status=0
differ() {
	echo "$1"
	status=1
}

# read_all TRACE...: lines of babeltrace2, which must have nothing else to say
read_all() {
	local got=0

	babeltrace2 --clock-cycles --no-delta "$@" >bt.out 2>bt.err || got=$?
	[ "$got" -eq 0 ] || differ "babeltrace2 $*: exit status $got"
	[ ! -s bt.err ] || { differ "babeltrace2 $* says:"; cat bt.err; }
}

# 200000 samples of two lines at 8 MHz, enough edges for several packets; long silence in between
python3 - >capture.bin <<'PYTHON'
import random
import sys
random.seed(5)
out, levels = bytearray(), 0
for i in range(40000):
    levels ^= random.choice((1, 2, 3))
    out += bytes([levels]) * random.choice((1, 2, 3, 9))
out += bytes([levels]) * 3000000 + bytes([levels ^ 1])
sys.stdout.buffer.write(out)
PYTHON
coeval import -o s --format raw --rate 8M --channels 2 --node desk capture.bin >import.out 2>&1 ||
	{ differ "import failed"; cat import.out; }

coeval show --ticks --json s >show.jsonl || differ "show failed"
read_all s/traces/*
sed -n 's/^\[0*\([0-9][0-9]*\)\] .* \(edge\): .*/\2 \1/p' bt.out >theirs
python3 - <<'PYTHON' >ours || differ "show --json could not be read"
import json
for line in open('show.jsonl'):
    r = json.loads(line)
    if r['name'] == 'edge':  # levels are restated in every packet, and shown once
        print(r['name'], r['tick'])
PYTHON
[ "$(wc -l <ours)" -gt 30000 ] || differ "only $(wc -l <ours) edges"
cmp ours theirs || differ "edges or their ticks differ"

coeval export s --to ctf -o exported >export.out 2>&1 || { differ "export failed"; cat export.out; }
read_all exported
shown=$(coeval show s | wc -l)
[ "$shown" -eq "$(wc -l <bt.out)" ] || differ "$shown events shown, $(wc -l <bt.out) exported"

exit $status
