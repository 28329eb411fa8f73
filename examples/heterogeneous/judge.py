# SPDX-License-Identifier: MIT
"""How far what Coeval says of the slaves' clocks is from the truth.

    coeval show OUT/session --json | judge.py OUT [exchanges]

Each slave's clock is its timer, made wrong by a chosen rate and phase (OUT/clocks), and its timer follows the master's clock, as QEMU
has it without -icount. Where the timer began is bracketed by comparisons, in which both sides look at nothing but one word of memory
(OUT/master.log); they are no part of the session. Exit status 1: a time is further from the truth than its bound and what is not
known of the truth together, a message came before it was sent, or two comparisons contradict each other; and, if the session was tied
by exchanges, a bound is nowhere down at half the shortest round trip.

Of a clock's errors and bounds the median is printed, of errors the worst too, of bounds the least.
"""

import json
import statistics
import sys

HZ = {"m4": 25_000_000, "rv32": 10_000_000}
STEPS = 3  # of a clock: what stamps round by, and the capture's resolution
SENT = ("tracer_sync_send", "message_send")
RECEIVED = ("tracer_sync_receive", "message_receive")
TOLD = 5


class Clock:
    """A slave's clock since one start of the slave. Times in ns of the master's."""

    def __init__(self, name, kind, ppb, phase):
        self.slave = self.name = name
        self.tick = 1e9 / HZ[kind]
        self.phase = phase
        self.skew = int(ppb * 4294967296 / 1_000_000_000) / 4294967296  # as C rounds it
        self.early, self.late = -float("inf"), float("inf")  # when the timer began
        self.errors, self.bounds = [], []
        self.trips = []  # from the master's request to the answer that it saw

    def compared(self, ticks, early, late):
        self.early = max(self.early, early - (ticks + 1) * self.tick)
        self.late = min(self.late, late - ticks * self.tick)

    def true(self, stamp):
        """Between which times the clock showed this: it rounds down twice."""
        ticks = (stamp - self.phase) / (1 + self.skew)
        return self.early + (ticks - 1) * self.tick, self.late + (ticks + 2) * self.tick


def read(out):
    given, clocks = [], {}
    for line in open(out + "/clocks"):
        name, kind, ppb, phase = line.split()
        given.append((name, kind, int(ppb), int(phase)))
    for line in open(out + "/master.log"):
        word, *numbers = line.split()
        if word == "truth":
            slave, boot, ticks, early, late = map(int, numbers)
            key = given[slave][0], boot
            clocks.setdefault(key, Clock(*given[slave])).compared(ticks, early, late)
    return clocks


def judge(records, clocks):
    """Returns how many messages there were, and what is wrong."""
    zero, sent, answered, messages, bad = None, {}, {}, 0, []
    for r in records:
        if r["kind"] != "event":
            continue
        t, bound, f = r["t_ns"], r["bound_ns"] or 0, r["fields"]
        clock = clocks.get((r["node"], f["boot"]))
        if r["clock"] == "master":
            zero = r["tick"] - t if zero is None else zero
            early = late = t
        elif clock and zero is not None:
            clock.name = r["clock"]
            early, late = (x - zero for x in clock.true(r["tick"]))
            clock.errors.append(t - (early + late) / 2)
            clock.bounds.append(bound)
            if t + bound < early or t - bound > late:
                bad.append(f"{clock.name}: {r['name']} at {t} ns +- {bound}: it was {early:.0f} to {late:.0f} ns")
        else:
            continue
        key = f.get("slave"), f.get("queue"), f.get("seq")
        if r["name"] in SENT:
            sent.setdefault(key, (t - bound, early))
            if r["name"] == SENT[0] and clock:
                answered[key] = clock
        elif r["name"] in RECEIVED and key in sent:
            messages += 1
            asked = sent.get((key[0], None, key[2] - 1))
            if r["clock"] == "master" and key in answered and asked:
                answered[key].trips.append(t - asked[1])
            if t + bound < sent[key][0] or late < sent[key][1]:
                bad.append(f"{r['clock']}: {r['name']} {key} came before it was sent")
    return messages, bad


def main(out, *by):
    clocks = read(out)
    messages, bad = judge(map(json.loads, sys.stdin), clocks)
    row = "{:10} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>9}"
    print(row.format("clock", "records", "truth +-", "error", "worst", "bound", "least", "round trips", "shortest"))
    for c in clocks.values():
        if c.early > c.late:
            bad.append(f"{c.name}: its comparisons contradict each other")
        if not c.errors:
            continue
        shortest = min(c.trips, default=0)
        if by and min(c.bounds) > shortest / 2 + STEPS * c.tick:
            bad.append(f"{c.name}: no bound is below {min(c.bounds)} ns, half a round trip is {shortest / 2} ns")
        ns = ((c.late - c.early) / 2, statistics.median(c.errors), max(c.errors, key=abs), statistics.median(c.bounds), min(c.bounds), shortest)
        us = [f"{x / 1000:.2f} us" for x in ns]
        print(row.format(c.name, len(c.errors), *us[:5], len(c.trips), us[5]))
    print(f"{messages} messages, {len(bad)} contradictions")
    for line in bad[:TOLD]:
        print(line)
    return 1 if bad or not messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
