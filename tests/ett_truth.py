#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the events of a self-test against the stores of its other processor: ett_truth.py FILE, of `coeval show --json`.

Every event has a store of its code whose interval meets its bracket, stores being used up in order; a store held for longer than two of
the longest steps, and of another code than the last one seen, has its event. Exit status: 1 if not.
"""
import json
import sys

events, stores, run = [], [], None
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] != "event":
        continue
    f = r["fields"]
    if r["name"] == "run":
        run = f
        begin = r["tick"]
        continue
    low, high = r["tick"] - f["half_width"], r["tick"] + f["half_width"]
    if r["name"] == "event":
        assert f["probe"] == 1
        events.append((low, high, f["code"]))
    elif r["name"] == "store":
        stores.append((low, high, f["value"]))
# Each half-width may be rounded up by half a tick.
pulse = 2 * run["step_most"] + 2
matched, k, missed, long_ones, shown = 0, 0, 0, 0, run["first"]


def held(i, until):
    return min(stores[i + 1][0], until) - stores[i][1] if i + 1 < len(stores) else until - stores[i][1]


until = events[-1][1] if events else begin
for low, high, code in events + [(until, until, None)]:
    j = k
    while j < len(stores) and code is not None and not (
            stores[j][2] == code and stores[j][0] <= high and low <= stores[j][1]):
        j += 1
    if code is None:
        j = len(stores)
    elif j == len(stores):
        print(f"event of code {code} at {low}..{high}: no store meets its bracket")
        sys.exit(1)
    for i in range(k, j):
        if stores[i][2] != shown and held(i, until) > pulse:
            missed += 1
    if code is not None:
        long_ones += held(j, until) > pulse
        matched += 1
        shown, k = code, j + 1
print(f"{matched} events, each in the bracket of its store; of pulses that cannot be missed {long_ones} seen, {missed} not", file=sys.stderr)
sys.exit(1 if missed or not events else 0)
