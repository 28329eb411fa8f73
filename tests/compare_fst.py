#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a VCD export, an FST export that fst2vcd converted, and `coeval show` of the same session.

compare_fst.py VCD CONVERTED SHOWN_JSON SHOWN

Lines, gaps and channels change at the same times to the same values; events are strings with the fields that are shown, and
bound_ns is never less than the bound of a record, nor more than 4 % above it. Prints how many there were; exit status 1 if
something differs.
"""
import json
import math
import re
import sys
from collections import Counter, defaultdict


ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Waves:
    """kind and clock of each variable, in the order of the file, and its changes: (time, value)."""

    def __init__(self, path):
        self.vars, self.changes, self.zero = [], [], 0
        ids, scope, now = {}, [], 0
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            for line in f:
                words = line.split()
                if not words:
                    continue
                if words[0] == "$scope":
                    scope.append(words[2])
                elif words[0] == "$upscope":
                    scope.pop()
                elif words[0] == "$var":
                    ids[words[3]] = len(self.vars)
                    self.vars.append((words[1], scope[-1], words[4]))
                    self.changes.append([])
                elif words[0] == "$timezero":
                    self.zero = int(words[1] if len(words) > 1 else next(f))
                elif m := re.search(r"0 here is (\S+) s there", line):
                    sign, s, ns = re.match(r"(-?)(\d+)\.(\d{9})", m[1]).groups()
                    self.zero = int(sign + s + ns)
                elif line[0] == "#":
                    now = int(line[1:])
                elif line[0] in "01x":
                    self.changes[ids[line[1:].strip()]].append((now, line[0]))
                elif line[0] == "r":
                    self.changes[ids[words[1]]].append((now, float(words[0][1:])))
                elif line[0] == "s":
                    text = re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else ESCAPES.get(m[1], m[1]), words[0][1:])
                    text = text.encode("latin-1").decode()
                    self.changes[ids[words[-1]]].append((now, text if len(words) > 1 else ""))

    def of(self, *kinds):
        return [(v, c) for v, c in zip(self.vars, self.changes) if v[0] in kinds]


def plain(name):
    return "".join(c if "!" <= c <= "~" and c != "$" else "_" for c in name)


def real(changes):
    """Without values before the first, with one NaN, and to the digits that fst2vcd prints."""
    changes = [(t, f"{v:.15g}") for t, v in changes]
    return changes[1:] if changes and changes[0] == (0, "nan") else changes


def holds(bound, shown):
    return math.isnan(shown) if bound is None else bound <= shown <= 1.04 * bound + 2


def main():
    vcd, fst = Waves(sys.argv[1]), Waves(sys.argv[2])
    wrong = []

    def expect(what, a, b):
        if a != b:
            wrong.append(f"{what}: {a} is not {b}"[:300])

    expect("zero", vcd.zero, fst.zero)
    lines, ours = vcd.of("wire"), fst.of("wire")
    expect("lines", len(lines), len(ours))
    for (v, a), (w, b) in zip(lines, ours):
        first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        expect(f"{v} after {first} changes", a[first:first + 2], b[first:first + 2])
    bounds = {w[1]: c for w, c in fst.of("real") if w[2] == "bound_ns"}
    channels, ours = vcd.of("real"), [x for x in fst.of("real") if x[0][2] != "bound_ns"]
    expect("channels", len(channels), len(ours))
    for (v, a), (w, b) in zip(channels, ours):
        expect(v, real(a), real(b))

    names, at, n_bounds = Counter(), defaultdict(int), 0
    with open(sys.argv[3], encoding="utf-8") as f:
        for r in map(json.loads, f):
            clock, t = plain(r["clock"]), r["t_ns"] - fst.zero
            c, i = bounds[clock] if clock in bounds else bounds[r["clock"]], at[clock]
            while i + 1 < len(c) and c[i + 1][0] <= t:
                i += 1
            at[clock] = i
            if r["kind"] in ("event", "begin", "end", "beacon", "message", "pulse", "slip"):
                names[r["kind"] if r["kind"] in ("beacon", "message", "pulse", "slip") else "text"] += 1
            n_bounds += 1
            while i and c[i][0] == t and not holds(r["bound_ns"], c[i][1]):
                i -= 1  # of several at this time
            if not holds(r["bound_ns"], c[i][1]):
                wrong.append(f"bound of {clock} at {t}: {c[i]}, not {r['bound_ns']}")
    marks = ("beacon", "message", "pulse", "slip")
    strings = Counter()
    for w, c in fst.of("string"):
        strings[w[2] if w[2] in marks else "text"] += len(c)
    expect("events", strings, names)
    with open(sys.argv[4], encoding="utf-8") as f:
        texts = Counter(m[1] for m in (re.match(r"\[[^]]*\] \S+ .*?: (\{.*)$", line) for line in f) if m)
    for w, c in fst.of("string"):
        for t, v in c:
            if w[2] not in marks and not texts[v] and not (v[-3:] == "..." and any(x.startswith(v[:-3]) for x in texts)):
                wrong.append(f"{w} at {t}: {v} is not shown"[:300])
    print(f"{len(lines)} lines, {sum(len(c) for _, c in lines)} changes, {sum(len(c) for _, c in channels)} samples,",
          f"{sum(strings.values())} texts, {n_bounds} bounds in {sum(map(len, bounds.values()))} steps")
    print(*wrong[:5], sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
