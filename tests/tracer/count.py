# SPDX-License-Identifier: MIT
"""Every step of tests/tracer/program.c is in the trace, in order, or counted as lost: count.py JSON WHO:STEPS...; steps 0: any number."""
import json
import sys

seen, lost, unknown, last = {}, 0, 0, None
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "gap":
        unknown += r.get("lost") is None
        lost += r.get("lost") or 0
        continue
    assert last is None or last <= r["t_ns"], "time goes back"
    last = r["t_ns"]
    seen.setdefault(r["fields"]["who"], []).append(r["fields"]["number"])
want = {int(w): int(n) for w, n in (a.split(":") for a in sys.argv[2:])}
for who, numbers in seen.items():
    assert all(a < b for a, b in zip(numbers, numbers[1:])), "out of order"
if not any(want.values()):
    print("all in order" if seen and unknown <= 1 else f"{unknown} gaps of unknown size")
    sys.exit()
missing = sum(n or len(seen.get(w, [])) for w, n in want.items()) - sum(map(len, seen.values())) - lost
print("all there or counted" if not missing and not unknown else f"{missing} missing, {unknown} gaps of unknown size")
