#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Who woke whom, as `coeval sql` says it of a trace of linux_world.py, against the truth.

    linux_truth.py TRUTH WAITS KIND

prints how much of it is known, and every wrong cause. WAITS: the table `waits` as JSON.
"""
import json, re, sys
from collections import Counter

truth = json.load(open(sys.argv[1]))["blocked"]
kind = sys.argv[3]


def tid(label):
    own, again = re.fullmatch(r"[^/]+/(?:\d+/)?t(\d+)(?:-(\d+))?(?:#\d+)?", label).groups()
    again = again and int(again)
    if again and again >= 0x20000000:
        again = (again - 0x20000000) // 64
    return int(again or own)


found, extra = {}, 0
for w in json.load(open(sys.argv[2])):
    if w["why"] != "blocked" or not re.search(r"/t\d", w["thread"]):
        continue
    found[tid(w["thread"]), w["begin_ns"]] = w
zero = json.load(open(sys.argv[1])).get("zero", 0)
n, told = Counter(), 0
for who, since, until, waker, context in truth:
    if kind.startswith("zephyr") and context != "task":  # it does not say which
        waker = context = "interrupt"
    w = found.pop((who, since - zero), None)
    if since == until:
        continue
    n["all"] += 1
    if w is None:
        n["missing"] += 1
        continue
    by = w["by"]
    is_ = tid(by) if by and re.search(r"/t\d", by) else by and by.split("/")[-1]
    right = is_ == waker and w["context"] == context
    if w["end_ns"] != until - zero and (not w["sure"] or right):
        n["other end"] += 1
        if told < 5 and kind != "lossy":
            print("end:", who, since, until, waker, context, "is", w)
            told += 1
    elif by is None:
        n["unknown"] += 1
        if w["context"] and kind == "flags" and (w["context"] == "softirq") == (context in ("block", "network", "softirq")):
            n["in its kind of context"] += 1
    elif not w["sure"]:
        n["probable, right" if right else "probable, wrong"] += 1
    else:
        n["right" if right else "WRONG"] += 1
        if not right and told < 5:
            print("WRONG:", who, since, until, waker, context, "is", w)
            told += 1
for (who, since), w in found.items():
    if w["by"] and w["sure"]:
        n["made up"] += 1
        if told < 5:
            print("made up:", who, since, w)
            told += 1
print(kind, dict(sorted(n.items())))
