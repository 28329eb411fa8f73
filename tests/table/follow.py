#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A session that grows, followed, gives what it gives once it has ended. follow.py GROW SESSION [steady]"""
import subprocess
import sys
import time

import coeval

path, steady = sys.argv[2], sys.argv[3:]
grow = subprocess.Popen([sys.argv[1], path, "4", "150", "40000", *steady], stdout=subprocess.DEVNULL)
while True:
    try:
        s = coeval.open(path)
        # what a clock that is added meanwhile had stored before counts only once times are final
        if not steady or len(s.clocks().to_dict()["clock"]) == 4:
            break
    except coeval.Error:
        time.sleep(0.05)
early, rows, batches = 0, [], 0
for batch in s.follow("edges", estimated=bool(steady)):
    batches += 1
    early += grow.poll() is None
    d = batch.to_dict()
    rows += zip(d["time_ns"], d["bound_ns"], d["clock"], d["line"], d["level"])
grow.wait()
s.sync()
whole = coeval.open(path).edges().to_dict()
want = set(zip(whole["clock"], whole["line"], whole["level"], (round(t / 1e8) for t in whole["time_ns"])))
have = set((c, line, level, round(t / 1e8)) for t, b, c, line, level in rows)
if steady:
    print("rows came while it grew" if early > 2 else f"{early} of {batches} batches came while it grew")
print("none twice" if len(rows) == len(have) else f"{len(rows)} rows, {len(have)} unlike")
print("none invented" if have <= want else sorted(have - want)[:5])
print("none missing" if want <= have else f"{len(want - have)} of {len(want)} missing: {sorted(want - have)[:5]}")
