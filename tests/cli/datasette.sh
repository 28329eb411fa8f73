# SPDX-License-Identifier: MIT
# room: sql; full
# Datasette opens the exported database, and shows a view's rows and what it filters.
source "$SRC/tests/python.bash"
wheels "datasette<1" "setuptools<80"
coeval import -o s "$SRC/examples/two-analyzers/left.vcd" "$SRC/examples/two-analyzers/right.vcd" --start 2026-03-01T09:30:00+-200ms >/dev/null
coeval sync s --pulse PPS:rise:1s >/dev/null
coeval export s --to sqlite -o s.db
get() { "$python" -m datasette s.db --get "$1" 2>err || tail -n 3 err; }
get "/s.json" | python3 -c '
import json, sys
database = json.load(sys.stdin)
print(sorted(v["name"] if isinstance(v, dict) else v for v in database["views"]))'
get "/s/edges.json?_size=3&_shape=objects&line=left.PPS" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["time_ns"], row["bound_ns"], row["clock"], row["line"], row["level"], row["time"] > 1.77e9)'
coeval sql s "SELECT count(*) FROM edges WHERE line = 'left.PPS'" --csv | tail -n 1
get "/s.json?sql=select+count(*)+as+n+from+edges+where+line='left.PPS'&_shape=array"
echo
