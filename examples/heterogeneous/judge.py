# SPDX-License-Identifier: MIT
"""How far what Coeval says of the slaves' clocks is from the truth.

    judge.py OUT < records, as `coeval show OUT/session --json` gives them

Each slave's clock is its timer, made wrong by a chosen rate and phase (OUT/clocks), and its timer follows the master's clock as QEMU
does without -icount. Where the timer began is bracketed by comparisons in which both sides look at nothing but one word of memory
(OUT/master.log). Exit status 1: a time is further from the truth than its bound and what is not known of the truth together, a message
came before it was sent, or two comparisons contradict each other.
"""

import json
import statistics
import sys

HZ = {"m4": 25_000_000, "rv32": 10_000_000}


class Clock:
    """A slave's clock since one start of the slave."""

    def __init__(self, slave, kind, ppb, phase):
        self.slave, self.hz, self.phase = slave, HZ[kind], phase
        self.skew = int(ppb * 4294967296 / 1_000_000_000)  # as C does it
        self.early, self.late = -float("inf"), float("inf")  # of the timer's beginning
        self.errors, self.bounds = [], []

    def compared(self, ticks, early, late):
        self.early = max(self.early, early - (ticks + 1) * 1e9 / self.hz)
        self.late = min(self.late, late - ticks * 1e9 / self.hz)

    def true(self, stamp):
        """Between which times the clock showed this."""
        ticks = (stamp - self.phase) / (1 + self.skew / 4294967296)
        return (self.early + (ticks - 1) * 1e9 / self.hz, self.late + (ticks + 2) * 1e9 / self.hz)


def read(out):
    given, clocks, trips = [], {}, {}
    for line in open(out + "/clocks"):
        name, kind, ppb, phase = line.split()
        given.append((name, kind, int(ppb), int(phase)))
    for line in open(out + "/master.log"):
        word, *n = line.split()
        if word == "truth":
            slave, boot, ticks, early, late = map(int, n)
            name = given[slave][0] + (f"-{boot}" if boot > 1 else "")
            clocks.setdefault(name, Clock(*given[slave])).compared(ticks, early, late)
        elif word == "exchanges":
            trips[given[int(n[0])][0]] = (int(n[1]), int(n[2]))
    return clocks, trips


def main(out):
    clocks, trips = read(out)
    zero, sent, bad, messages = None, {}, 0, 0
    for line in sys.stdin:
        r = json.loads(line)
        if r["kind"] != "event":
            continue
        name, t, bound = r["clock"], r["t_ns"], r["bound_ns"] or 0
        if name == "master":
            zero = r["tick"] - t if zero is None else zero
            early = late = r["tick"]
        elif name in clocks and zero is not None:
            c = clocks[name]
            early, late = c.true(r["tick"])
            c.errors.append(t + zero - (early + late) / 2)
            c.bounds.append(bound)
            if t + zero + bound < early or t + zero - bound > late:
                bad += 1
                print(f"{name}: {r['name']} at {t} ns +- {bound} is wrong: {early - zero:.0f} to {late - zero:.0f} ns")
        else:
            continue
        f = r["fields"]
        if r["name"] in ("tracer_sync_send", "message_send"):
            key = (f.get("slave"), f.get("queue"), f["seq"])
            sent.setdefault(key, (t - bound, early))
        elif r["name"] in ("tracer_sync_receive", "message_receive"):
            key = (f.get("slave"), f.get("queue"), f["seq"])
            if key in sent:
                messages += 1
                if t + bound < sent[key][0] or late < sent[key][1]:
                    bad += 1
                    print(f"{name}: message {key} came before it was sent")
    print(f"{'clock':10} {'records':>7} {'truth +-':>9} {'error, median':>14} {'at worst':>9} {'bound, median':>14} {'round trips':>11} {'shortest':>9}")
    for name, c in clocks.items():
        if c.early > c.late:
            bad += 1
            print(f"{name}: its comparisons contradict each other")
        if not c.errors:
            print(f"{name:10} {0:7}")
            continue
        n, shortest = trips.get(c.slave, (0, 0))
        worst = max(c.errors, key=abs)
        print(f"{name:10} {len(c.errors):7} {(c.late - c.early) / 2000:6.2f} us {statistics.median(c.errors) / 1000:11.2f} us"
              f" {worst / 1000:6.2f} us {statistics.median(c.bounds) / 1000:11.2f} us {n:11} {shortest / 1000:6.1f} us")
    print(f"{messages} messages, {bad} contradictions")
    return 1 if bad or not messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
