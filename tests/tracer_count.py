# SPDX-License-Identifier: MIT
"""What the image of firmware/lib/tracer/platform traced against what it says itself: every event is there or counted as lost."""
import json
import sys

seen = {"enter": [], "work": [], "tick": []}
lost = unknown = 0
finish = None
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "gap":
        unknown += r.get("lost") is None
        lost += r.get("lost") or 0
    elif r["name"] == "finish":
        finish = r["fields"]
    else:
        seen[r["name"]].append(r["fields"].get("number", 0))
assert finish, "the last event is missing"
for name, numbers in seen.items():
    assert name == "enter" or all(a < b for a, b in zip(numbers, numbers[1:])), name + " out of order"
whole = finish["works"] + finish["ticks"] + 25
came = sum(len(n) for n in seen.values())
print("works", finish["works"], "- all others are there or counted:", came + lost == whole and not unknown)
if len(sys.argv) > 2:
    print("some were lost:", lost > 0)
