#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Who woke whom in a kernel trace, straight from babeltrace2's text and by the rules of a textbook, against what
`coeval sql` says.

    linux_oracle.py BABELTRACE.txt WAITS.json

prints counts of what the trace holds, and how many wake-ups of blocked tasks agree in time, task, and who woke.
"""
import json, re, sys
from collections import Counter

line = re.compile(r"\[(\d+):(\d+):(\d+\.\d+)\] \([^)]*\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{(.*)\}$")
n, current, stack, off, woken, zero, seen = Counter(), {}, {}, {}, [], None, {0}
for text in open(sys.argv[1]):
    m = line.match(text.strip())
    if not m:
        continue
    h, mi, s, event, cpu, rest = m.groups()
    t = (int(h) * 3600 + int(mi) * 60) * 10 ** 9 + round(float(s) * 1e9)
    zero = t if zero is None else zero
    n[event] += 1
    f = dict(x.split(" = ", 1) for x in rest.strip().split(", ")) if "=" in rest else {}
    on = stack.setdefault(cpu, [])
    if event == "sched_switch":
        prev, state = int(f["prev_tid"]), int(f["prev_state"])
        on.clear()
        if prev and state and state != 1024:
            off[prev] = t
        current[cpu] = int(f["next_tid"])
        off.pop(current[cpu], None)
        seen |= {prev, current[cpu]}
    elif event == "lttng_statedump_process_state":
        if int(f["tid"]) not in seen and f["status"] == "5":
            off[int(f["tid"])] = t
        seen.add(int(f["tid"]))
    elif event == "sched_process_fork":
        off[int(f["child_tid"])] = t
    elif event in ("irq_handler_entry", "softirq_entry", "hrtimer_expire_entry"):
        on.append((event, f.get("irq") or f.get("vec") or f.get("hrtimer"), f.get("name", "").strip('"')))
    elif event in ("irq_handler_exit", "softirq_exit", "hrtimer_expire_exit"):
        key = f.get("irq") or f.get("vec") or f.get("hrtimer")
        if on and on[-1][1] == key:
            on.pop()
    elif event in ("sched_wakeup", "sched_wakeup_new") and int(f["tid"]) in off:
        seen.add(int(f["tid"]))
        who = on[-1] if on else current.get(cpu) or None
        woken.append((int(f["tid"]), off.pop(int(f["tid"])), t, who))
print("wake-ups", n["sched_wakeup"], "forks", n["sched_process_fork"], "packets", n["netif_receive_skb"])

softirqs = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
rows = {(w["begin_ns"], w["end_ns"]): w for w in json.load(open(sys.argv[2])) if w["why"] == "blocked"}
agree, names = Counter(), {}
for tid, since, until, who in woken:
    w = rows.pop((since - zero, until - zero), None)
    if w is None:
        agree["missing"] += 1
        print("missing", tid, since - zero, until - zero, who)
        continue
    names.setdefault(w["thread"], tid)
    by = w["by"] and w["by"].split("/", 2)[-1]
    if who is None:
        same = by is None
    elif isinstance(who, tuple):
        kind, key, name = who
        same = by == {"irq_handler_entry": f"interrupt {name}", "softirq_entry": f"softirq {softirqs[int(key)]}" if kind == "softirq_entry" else "",
                      "hrtimer_expire_entry": "timer"}[kind]
    else:  # the same thread for the same tid
        same = by is not None and names.setdefault(w["by"], who) == who
    agree["same" if same and names[w["thread"]] == tid else "OTHER"] += 1
    if not same:
        print("other", tid, since - zero, until - zero, who, w)
print("of blocked tasks", len(woken), dict(agree), "and no others" if not any(w["by"] for w in rows.values()) else [w for w in rows.values() if w["by"]][:3])
