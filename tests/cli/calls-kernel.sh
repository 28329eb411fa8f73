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

echo "== over two hosts: an ssh that logs in, and the 40 ms that a delayed acknowledgement takes"
hosts="$SRC/../shared/data/ctf/synctraces"
[ -d "$hosts" ] || skip "../shared/data/ctf is not there"
coeval import -o hosts "$hosts/scp_src" "$hosts/scp_dest" >/dev/null 2>&1
coeval sync hosts --match lttng-tcp 2>/dev/null | grep -c good
coeval calls hosts --path ssh --top 16 2>/dev/null | sed -n '/^critical/,/more steps/p'
coeval calls hosts --path ssh --json 2>/dev/null | python3 -c '
import json, sys
p = json.load(sys.stdin)["path"]
at = p["from_ns"]
for s in p["steps"]:
    assert s["from_ns"] == at, (s, at)
    at = s["to_ns"]
assert at == p["to_ns"]
crossing = [s for s in p["steps"] if s["kind"] == "message"]
print("each instant once;", len(crossing), "crossings, each with a bound:", all(s["bound_ns"] > 0 for s in crossing),
      "each longer than nothing:", all(s["to_ns"] - s["from_ns"] > 0 for s in crossing))'
