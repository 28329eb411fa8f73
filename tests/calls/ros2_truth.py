#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Chains of ros2_world.py, as `coeval calls --json` finds them, against the truth.

    ros2_truth.py TRUTH CALLS.json
"""
import json, sys
from collections import Counter

truth, found = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
names, chains = [], {}
for c in found["chains"]:
    names.append(c["function"] if c["before"] is None else names[c["before"]] + " -> " + c["function"])
    if c["times"]:
        chains[names[-1]] = c
n = Counter()
for name, lengths in truth.items():
    c = chains.pop(name, None)
    lengths.sort()
    n["chains"] += 1
    if c is None:
        print("missing:", name)
        continue
    # a clock's bound, twice; what a quantile of a sample may be off by
    slack = (c["max_bound_ns"] or 0) + 2
    if c["times"] != len(lengths):
        print(name, "times", c["times"], "not", len(lengths))
    if abs(c["max_ns"] - lengths[-1]) > slack or abs(c["min_ns"] - lengths[0]) > slack:
        print(name, "lengths", c["min_ns"], c["max_ns"], "not", lengths[0], lengths[-1], "within", slack)
    share = sum(x <= c["median_ns"] for x in lengths) / len(lengths)
    if not .42 < share < .58:
        print(name, "median", c["median_ns"], "is the quantile", share)
    share = sum(x <= c["p99_ns"] + slack for x in lengths) / len(lengths)
    if len(lengths) > 100 and not .97 < share:
        print(name, "99 %", c["p99_ns"], "is the quantile", share)
for name in chains:
    print("not true:", name)
print(n["chains"], "chains,", "all bounds known" if all(c["max_bound_ns"] is not None for c in found["chains"] if c["times"]) else "not all bounds known")
