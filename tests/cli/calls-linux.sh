# SPDX-License-Identifier: MIT
# room: analysis
# Who woke whom in simulated Linux hosts of which that is known; none that is called sure is wrong, whatever the trace lacks.
need python3

for kind in new old perf flags blind lossy zephyr zephyr64 zephyr-ring zephyr-smp zephyr-lost; do
	for seed in $(if [ "$COEVAL_TIER" = full ]; then seq "$COEVAL_SEED" $((COEVAL_SEED + 2)); else echo "$COEVAL_SEED"; fi); do
		python3 "$SRC/tests/calls/linux_world.py" "w-$kind-$seed" "$seed" "$kind" >truth.json
		coeval sql "w-$kind-$seed" --json "select * from waits" >waits.json 2>/dev/null || exit 1
		python3 "$SRC/tests/calls/linux_truth.py" truth.json waits.json "$kind" >found.txt || cat found.txt
		[ "$kind" = zephyr-lost ] || grep -E "WRONG|made up" found.txt
		tail -1 found.txt >>"all-$kind"
	done
	python3 - "$kind" <<'P'
import ast, sys
from collections import Counter

n = Counter()
for line in open(f"all-{sys.argv[1]}"):
    n.update(ast.literal_eval(line.split(" ", 1)[1]))
n["likely"] = n["right"] + n["probable, right"]
share = lambda what: 100 * n[what] / n["all"]
# what the events tell must be told; what they do not tell must not be said to be sure
need = {"new": ("right", 98), "perf": ("right", 98), "flags": ("right", 25), "old": ("likely", 50), "blind": ("right", 10), "lossy": ("right", 10), "zephyr": ("likely", 98), "zephyr64": ("likely", 98), "zephyr-ring": ("likely", 98), "zephyr-smp": ("likely", 98), "zephyr-lost": ("right", 0)}[sys.argv[1]]
print(sys.argv[1], f"at least {need[1]} % {need[0]}" if share(need[0]) >= need[1] else n,
      "nothing wrong" if not n["WRONG"] and not n["made up"] else "",
      "no times missing" if not n["missing"] and not n["other end"] else "")
P
done

echo "== a critical path is whole, whatever it crosses, and its shares add up"
coeval calls "w-new-$COEVAL_SEED" --json | python3 -c '
import json, sys
p = json.load(sys.stdin)["path"]
at = p["from_ns"]
for s in p["steps"]:
    assert s["from_ns"] == at, (s, at)
    at = s["to_ns"]
assert at == p["to_ns"]
print("from its begin to its end, each instant once")'
tid=$(coeval calls "w-new-$COEVAL_SEED" --json | python3 -c '
import json, sys
lanes = [l for l in json.load(sys.stdin)["lanes"] if "/t" in l["lane"] and l["wakes"] > 20]
print(lanes[0]["lane"].split("/")[-1])')
coeval calls "w-new-$COEVAL_SEED" --json --path "$tid" | python3 -c '
import json, sys
r = json.load(sys.stdin)
p = r["path"]
at = p["from_ns"]
for s in p["steps"]:
    assert s["from_ns"] == at, (s, at)
    at = s["to_ns"]
assert at == p["to_ns"] and p["function"] is None
blocked = sum(s["to_ns"] - s["from_ns"] for s in p["steps"] if s["kind"] == "blocked" and "by" not in s)
print("of a thread, too; until nobody knows whom less than 5 %:", blocked < 0.05 * (p["to_ns"] - p["from_ns"]))
for l in r["lanes"]:
    waits = sum(w["total_ns"] for w in r["waits"] if w["lane"] == l["lane"])
    assert waits == l["blocked_ns"] or sum(m["lane"] == l["lane"] for m in r["lanes"]) > 1, (l, waits)
print("what each was blocked on adds up")'

echo "== flame graphs of times on and off the cores add up to them"
coeval calls "w-new-$COEVAL_SEED" --folded >on.txt
coeval calls "w-new-$COEVAL_SEED" --folded --off-cpu >off.txt
coeval calls "w-new-$COEVAL_SEED" --json | python3 -c '
import json, sys
lanes = json.load(sys.stdin)["lanes"]
tasks = [l for l in lanes if "/t" in l["lane"] and "timer" not in l["lane"]]
parts = ["preempted_ns", "ready_ns", "switched_out_ns", "blocked_ns", "waiting_ns"]
for name, want in ("on", sum(l["busy_ns"] for l in tasks)), ("off", sum(l[p] for l in tasks for p in parts)):
    got = sum(int(s.rsplit(" ", 1)[1]) for s in open(name + ".txt") if "/t" in s.split(";")[0] and "timer" not in s.split(";")[0])
    print(name, "within 1 %" if abs(got - want) <= want / 100 else (got, want))'

echo "== programs that trace themselves, beside the kernel: their spans have its reasons"
python3 "$SRC/tests/calls/linux_world.py" beside "$COEVAL_SEED" ust >truth.json
coeval import -o both beside/kernel beside/ust >/dev/null 2>&1
coeval calls both --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
sums = lambda name: [sum(f[k] for f in r["functions"] if f["function"] == name) for k in ("calls", "blocked_ns", "ready_ns", "preempted_ns")]
job, read = sums("app:job"), sums("read")
print("as many jobs as reads:", abs(job[0] - read[0]) < 3, "and as long blocked, ready and preempted:", all(abs(a - b) <= 0.001 * a + 10 * job[0] for a, b in zip(job[1:], read[1:])),
      "repairs:", {k: v for k, v in r["repairs"].items() if v and k != "open"} or "none")
print("each lane is on its core:", all(l["lane"].count("/") == 2 for l in r["lanes"] if "timer" in l["lane"]))'

echo "== the same where every other program is in a container, and has numbers there that others have outside"
for kind in guests spaces; do
	python3 "$SRC/tests/calls/linux_world.py" $kind "$COEVAL_SEED" $kind >truth.json
	coeval import -o all-$kind $kind/kernel $kind/ust >/dev/null 2>&1
	coeval calls all-$kind --json | python3 -c '
import json, sys
from collections import defaultdict
lanes = defaultdict(dict)
r = json.load(sys.stdin)
for f in r["functions"]:
    if f["function"] in ("app:job", "read"):
        lanes[f["lane"]][f["function"]] = f["calls"], f["blocked_ns"]
both = {k: v for k, v in lanes.items() if len(v) == 2}
print("jobs are the reads of the same thread:", all(v["app:job"] == v["read"] for v in both.values()))
print("all of the first programs are found:", sum(v["app:job"][0] > 8 for v in both.values()) >= 8)
jobs_alone = [k for k, v in lanes.items() if "read" not in v]
print("children in containers stand apart:", len(jobs_alone) > 3 and all(int(k.split("-")[-1]) > 5000 for k in jobs_alone),
      r["repairs"]["apart"] > 0, {k: v for k, v in r["repairs"].items() if v and k not in ("open", "apart")} or "no repairs")'
done
