# SPDX-License-Identifier: MIT
# room: table
# Which files there are, what they begin and end with, which tables can be chosen, and what is said where that cannot be.
need python3
source "$SRC/tests/tables.bash"

"$build/tests/kinds" kinds
coeval export kinds --to parquet -o tables 2>/dev/null || echo "-> $?"
ls tables
python3 - <<'END'
import glob

for path in sorted(glob.glob("tables/*")):
    data = open(path, "rb").read()
    footer = data[-8 - int.from_bytes(data[-8:-4], "little"):-8]
    assert data[:4] == data[-4:] == b"PAR1" and b"coeval.session" in footer and b"time_ns" in footer or b"_ns" in footer, path
END

# One table, also an empty one; a stream has its schema in any case.
coeval export "$SRC/tests/data/sessions/foreign" --to parquet --table spans -o one && ls one
coeval export "$SRC/tests/data/sessions/foreign" --to arrow | python3 -c '
import sys

def message(data, at):
    mark, length = data[at:at + 4], int.from_bytes(data[at + 4:at + 8], "little")
    assert mark == b"\xff\xff\xff\xff" and length % 8 == 0
    return at + 8 + length

data = sys.stdin.buffer.read()
end = message(data, message(data, 0))
print("a schema alone:", end == len(data), b"coeval.gaps" in data)'
for table in edges events event_mixed "event_a/b:c" spans marks gaps clocks; do
	coeval export kinds --to arrow --table "$table" -o "$(basename "$table").arrows" 2>/dev/null || echo "$table -> $?"
done
find . -name '*.arrows' -size -1k

# A reader that has enough ends it; what is wrong is told.
coeval export kinds --to arrow 2>/dev/null | head -c 100 | wc -c
coeval export kinds --to arrow --table nothing; echo "-> $?"
coeval export kinds --to arrow --table event_nothing; echo "-> $?"
coeval export kinds --to parquet --table calls -o none; echo "-> $?"
coeval export kinds --to vcd --table edges; echo "-> $?"
coeval export kinds --to parquet; echo "-> $?"
[ -e none ] && echo "none was left behind"
if [ -e /dev/full ]; then
	coeval export kinds --to arrow -o /dev/full 2>&1 | grep -o 'No space left on device'
fi
coeval help export arrow
