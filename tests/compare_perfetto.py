#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a Perfetto trace that Coeval wrote, as `protoc --decode` shows it, with `coeval show --json` of the same session.

compare_perfetto.py DECODED SHOWN EPOCH_NS

Every edge, sample, event, mark and gap has to be in both: at the same time, with the same bound, on a track of its node. Prints
how many there were of each kind; exit status 1 if something differs.
"""
import json
import re
import sys
from collections import Counter

BRACKETS = [("_begin", "_end"), ("_entry", "_exit")]


def parse(lines):
    """One top-level message after the other, as dict of lists."""
    stack, top = [{}], None
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            child = {}
            stack[-1].setdefault(line[:-2], []).append(child)
            stack.append(child)
        elif line == "}":
            top = stack.pop()
            if len(stack) == 1:
                yield top
                stack = [{}]
        elif line:
            key, value = line.split(": ", 1)
            if key.isdigit():
                sys.exit(f"field {key} is not in the format's description")
            stack[-1].setdefault(key, []).append(value)


def text(value):
    raw = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), value[1:-1].encode())
    return raw.decode().replace('\\"', '"').replace("\\'", "'").replace("\\n", "\n").replace("\\\\", "\\")


class Trace:
    def __init__(self, path, epoch):
        self.interned, self.tracks, self.found, self.flows = {}, {}, [], Counter()
        self.epoch, self.now, self.packets = epoch, None, 0
        with open(path, encoding="utf-8") as f:
            for packet in parse(f):
                self.packet(packet)

    def packet(self, p):
        self.packets += 1
        if p["sequence_flags"] != (["1"] if self.packets == 1 else ["2"]):
            sys.exit("wrong sequence_flags")
        if self.packets == 1:
            if p["defaults"] != [{"clock": ["64"]}]:
                sys.exit("timestamps are not of the sequence's clock")
            clocks = {c["clock_id"][0]: c for c in p["clock_snapshot"][0]["clocks"]}
            if len({c["timestamp"][0] for c in clocks.values()}) != 1 or clocks["64"]["incremental"] != ["true"]:
                sys.exit("wrong clocks")
            self.now = int(clocks["64"]["timestamp"][0])
        for interned in p.get("interned", []):
            for kind, texts in interned.items():
                for t in texts:
                    key = kind, t["iid"][0]
                    if key in self.interned:
                        sys.exit("a text twice")
                    self.interned[key] = text(t["text"][0])
        for t in p.get("track", []):
            if t["uuid"][0] in self.tracks or t.get("parent", ["none"])[0] not in [*self.tracks, "none"]:
                sys.exit("a track twice, or before its parent")
            self.tracks[t["uuid"][0]] = (text(t["name"][0]), t.get("parent", [None])[0])
        for e in p.get("track_event", []):
            t = int(p["timestamp"][0])
            if "clock" in p and p["clock"] != ["6"]:
                sys.exit("a timestamp of another clock")
            if "clock" not in p:
                self.now = t = self.now + t
            self.event(e, t - self.epoch)

    def node(self, track):
        while self.tracks[track][1]:
            track = self.tracks[track][1]
        return self.tracks[track][0]

    def text(self, message, field, kind):
        if field + "_iid" in message:
            return self.interned[kind, message[field + "_iid"][0]]
        return text(message.get(field, ['""'])[0])

    def event(self, e, t):
        notes = {self.text(n, "name", "note_name"): n for n in e.get("note", [])}
        bound = notes.get("bound_ns") or notes.get("end.bound_ns") or {}
        bound = int(bound["int"][0]) if "int" in bound else None
        name = self.text(e, "name", "event_name")
        track, kind = e["track"][0], e["type"][0]
        for flow in e.get("flow", []) + e.get("last_flow", []):
            self.flows[flow] += 1
        value = float(e["value"][0]) if "value" in e else None
        self.found.append((t, bound, self.node(track), kind, name, self.tracks[track][0], value))


def shown(path):
    """What must be found, with gaps' ends apart."""
    want, high, names, running, open_at = [], {}, set(), set(), {}
    with open(path, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    names = {(r["node"], r["name"]) for r in records}
    for r in records:
        head = (r["t_ns"], r["bound_ns"], r["node"])
        if r["kind"] == "edge":
            for line, level in r["lines"].items():
                if high.get((r["clock"], line), 0) != level:
                    want.append((*head, "BEGIN" if level else "END", "high", line, None))
                high[r["clock"], line] = level
        elif r["kind"] == "gap":
            for (clock, line), level in high.items():
                if clock == r["clock"] and level:
                    want.append((*head, "END", "high", line, None))
                    high[clock, line] = 0
            if open_at.pop(r["clock"], False):
                want.append((*head, "END", "", None, None))
            want.append((*head, "BEGIN", r["why"], "gaps", None))
        elif r["kind"] == "sample":
            want.append((*head, "COUNTER", "", r["channel"], r["value"]))
        elif r["kind"] == "event":
            kind, name = "INSTANT", r["name"]
            for begin, end in BRACKETS:
                for suffix, other, what in ((begin, end, "BEGIN"), (end, begin, "END")):
                    stem = name[:-len(suffix)]
                    if name.endswith(suffix) and (r["node"], stem + other) in names:
                        kind, name = what, stem
                        break
                else:
                    continue
                break
            if name.endswith(":func"):
                addr = r["fields"].get("addr")
                name = hex(addr) if addr is not None else ""
            want.append((*head, kind, name, None, None))
            if r["name"].split(":")[-1] in ("sched_switch", "task_switch"):
                fields = r["fields"]
                core = fields.get("cpu_id", fields.get("core"))
                place = (r["clock"], core)
                if place in running and open_at.get(r["clock"]):
                    want.append((*head, "END", "", None, None))
                following = [fields[k] for k in ("next_comm", "next_name", "next", "to", "task") if k in fields][0]
                track = "runs" if core is None else f"core {core} runs"
                want.append((*head, "BEGIN", following if isinstance(following, str) else f"task {following}", track, None))
                running.add(place)
                open_at[r["clock"]] = True
        else:
            want.append((*head, "INSTANT", r["kind"], "marks", None))
    return want


def placed(name, kind, track):
    """The track, where it has a name of its own."""
    runs = track and track.split()[-1] == "runs"
    return track if name == "high" or (name == "" or runs) and kind != "END" else None


def main():
    trace, want = Trace(sys.argv[1], int(sys.argv[3])), shown(sys.argv[2])
    ends = [f for f in trace.found if f[3] == "END" and f[5].startswith("gaps")]
    found = [f for f in trace.found if f not in ends] if ends else trace.found
    found = Counter((t, b, n, k, name, placed(name, k, track), v)
                    for t, b, n, k, name, track, v in found)
    want = Counter((t, b, n, k, name, placed(name, k, track), v)
                   for t, b, n, k, name, track, v in want)
    for what, one, other in (("not in the trace", want, found), ("not shown", found, want)):
        for item, n in list((one - other).items())[:5]:
            print(f"{what}: {n} of {item}")
    kinds = Counter()
    for item, n in found.items():
        kinds[item[3]] += n
    print(*(f"{n} {k.lower()}" for k, n in sorted(kinds.items())),
          f"{sum(n == 2 for n in trace.flows.values())} arrows", sep=", ")
    if any(n > 2 for n in trace.flows.values()):
        sys.exit("an arrow with more than two ends")
    sys.exit(found != want)


main()
