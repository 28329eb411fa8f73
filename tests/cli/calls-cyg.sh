# SPDX-License-Identifier: MIT
# room: analysis; full
# Function entries and exits of instrumented programs: counts and times against an independent count over what babeltrace2 prints.
need babeltrace2
need python3
for trace in glxgears-cyg-profile glxgears-cyg-profile-fast; do
	at=$CAPTURES/ctf/cyg-profile/$trace
	coeval calls "$at" --names "$CAPTURES/ctf/cyg-profile/cyg-profile-mapping.txt" --json >calls.json 2>/dev/null
	babeltrace2 --clock-seconds --names none "$at" 2>/dev/null >text
	python3 - "$CAPTURES/ctf/cyg-profile/cyg-profile-mapping.txt" <<'PYTHON'
import collections, json, re, sys

names = {}
for line in open(sys.argv[1]):
    m = re.match(r"([0-9a-f]{16}) . (\S+)", line)
    if m:
        names.setdefault(int(m[1], 16), m[2])
calls, total, own, stack, stray = (collections.Counter(), collections.Counter(), collections.Counter(), [], 0)
before = None
for line in open("text"):
    seconds, ns = re.match(r"\[(\d+)\.(\d+)\]", line).groups()
    now = int(seconds) * 10**9 + int(ns)
    if stack:
        own[stack[-1][0]] += now - before
    before = now
    if "func_entry" in line:
        # names are off: the fields of the event are the last group, the address the first of them
        address = int(re.findall(r"0x([0-9A-Fa-f]+)", line.rsplit("{", 1)[1])[0], 16)
        stack.append((names.get(address, hex(address)), now))
    elif stack:
        name, began = stack.pop()
        calls[name] += 1
        total[name] += now - began
    else:
        stray += 1
while stack:
    name, began = stack.pop()
    calls[name] += 1
    total[name] += now - began
found = json.load(open("calls.json"))
ours = {f["function"]: (f["calls"], f["total_ns"], f["self_ns"]) for f in found["functions"]}
theirs = {n: (calls[n], total[n], own[n]) for n in calls}
print("functions", len(ours), "calls", sum(c for c, _, _ in ours.values()),
      "lost entries", found["repairs"]["lost_entries"], "open", found["repairs"]["open"])
print("as counted" if ours == theirs and stray == found["repairs"]["lost_entries"] else
      sorted(set(ours.items()) ^ set(theirs.items())))
PYTHON
done
