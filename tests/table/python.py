#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package without any other: against what the command says. python.py SESSION"""
import gc
import json
import signal
import subprocess
import sys
import threading

import coeval

path = sys.argv[1]
s = coeval.open(path)


def show(*words):
    done = subprocess.run(["coeval", "show", path, "--json", *words], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def error(call, code):
    try:
        call()
    except coeval.Error as e:
        assert e.code == code, (e.code, e)
        return str(e)
    raise AssertionError("no error")


# what the command shows
for words, how in ((), {}), (("--from", "3.1", "--until", "7.3"), {"from_": 3.1, "until": 7.3}), (("--node", "n1"), {"node": "n1"}):
    want = [(r["t_ns"], r["bound_ns"], r["clock"]) for r in show(*words) if r["kind"] == "beacon"]
    rows = s.marks(**how).rows().to_dict()
    clocks = [c.partition("#")[0] for c in rows["clock"]]  # without the epoch
    have = [b for b in zip(rows["time_ns"], rows["bound_ns"], clocks, rows["kind"]) if b[3] == "beacon"]
    assert [b[:3] for b in have] == want and len(want) > 5, (len(have), len(want))
gaps = s.gaps().rows().to_dict()
assert [g["t_ns"] for g in show() if g["kind"] == "gap"] == gaps["from_ns"] and gaps["why"]
assert s.edges().rows().facts["coeval.gaps"] == str(len(gaps["why"])) == str(s.edges().rows().gaps)

# each column is what it says
for name, what in s.tables().items():
    if name in ("violations", "power", "calls", "waits", "tasks"):
        continue
    rows = s.table(name).rows()
    for column, kind, nullable, about in s.table(name).describe():
        cells = rows[column].to_list()
        assert len(cells) == len(rows)
        assert nullable or None not in cells, (name, column)
        types = {"int": int, "uint": int, "float": float, "bool": bool, "name": str, "text": str, "bytes": bytes}[kind]
        assert all(c is None or type(c) is types for c in cells), (name, column)

# columns are read in place, and outlive what they came from
column = s.edges().rows()["time_ns"]
cells = memoryview(column.values)
assert cells.readonly and cells.format == "q" and cells.itemsize == 8
first = cells[0]
del column
gc.collect()
assert cells[0] == first
try:
    cells[0] = 1
except TypeError:
    pass
else:
    raise AssertionError("a column can be written")

# streams that are not read, and schemas
for _ in range(20):
    capsule = s.edges().__arrow_c_stream__()
    s.edges().__arrow_c_schema__()
    del capsule

# several threads, each with tables of its own
counts = []
threads = [threading.Thread(target=lambda: counts.append(len(s.edges().rows()))) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(set(counts)) == 1 and counts[0] > 100

# errors
error(lambda: coeval.open("/nowhere"), "missing")
assert "'nope'" in error(lambda: s.edges(lines="nope").rows(), "unknown-id")
error(lambda: s.edges(node="nope").rows(), "usage")
error(lambda: s.edges(from_=2, until=1).rows(), "usage")
error(lambda: s.power().rows(), "usage")
error(lambda: s.table("nope").rows(), "unknown-id")
error(lambda: s.events("nope").rows(), "unknown-id")
error(lambda: s.sync(pulses=["PPS"]), "usage")
error(lambda: s.check("/nowhere.yaml"), "io")

# the session's own rules again, and following what has ended gives all of it
before = s.clocks().to_dict()
assert all(v.verdict == "good" for v in s.sync(save=False).values()), s.sync(save=False)
assert s.clocks().to_dict() == before
followed = sum(len(rows) for rows in s.follow("marks"))
assert followed == len(s.marks().rows()), followed

# Ctrl-C
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    for _ in range(10000):
        s.edges().rows()
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("not interrupted")
print("all as it should be")
