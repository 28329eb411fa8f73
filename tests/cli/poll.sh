# SPDX-License-Identifier: MIT
# room: capture
# A capture of memory that another process writes, and its report on itself. Load on the machine must not matter.
need python3
head -c 4096 /dev/zero >port
cat >writer.py <<'P'
import mmap, os, time

fd = os.open("port", os.O_RDWR)
port = mmap.mmap(fd, 4096)
k = 0
while not os.path.exists("stop"):
    k += 1
    port[8] = k & 1
    time.sleep(0.002)
P
python3 writer.py &
trap 'touch stop; wait' EXIT
coeval capture --driver poll --device shm:port@8,width=1,mask=3,gap=200us --names LED,X --name desk --duration 1 -o s 2>notes >made ||
	{ cat notes; exit 1; }
coeval info s | grep -q "desk: LED X" || { echo "its lines are not named"; exit 1; }
coeval show s 2>&1 | grep -q "out of order" && { echo "records are out of order"; exit 1; }
coeval precision s >text
grep -q "no pulse of .* is missed" text || { cat text; exit 1; }
grep -q "^  tsc " text || { echo "the machine is not described"; exit 1; }
coeval precision s --json >loop.json
coeval precision s --between LED:rise..LED:fall --across --json >between.json
python3 - <<'P'
import json
import os

c = json.load(open("loop.json"))["clocks"][0]
assert c["loop"] and c["steps"] > 1000, c["steps"]
assert sum(b[2] for b in c["step_bins"]) == c["steps"]
if len(os.sched_getaffinity(0)) > 1:
    assert 0 <= c["counter"]["apart_ns"] <= c["counter"]["limit_ns"], c["counter"]
    assert any(f["name"] == "counters" for f in c["facts"]), c["facts"]
assert sum(b[3] for b in c["step_bins"]) == c["ticks"]
assert c["ticks"] / c["rate_hz"] >= 0.999, c["ticks"] / c["rate_hz"]
assert len(c["gap_list"]) == c["gaps"]
levels = c["levels"]
assert [l["assurance"] for l in levels][-1] == 1
for a, b in zip(levels, levels[1:]):
    assert a["tau_ns"] <= b["tau_ns"] and a["bracket_ns"] <= b["bracket_ns"]
for l in levels:
    assert l["of_time"] >= l["assurance"] - 1e-9
assert levels[-1]["tau_ns"] == c["tau_max_ns"] and levels[-1]["bracket_ns"] == c["bracket_max_ns"]
d = json.load(open("between.json"))["durations"]
assert d["times"] >= 1, d
# The writer sleeps for 2 ms at least.
assert d["worst"]["high_ns"] >= 2000000, d["worst"]
P

# Its changes are edges, each with its bracket; a loop that is stopped for long tells so by a gap, and knows its lines behind it.
coeval sync s >synced
coeval show s --select edge --json >edges.json
coeval export s --to vcd -o s.vcd
python3 - <<'P'
import json

edges = [json.loads(l) for l in open("edges.json")]
seen = [e["lines"]["LED"] for e in edges if "LED" in e["lines"]]
assert len(seen) > 50, len(seen)
assert all(a != b for a, b in zip(seen[1:], seen[2:])), "an edge that is none"
assert all(e["bound_ns"] >= 2 for e in edges[1:])
vcd = [l for l in open("s.vcd") if l[0] in "01"]
assert len(vcd) >= len(seen), (len(vcd), len(seen))
P

# A stopped capture still describes its loop.
coeval capture --driver poll --device shm:port@8,width=1 --name desk -o told 2>notes >made &
capture=$!
until [ -e told/capture/desk.json ]; do
	kill -0 $capture || { cat notes; exit 1; }
	sleep 0.05
done
kill -TERM $capture
wait $capture || { cat notes; exit 1; }
coeval precision told >text
grep -q "no pulse of .* is missed" text || { cat text; exit 1; }

# One that is killed has what it saw, and what machine it was.
coeval capture --driver poll --device shm:port@8,width=1,gap=50us --name desk -o killed 2>notes >made &
capture=$!
until [ -e killed/capture/desk.json ] && coeval precision killed 2>/dev/null | grep -q "^  tsc "; do
	kill -0 $capture || { cat notes; exit 1; }
	sleep 0.1
done
kill -KILL $capture
wait $capture 2>/dev/null || true
coeval precision killed >text
grep -q "it tells of no loop (a capture that was cut off" text || { cat text; exit 1; }

# One that never looks often enough is one gap, in parts, up to its end.
coeval capture --driver poll --device shm:port@8,width=1,gap=1ns --name desk --duration 0.5 -o coarse 2>notes >made ||
	{ cat notes; exit 1; }
coeval precision coarse --json >loop.json 2>notes
python3 - <<'P'
import json

c = json.load(open("loop.json"))["clocks"][0]
gaps = c["gap_list"]
assert len(gaps) >= 2, gaps
end = gaps[0]["end_tick"] - gaps[0]["ns"] * c["rate_hz"] / 1e9
for g in gaps:
    begin = g["end_tick"] - g["ns"] * c["rate_hz"] / 1e9
    # they share a step; ns are rounded up
    assert begin <= end + 3, (begin, end)
    end = g["end_tick"]
# Of the last one the capture need not have seen the end.
assert end >= 0.25 * c["rate_hz"], end
P
