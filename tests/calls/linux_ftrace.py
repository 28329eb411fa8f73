#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What tests/calls/linux_init.c sent of a real Linux, as a CTF trace, and against what is said of it.

    linux_ftrace.py write SERIAL FOLDER KIND
    linux_ftrace.py check SERIAL WAITS KIND

KIND: lttng, with LTTng's names; perf, with perf's names and flags; flags, the same without interrupts.
WAITS: the table `waits` as JSON. Two things are compared: waits that the program scripted, and every wait that
ended by being woken, where ftrace writes beside each wake-up who ran, and in which context.
"""
import json, os, re, struct, sys
from collections import Counter

verb, serial, target, kind = sys.argv[1:5]
line = re.compile(r"\s*(.+)-(\d+)\s+\[(\d+)\] (.)(.)(.)(.)(.)\s+(\d+): (\w+): (.*)")
STATES = {"S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128}
INTERRUPTS = re.compile("irq_|softirq_|hrtimer_|local_timer_|reschedule_|call_function_")

scripted, records = [], []
for text in open(serial, errors="replace"):
    if text.startswith("wait "):
        tid, begin, end, what, by = text.split()[1:]
        scripted.append((int(tid), int(begin), int(end), what, int(by)))
    elif m := line.match(text):
        comm, pid, cpu, _, _, inside, _, _, tick, name, rest = m.groups()
        f = dict(re.findall(r"(\w+)=((?:[^ =]| (?!\w+=|==>|\[))*)", rest))
        records.append((int(tick), len(records), int(cpu), int(pid), comm.strip(), inside, name, f))
records.sort()
shown = [r for r in records if kind != "flags" or not INTERRUPTS.match(r[6])]

# ---- the trace ----

TEXTS = {"comm", "prev_comm", "next_comm", "child_comm", "parent_comm", "name", "filename", "function"}
ENABLED = ["irq_handler", "local_timer", "reschedule", "call_function", "call_function_single", "irq_work"]
SYSTEM = {"sched": "sched", "irq_": "irq", "soft": "irq", "hrti": "timer"}


def renamed(name, f):
    """Names and fields as the tracer has them."""
    out = {}
    for key, v in f.items():
        if key == "prev_state":
            v = STATES.get(v[0], 0) | (256 if v.endswith("+") else 0)
        elif key == "ret" or key == "action":
            continue
        elif key not in TEXTS:
            v = int(v, 16) if key == "hrtimer" else int(v)
        if name == "sched_process_fork":
            key = {"comm": "parent_comm", "pid": "parent_pid"}.get(key, key)
        out[key.replace("pid", "tid") if kind == "lttng" else key] = v
    if kind == "lttng":
        name = re.sub("^softirq", "irq_softirq", re.sub("^hrtimer", "timer_hrtimer", name))
        return re.sub("^(local_timer|reschedule|call_function|irq_work)", r"x86_irq_vectors_\1", name), out
    return SYSTEM.get(name[:4] if name[:5] != "sched" else "sched", "irq_vectors") + ":" + name, out


def write():
    classes, streams = {}, {}
    for name in () if kind == "flags" else ENABLED:  # though it may not have come up
        for end in ("entry", "exit"):
            of, f = renamed(f"{name}_{end}", {"vector": 0} if name[:4] != "irq_" else {"irq": 0} if end == "exit" else {"irq": 0, "name": ""})
            classes[of] = (len(classes), list(f if kind == "lttng" else {"common_flags": 0, "common_pid": 0, **f}))
    for tick, _, cpu, pid, _, inside, name, f in shown:
        name, f = renamed(name, f)
        if kind != "lttng":
            f = {"common_flags": 8 * (inside in "hH") + 16 * (inside in "sH"), "common_pid": pid, **f}
        id, _ = classes.setdefault(name, (len(classes), list(f)))
        body = struct.pack("<HQ", id, tick)
        for key in classes[name][1]:
            v = f[key]
            body += v.encode() + b"\0" if key in TEXTS else struct.pack("<Q", v)
        streams.setdefault(cpu, []).append((tick, body))
    os.makedirs(target)
    env = 'tracer_name = "lttng-modules"; kernel_release = "6.1.0"; hostname = "box";' if kind == "lttng" else \
        'tracer_name = "perf"; release = "6.1.0"; host = "box";'
    text = f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ integer {{ size = 32; align = 8; }} magic; integer {{ size = 32; align = 8; }} stream_id; }}; }};
env {{ domain = "kernel"; sysname = "Linux"; {env} }};
clock {{ name = "tsc"; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.tsc.value; }} := t64;
stream {{ id = 0;
 packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; integer {{ size = 64; align = 8; }} content_size; integer {{ size = 64; align = 8; }} packet_size;
  integer {{ size = 32; align = 8; }} cpu_id; }};
 event.header := struct {{ integer {{ size = 16; align = 8; }} id; t64 timestamp; }};
}};
"""
    for name, (id, keys) in classes.items():
        of = "".join(f"string {k}; " if k in TEXTS else f"integer {{ size = 64; align = 8; }} {k}; " for k in keys)
        text += f'event {{ id = {id}; name = "{name}"; stream_id = 0; fields := struct {{ {of}}}; }};\n'
    open(f"{target}/metadata", "w").write(text)
    for cpu, list_ in streams.items():
        with open(f"{target}/stream_{cpu}", "wb") as f:
            for k in range(0, len(list_), 200):
                part = list_[k:k + 200]
                body = b"".join(b for _, b in part)
                bits = 8 * (8 + 8 * 4 + 4 + len(body))
                f.write(struct.pack("<IIQQQQI", 0xc1fc1fc1, 0, part[0][0], part[-1][0], bits, bits, cpu) + body)


# ---- what is said of it ----

def is_called(label, comm, pid):
    """Whether a lane is that of a task: NAME or NAME-NUMBER, NAME the last that it had."""
    return bool(label) and re.search(rf"/{re.escape(comm)}(-{pid})?(#\d+)?$", label)


def check():
    names, woken = {}, {}
    for tick, _, cpu, pid, comm, inside, name, f in records:
        if name == "sched_switch":
            names[int(f["prev_pid"])] = f["prev_comm"]
            names[int(f["next_pid"])] = f["next_comm"]
        elif name == "sched_waking":
            woken[int(f["pid"]), tick] = (pid, comm, inside)
    waits = [w for w in json.load(open(target)) if w["why"] == "blocked"]
    for w in waits:  # the timeline begins with the first record
        w["begin_ns"] += shown[0][0]
        w["end_ns"] += shown[0][0]
    n, told = Counter(), 0

    def judge(what, w, right, known=True):
        nonlocal told
        n[what] += 1
        if w["by"] is None:
            n[what + ": not known"] += known
        elif not w["sure"]:
            n[what + (": perhaps, right" if right else ": perhaps, wrong")] += 1
        else:
            n[what + (": right" if right else ": WRONG")] += 1
            if not right and told < 5:
                told += 1
                print("WRONG:", what, w, "it was", woken.get((tid, w["end_ns"])))

    by_tid = {}
    for w in waits:
        tids = [t for t, comm in names.items() if is_called(w["thread"], comm, t)]
        if len(tids) == 1:
            by_tid.setdefault(tids[0], []).append(w)
    for tid, list_ in by_tid.items():
        for w in list_:
            if (tid, w["end_ns"]) not in woken:
                n["ends otherwise"] += 1
                continue
            pid, comm, inside = woken[tid, w["end_ns"]]
            if inside == ".":
                right = w["context"] == "task" and is_called(w["by"], names.get(pid, comm), pid)
                judge("woken by a task" if pid else "woken by the idle task", w, right, pid != 0)
            elif inside == "s":
                # ksoftirqd is woken between the events of softirqs
                judge("ksoftirqd woken" if names[tid].startswith("ksoftirqd/") else "woken in a softirq", w, w["context"] in ("softirq", "timer", "network", "block"))
            else:
                judge("woken in an interrupt", w, w["context"] in ("interrupt", "timer", "processor"))
    for tid, begin, end, what, by in scripted:
        mine = [w for w in by_tid.get(tid, []) if begin <= w["begin_ns"] and w["end_ns"] <= end]
        if not mine:  # it had not to wait
            n["no wait"] += 1
            continue
        # there may be others in it, as for the memory that a fork is copying
        right = [w for w in mine if (w["context"] == "timer" if what == "timer" else w["context"] == "network" if what == "loopback" else
                                     w["context"] == "task" and is_called(w["by"], names.get(by, "?"), by))]
        unknown = [w for w in mine if w["by"] is None]
        judge(f"scripted, {what}", (right or unknown or mine)[-1], bool(right))
    print(kind, *(f"{what}: {count}," for what, count in sorted(n.items())), file=sys.stderr)
    wrong = sum(v for k, v in n.items() if k.endswith("WRONG"))
    of = {part: [(k, v) for k, v in n.items() if k.startswith(part)] for part in ("woken", "scripted")}
    for part, list_ in of.items():
        all_ = sum(v for k, v in list_ if ":" not in k)
        unknown = sum(v for k, v in list_ if ":" in k and not k.endswith(": right"))
        if all_ < 200 or (kind != "flags" and unknown > 0.02 * all_):
            print(f"{part}: {unknown} of {all_} not surely known")
    print(f"{kind}: {'nothing is wrong' if not wrong else f'{wrong} WRONG'}{'' if kind == 'flags' else ', nearly all is known'}")


write() if verb == "write" else check()
