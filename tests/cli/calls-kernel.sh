# SPDX-License-Identifier: MIT
# room: analysis
# Who woke whom in a real trace of Linux 3.10, against a reading of babeltrace2's text by a script that knows nothing of ours.
need python3
need babeltrace2
given="$SRC/../shared/data/traces2/kernel/bug446190.tar.xz"
[ -f "$given" ] || skip "../shared/data is not there"
tar xf "$given"
babeltrace2 bug446190 >text.txt
coeval sql bug446190 --json "select * from waits" >waits.json
python3 "$SRC/tests/calls/linux_oracle.py" text.txt waits.json
echo "== what a program waited for whose trace ended in \"blocked\" before"
coeval calls bug446190 --path epoll_wait --top 8 2>&1 | sed -n '/^critical/,/more steps/p'
coeval calls bug446190 --json --path epoll_wait | python3 -c '
import json, sys
p = json.load(sys.stdin)["path"]
blocked = sum(s["to_ns"] - s["from_ns"] for s in p["steps"] if s["kind"] == "blocked" and "by" not in s)
print("blocked, not known on what:", f"{100 * blocked / (p['\''to_ns'\''] - p['\''from_ns'\'']):.1f} %")'
