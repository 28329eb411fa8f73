#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A simulated Linux host of which it is known who woke whom, as a CTF trace.

    linux_world.py FOLDER SEED KIND > truth.json

Cores run tasks that sleep, lock, send each other messages, read from a disk and a network, fork, wait for
their children and end; interrupts come between, within each other, and on cores that are idle. KIND says what
the trace shows of it:

    new    LTTng since 2.7 on Linux 5.10: sched_waking, and all kinds of interrupts
    old    LTTng before 2.7 on Linux 3.10: sched_wakeup alone, of another core's interrupt where that is another
           one; its states of tasks
    perf   as perf writes it: tids are called pids, flags tell in which context a record is
    flags  the same without any interrupt
    blind  as new, without any interrupt
    lossy  as new, with packets that are lost
    ust    as new, in FOLDER/kernel; and FOLDER/ust is what the programs trace themselves: a job around each read

    guests the same, with every other program in a container, where it and its children have other numbers, that
           others have outside; the kernel's trace tells of them, but for the children
    spaces the same, and the programs' records have the namespace

and likewise of Zephyr, whose threads are ready once they are woken:

    zephyr      one core; 32 bits of time, which go round, one stream without packets
    zephyr64    64 bits of time
    zephyr-ring the same in slots of a ring in memory, in that order: the last ones stand before the first, one is empty
    zephyr-smp  four cores in one stream, each event with its core
    zephyr-lost the same without the core: nothing can be told

The truth is a list of [tid, from, until, waker, context] of the times that tasks were blocked; waker: a tid,
the name of an interrupt, or null at the end of the trace.
"""
import heapq, json, os, random, struct, sys

folder, seed, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rnd = random.Random(seed)
ZEPHYR = kind.startswith("zephyr")
CORES, END = 1 if kind in ("zephyr", "zephyr64", "zephyr-ring") else 4, int(float(os.environ.get("SECONDS_LONG", "0.04")) * 1e9)
MAX_TID = 400  # numbers are used again
NEW = kind != "old"

# ---- the trace ----

I, S = "i", "s"
names = {
    "switch": "sched_switch", "waking": "sched_waking", "wakeup": "sched_wakeup", "wakeup_new": "sched_wakeup_new",
    "fork": "sched_process_fork", "exit": "sched_process_exit", "exec": "sched_process_exec", "migrate": "sched_migrate_task",
    "irq": "irq_handler_entry", "irq_end": "irq_handler_exit",
    "softirq": "irq_softirq_entry" if NEW else "softirq_entry", "softirq_end": "irq_softirq_exit" if NEW else "softirq_exit",
    "hrtimer": "timer_hrtimer_expire_entry" if NEW else "hrtimer_expire_entry",
    "hrtimer_end": "timer_hrtimer_expire_exit" if NEW else "hrtimer_expire_exit",
    "ltimer": "x86_irq_vectors_local_timer_entry", "ltimer_end": "x86_irq_vectors_local_timer_exit",
    "ipi": "x86_irq_vectors_reschedule_entry", "ipi_end": "x86_irq_vectors_reschedule_exit",
    "enter": "syscall_entry_read" if NEW else "sys_read", "leave": "syscall_exit_read" if NEW else "exit_syscall",
}
PERF = {"switch": "sched:sched_switch", "waking": "sched:sched_waking", "wakeup": "sched:sched_wakeup", "wakeup_new": "sched:sched_wakeup_new",
        "fork": "sched:sched_process_fork", "exit": "sched:sched_process_exit", "exec": "sched:sched_process_exec",
        "migrate": "sched:sched_migrate_task", "irq": "irq:irq_handler_entry", "irq_end": "irq:irq_handler_exit",
        "softirq": "irq:softirq_entry", "softirq_end": "irq:softirq_exit", "hrtimer": "timer:hrtimer_expire_entry",
        "hrtimer_end": "timer:hrtimer_expire_exit", "ltimer": "irq_vectors:local_timer_entry", "ltimer_end": "irq_vectors:local_timer_exit",
        "ipi": "irq_vectors:reschedule_entry", "ipi_end": "irq_vectors:reschedule_exit", "enter": "syscalls:sys_enter_read",
        "leave": "syscalls:sys_exit_read"}
perf = kind in ("perf", "flags")
T = "pid" if perf else "tid"
fields = {
    "switch": [("prev_comm", S), (f"prev_{T}", I), ("prev_prio", I), ("prev_state", I), ("next_comm", S), (f"next_{T}", I), ("next_prio", I)],
    "waking": [("comm", S), (T, I), ("prio", I), ("target_cpu", I)], "wakeup": [("comm", S), (T, I), ("prio", I), ("target_cpu", I)],
    "wakeup_new": [("comm", S), (T, I), ("prio", I), ("target_cpu", I)],
    "fork": [("parent_comm", S), (f"parent_{T}", I), ("child_comm", S), (f"child_{T}", I)], "exit": [("comm", S), (T, I), ("prio", I)],
    "exec": [("filename", S), (T, I), (f"old_{T}", I)], "migrate": [("comm", S), (T, I), ("prio", I), ("orig_cpu", I), ("dest_cpu", I)],
    "irq": [("irq", I), ("name", S)], "irq_end": [("irq", I), ("ret", I)], "softirq": [("vec", I)], "softirq_end": [("vec", I)],
    "hrtimer": [("hrtimer", I), ("now", I), ("function", I)], "hrtimer_end": [("hrtimer", I)],
    "ltimer": [("vector", I)], "ltimer_end": [("vector", I)], "ipi": [("vector", I)], "ipi_end": [("vector", I)],
    "enter": [("fd", I)], "leave": [("ret", I)],
}
GUESTS = kind in ("guests", "spaces")
if GUESTS:
    names |= {"dump": "lttng_statedump_process_state", "pid_ns": "lttng_statedump_process_pid_ns"}
    fields |= {"dump": [("tid", I), ("pid", I), ("name", S), ("status", I)], "pid_ns": [("tid", I), ("vtid", I), ("vpid", I), ("ns_level", I), ("ns_inum", I)]}
    fields["fork"] += [("child_pid", I), ("child_ns_inum", I), ("parent_ns_inum", I)]
interrupts = {"irq", "irq_end", "softirq", "softirq_end", "hrtimer", "hrtimer_end", "ltimer", "ltimer_end", "ipi", "ipi_end"}
hidden = {"waking", "ltimer", "ltimer_end", "ipi", "ipi_end"} if kind == "old" else interrupts if kind == "flags" else \
    interrupts if kind == "blind" else set()
shown = [n for n in names if n not in hidden]
records = [[] for _ in range(CORES)]


# Zephyr's own events: subsys/tracing/ctf
z_names = {0x10: "thread_switched_out", 0x11: "thread_switched_in", 0x13: "thread_create", 0x14: "thread_abort", 0x17: "thread_ready",
           0x18: "thread_pending", 0x1a: "thread_name_set", 0x1b: "isr_enter", 0x1c: "isr_exit", 0x1e: "idle",
           0x24: "semaphore_take_enter", 0x26: "semaphore_take_exit"}
z_records = []


def z_emit(core, t, id, tid=None, comm="", value=None):
    base = t + 4_290_000_000
    body = struct.pack("<QH", base, id) if kind in ("zephyr64", "zephyr-ring") else struct.pack("<IB", base & 0xffffffff, id)
    if tid is not None:
        body += struct.pack("<I20s", 0x20000000 + 64 * tid, comm.encode())
    if value is not None:
        body += struct.pack("<I", value)
    if kind == "zephyr-smp":
        body += struct.pack("<I", core.number)
    z_records.append((t, len(z_records), body))


def z_event(core, t, name, values):
    if name == "switch":
        comm, tid, _, state, next_comm, next_tid, _ = values
        if state and tid and not state & 16:
            z_emit(core, t, 0x18, tid, comm)
        z_emit(core, t, 0x10, tid or 1000 + core.number, comm if tid else f"idle 0{core.number}")
        z_emit(core, t, 0x11, next_tid or 1000 + core.number, next_comm if next_tid else f"idle 0{core.number}")
    elif name in ("waking", "wakeup_new"):
        z_emit(core, t, 0x17, values[1], values[0])
    elif name == "fork":
        z_emit(core, t, 0x13, values[3], values[2])
    elif name == "exit":
        z_emit(core, t, 0x14, values[1], values[0])
    elif name == "exec":
        z_emit(core, t, 0x1a, values[1], values[0].split("/")[-1])
    elif name in ("irq", "softirq", "hrtimer", "ltimer", "ipi"):
        z_emit(core, t, 0x1b)
    elif name in ("irq_end", "softirq_end", "hrtimer_end", "ltimer_end", "ipi_end"):
        z_emit(core, t, 0x1c)
    elif name in ("enter", "leave"):
        z_emit(core, t, 0x24 if name == "enter" else 0x26, value=7)


def z_write():
    os.makedirs(folder)
    u = lambda n: f"integer {{ size = {n}; align = 8; }}"
    text = f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; {f"packet.header := struct {{ {u(32)} magic; }};" if kind == "zephyr-ring" else ""} }};
stream {{ event.header := struct {{ {u(64) if kind in ("zephyr64", "zephyr-ring") else u(32)} timestamp; {u(16) if kind in ("zephyr64", "zephyr-ring") else u(8)} id; }};
 {f"packet.context := struct {{ {u(64)} timestamp_begin; {u(64)} timestamp_end; {u(32)} content_size; {u(32)} packet_size; {u(64)} packet_seq_num; }};" if kind == "zephyr-ring" else ""} }};
"""
    last = f"{u(32)} core_id; " if kind == "zephyr-smp" else ""
    for id, n in z_names.items():
        of = f"{u(32)} thread_id; integer {{ size = 8; align = 8; encoding = ASCII; }} name[20]; " if n.startswith("thread") else \
            f"{u(32)} id; " if n.startswith("sem") else ""
        text += f"event {{ name = {n}; id = {id}; " + (f"fields := struct {{ {of}{last}}}; " if of or last else "") + "};\n"
    open(f"{folder}/metadata", "w").write(text)
    z_records.sort()
    data = b"".join(b for _, _, b in z_records)
    if kind == "zephyr-ring":
        slots, size = [], 4096
        for k in range(0, len(z_records), 60):
            part = z_records[k:k + 60]
            body = b"".join(b for _, _, b in part)
            slots.append(struct.pack("<IQQIIQ", 0xc1fc1fc1, part[0][0] + 4_290_000_000, part[-1][0] + 4_290_000_000, 8 * (36 + len(body)), 8 * size, len(slots) + 1) +
                         body.ljust(size - 36, b"\0"))
        slots.append(struct.pack("<IQQIIQ", 0xc1fc1fc1, 0, 0, 8 * 36, 8 * size, 0).ljust(size, b"\0"))
        data = b"".join(slots[len(slots) // 3:] + slots[:len(slots) // 3])
    open(f"{folder}/data", "wb").write(data)


ust = []


def write_ust():
    os.makedirs(f"{folder}/ust")
    with open(f"{folder}/ust/metadata", "w") as f:
        f.write(f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ integer {{ size = 32; align = 8; }} magic; integer {{ size = 32; align = 8; }} stream_id; }}; }};
env {{ hostname = "box"; domain = "ust"; tracer_name = "lttng-ust"; }};
clock {{ name = "monotonic"; {CLOCK} freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.monotonic.value; }} := t64;
stream {{ id = 0;
 packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; integer {{ size = 64; align = 8; }} content_size; integer {{ size = 64; align = 8; }} packet_size; }};
 event.header := struct {{ integer {{ size = 16; align = 8; }} id; t64 timestamp; }};
 event.context := struct {{ integer {{ size = 32; align = 8; }} _vtid; integer {{ size = 32; align = 8; }} _vpid; string _procname;{" integer { size = 32; align = 8; } _pid_ns;" if kind == "spaces" else ""} }};
}};
event {{ id = 0; name = "app:job_begin"; stream_id = 0; }};
event {{ id = 1; name = "app:job_end"; stream_id = 0; }};
""")
    ust.sort()
    body = b"".join(struct.pack("<HQII", end, t, tid, tid) + comm.encode() + b"\0" + (struct.pack("<I", ns) if kind == "spaces" else b"")
                    for t, end, tid, comm, ns in ust)
    bits = 8 * (8 + 32 + len(body))
    with open(f"{folder}/ust/stream", "wb") as f:
        f.write(struct.pack("<IIQQQQ", 0xc1fc1fc1, 0, ust[0][0], ust[-1][0], bits, bits) + body)


def emit(core, t, name, *values):
    if name in ("enter", "leave"):
        ust.append((t + (5 if name == "leave" else -5), name == "leave", core.current.vtid, core.current.comm, space(core.current)))
    if ZEPHYR:
        return z_event(core, t, name, values)
    if name in hidden:
        return
    flags = (8 if core.context and core.context[-1][0] not in ("softirq",) else 0) | (16 if any(c[0] == "softirq" for c in core.context) else 0)
    body = b""
    if perf:
        body += struct.pack("<ib", core.current.tid if core.current else 0, flags)
    for (_, what), v in zip(fields[name], values, strict=True):
        body += v.encode() + b"\0" if what == S else struct.pack("<q", v)
    records[core.number].append((t, struct.pack("<HQ", shown.index(name), t) + body))


CLOCK = 'uuid = "11111111-2222-3333-4444-555555555555"; offset = 1700000000000000000;' if (kind == "ust" or GUESTS) else ""


def write():
    global folder
    if (kind == "ust" or GUESTS):
        write_ust()
        folder += "/kernel"
    os.makedirs(folder)
    release = "3.10.31" if kind == "old" else "5.10.0-8-amd64"
    env = f'hostname = "box"; domain = "kernel"; sysname = "Linux"; kernel_release = "{release}"; tracer_name = "lttng-modules";' if not perf else \
        f'host = "box"; sysname = "Linux"; release = "{release}"; domain = "kernel"; tracer_name = "perf";'
    cpu = "perf_cpu" if perf else "cpu_id"
    text = f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ integer {{ size = 32; align = 8; }} magic; integer {{ size = 32; align = 8; }} stream_id; }}; }};
env {{ {env} }};
clock {{ name = "monotonic"; {CLOCK} freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.monotonic.value; }} := t64;
stream {{ id = 0;
 packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; integer {{ size = 64; align = 8; }} content_size; integer {{ size = 64; align = 8; }} packet_size;
  integer {{ size = 64; align = 8; }} events_discarded; integer {{ size = 32; align = 8; }} {"cpu_id"}; }};
 event.header := struct {{ integer {{ size = 16; align = 8; }} id; t64 timestamp; }};
}};
"""
    common = "integer { size = 32; align = 8; signed = true; } common_pid; integer { size = 8; align = 8; } common_flags; " if perf else ""
    for i, n in enumerate(shown):
        name = PERF[n] if perf else names[n]
        of = common + "".join(f"string {f}; " if w == S else f"integer {{ size = 64; align = 8; signed = true; }} {f}; " for f, w in fields[n])
        text += f'event {{ id = {i}; name = "{name}"; stream_id = 0; fields := struct {{ {of}}}; }};\n'
    with open(f"{folder}/metadata", "w") as f:
        f.write(text)
    for core, list_ in enumerate(records):
        lost = 0
        with open(f"{folder}/stream_{core}", "wb") as f:
            for k in range(0, len(list_), 100):
                part = list_[k:k + 100]
                if kind == "lossy" and 0 < k < len(list_) - 100 and rnd.random() < 0.2:  # the last tells of those before
                    lost += len(part)
                    continue
                body = b"".join(b for _, b in part)
                bits = 8 * (8 + 8 * 5 + 4 + len(body))
                f.write(struct.pack("<II", 0xc1fc1fc1, 0) + struct.pack("<QQQQQI", part[0][0], part[-1][0], bits, bits, lost, core) + body)


# ---- the world ----

now, queue, count = 0, [], 0


def at(t, what, *args):
    global count
    count += 1
    heapq.heappush(queue, (t, count, what, args))


class Core:
    def __init__(self, number):
        self.number, self.current, self.ready, self.context = number, None, [], []
        self.busy = 0     # until then an interrupt runs
        self.end = None   # token of the end of what runs
        self.last = 0

    def tick(self, t):
        self.last = max(self.last + 20, t)
        return self.last


class Task:
    def __init__(self, tid, comm, prio, program):
        self.tid, self.vtid, self.comm, self.prio, self.program = tid, tid, comm, prio, program
        self.state = "new"  # running, ready, blocked, dead
        self.core, self.since, self.left, self.waiting, self.children, self.waker = None, None, 0, None, [], None
        self.ready_at = 0


class Lock:
    def __init__(self): self.owner, self.waiters = None, []


class Box:
    def __init__(self): self.n, self.waiters = 0, []


cores = [Core(i) for i in range(CORES)]
tasks, truth = {}, []
locks, boxes = [Lock() for _ in range(3)], [Box() for _ in range(6)]
ready_state = lambda: 0 if rnd.random() < .3 else (256 if NEW else 1024)


def space(task):
    return 4026532000 + (task.vtid != task.tid)


def new_tid():
    free = [t for t in range(2, MAX_TID) if t not in tasks or tasks[t].state == "dead"]
    return rnd.choice(free[:5])


def blocked_ends(task, t, by, context):
    if task.state == "blocked" and task.since is not None:
        truth.append([task.tid, task.since, t, by, context])
        task.since = None


def context_of(core):
    """Who would be the waker on this core: its name, and what kind it is."""
    if core.context:
        return core.context[-1][1], core.context[-1][2]
    return (core.current.tid, "task") if core.current else (None, None)


def wake(core, task, t, first="waking"):
    """`task` becomes ready, by what goes on on `core`."""
    by, context = context_of(core)
    idle = [c for c in cores if not c.current and not c.ready]
    target = task.core if task.core and (not task.core.current or rnd.random() < .5) else (rnd.choice(idle) if idle and rnd.random() < .8 else rnd.choice(cores))
    t = core.tick(t)
    if first == "waking":
        emit(core, t, "waking", task.comm, task.tid, task.prio, target.number)
    if task.core and task.core is not target:
        emit(core, core.tick(t), "migrate", task.comm, task.tid, task.prio, task.core.number, target.number)
    at_switch = t
    if first != "waking":
        at_switch = core.tick(t)
        emit(core, at_switch, "wakeup_new", task.comm, task.tid, task.prio, target.number)
        blocked_ends(task, at_switch, by, context)
        ready(task, target, at_switch)
    elif target is core or rnd.random() < .5:
        w = core.tick(t)
        emit(core, w, "wakeup", task.comm, task.tid, task.prio, target.number)
        blocked_ends(task, w if kind == "old" else t, by, context)
        ready(task, target, w)
    else:  # at its own core, by an interrupt between processors
        task.state, task.waker = "woken", (t, by, context)
        at(t + rnd.randrange(500, 3000), remote, target, task)


def ready(task, core, t):
    task.state, task.core, task.ready_at = "ready", core, t
    core.ready.append(task)
    at(t + 50, reschedule, core)


def remote(core, task):
    if now < core.busy:
        return at(core.busy + 10, remote, core, task)
    t = begin(core, now, ("ipi", "reschedule", "processor"), ("ipi", 253))
    w = core.tick(t + 100)
    emit(core, w, "wakeup", task.comm, task.tid, task.prio, core.number)
    since, (waking, by, context) = task.since, task.waker
    truth.append([task.tid, since, w if kind == "old" else waking, by, context])
    task.since = None
    ready(task, core, w)
    finish(core, ("ipi_end", 253))


# ---- interrupts ----

def begin(core, t, context, event):
    t = core.tick(t)
    core.context.append(context)
    emit(core, t, *event)
    return t


def finish(core, event):
    t = core.tick(core.last + 100)
    emit(core, t, *event)
    core.context.pop()
    if not core.context:
        core.busy = t
        if core.end:  # what runs has lost this time
            core.end[0] = max(core.end[0], t) + 200


def interrupted(core, tell, task):
    """A device, or the clock, wakes a task that waits for it."""
    if now < core.busy or core.context:
        return at(max(core.busy, now) + 10, interrupted, core, tell, task)
    core.busy = now + 1
    if tell == "timer":
        begin(core, now, ("ltimer", "local timer", "timer"), ("ltimer", 236))
        timer = rnd.randrange(1, 1 << 40)
        begin(core, now, ("hrtimer", "timer", "timer"), ("hrtimer", timer, now, 77))
        wake(core, task, core.last)
        finish(core, ("hrtimer_end", timer))
        finish(core, ("ltimer_end", 236))
    else:
        irq, name, vec, soft, context = (29, "ahci", 4, "softirq BLOCK", "block") if tell == "disk" else (30, "eth0", 3, "softirq NET_RX", "network")
        begin(core, now, ("irq", f"interrupt {name}", "interrupt"), ("irq", irq, name))
        if rnd.random() < .2:  # at once
            wake(core, task, core.last)
            return finish(core, ("irq_end", irq, 1))
        finish(core, ("irq_end", irq, 1))
        begin(core, core.last, ("softirq", soft, context), ("softirq", vec))
        if rnd.random() < .3:  # another one, within it
            begin(core, core.last, ("irq", "interrupt usb", "interrupt"), ("irq", 16, "usb"))
            finish(core, ("irq_end", 16, 0))
        wake(core, task, core.last)
        finish(core, ("softirq_end", vec))


def noise(core):
    """An interrupt that wakes nobody."""
    at(now + rnd.randrange(20_000, 200_000), noise, core)
    if now < core.busy or core.context:
        return
    core.busy = now + 1
    begin(core, now, ("ltimer", "local timer", "timer"), ("ltimer", 236))
    finish(core, ("ltimer_end", 236))
    if rnd.random() < .3:
        begin(core, core.last, ("softirq", "softirq RCU", "softirq"), ("softirq", 9))
        finish(core, ("softirq_end", 9))


# ---- the scheduler ----

def switch(core, t, state, to):
    t = core.tick(t)
    was = core.current
    emit(core, t, "switch", was.comm if was else f"swapper/{core.number}", was.tid if was else 0, 120, state,
         to.comm if to else f"swapper/{core.number}", to.tid if to else 0, 120)
    core.current, core.end = to, None
    if to:
        to.state, to.core = "running", core
        core.end = token = [t + max(to.left, 100)]
        at(token[0], ends, core, token)
    return t


def pick(core):
    """The first of those that are ready by now."""
    core.ready.sort(key=lambda task: task.prio)
    for i, task in enumerate(core.ready):
        if task.ready_at <= max(now, core.last):
            return core.ready.pop(i)
    return None


def reschedule(core):
    if now < core.busy or core.context:
        return at(max(core.busy, now) + 10, reschedule, core)
    able = [task for task in core.ready if task.ready_at <= max(now, core.last)]
    if not able:
        return
    if not core.current:
        switch(core, now, 0, pick(core))
    elif min(task.prio for task in able) < core.current.prio:
        task = core.current
        task.left = max(core.end[0] - now, 0) if core.end else 0
        task.state, task.ready_at = "ready", now
        to = pick(core)
        core.ready.append(task)
        switch(core, now, ready_state(), to)


def block(core, state=1):
    task = core.current
    task.state = "blocked"
    task.since = switch(core, now, state, pick(core))


def ends(core, token):
    """What the task computed is done: its next step."""
    if token is not core.end:
        return
    if now < token[0]:
        return at(token[0], ends, core, token)
    if now < core.busy or core.context:
        return at(max(core.busy, now) + 10, ends, core, token)
    task = core.current
    step(core, task)
    if core.current is task and core.end is token:
        core.end = token = [max(now, core.last) + max(task.left, 50)]
        at(token[0], ends, core, token)


def step(core, task):
    task.left = 0
    try:
        op = next(task.program)
    except StopIteration:
        op = ("exit",)
    what, t = op[0], core.tick(now)
    if what == "run":
        task.left = op[1]
    elif what == "sleep":
        at(now + op[1], interrupted, rnd.choice(cores), "timer", task)
        block(core)
    elif what in ("disk", "net"):
        at(now + op[1], interrupted, rnd.choice(cores), what, task)
        block(core, 2 if what == "disk" else 1)
    elif what == "lock":
        lock = locks[op[1]]
        if lock.owner:
            lock.waiters.append(task)
            block(core, 2)
        else:
            lock.owner = task
    elif what == "unlock":
        lock = locks[op[1]]
        lock.owner = lock.waiters.pop(0) if lock.waiters else None
        if lock.owner:
            wake(core, lock.owner, t)
    elif what == "send":
        box = boxes[op[1]]
        if box.waiters:
            wake(core, box.waiters.pop(0), t)
        else:
            box.n = min(box.n + 1, 3)
    elif what == "receive":
        box = boxes[op[1]]
        if box.n:
            box.n -= 1
        else:
            box.waiters.append(task)
            at(now + rnd.randrange(300_000, 900_000), give_up, box, task)
            block(core)
    elif what == "enter":
        emit(core, t, "enter", 3)
    elif what == "leave":
        emit(core, t, "leave", 0)
    elif what == "yield":
        to = pick(core)
        if to:
            task.state, task.core, task.ready_at = "ready", core, now
            core.ready.append(task)
            switch(core, now, 0, to)
    elif what == "fork":
        child = Task(new_tid(), task.comm, task.prio, program(op[1] + 1))
        tasks[child.tid] = child
        task.children.append(child)
        if task.vtid != task.tid:
            child.vtid = 5000 + child.tid
        emit(core, t, "fork", task.comm, task.tid, child.comm, child.tid, *([child.tid, space(child), space(task)] if GUESTS else []))
        child.state, child.since = "blocked", t
        wake(core, child, core.last, "fork")
    elif what == "exec":
        task.comm = f"t{task.tid}"
        emit(core, t, "exec", f"/usr/bin/{task.comm}", task.tid, task.tid)
    elif what == "wait":
        child = task.children.pop(0)
        if child.state != "dead":
            child.waiting = task
            block(core)
    elif what == "exit":
        emit(core, t, "exit", task.comm, task.tid, task.prio)
        if task.waiting:
            wake(core, task.waiting, core.last)
        task.state = "dead"
        switch(core, core.last, 16 if NEW else 64, pick(core))


def give_up(box, task):
    """A timeout ends the waiting, if nothing else has."""
    if task in box.waiters:
        box.waiters.remove(task)
        interrupted_soon(task)


def interrupted_soon(task):
    at(now + 10, interrupted, rnd.choice(cores), "timer", task)


def program(depth):
    if depth and rnd.random() < .7:
        yield ("exec",)
    for _ in range(rnd.randrange(3, 12) if depth else 10 ** 9):
        yield ("run", rnd.randrange(500, 60_000))
        x = rnd.random()
        if x < .12:
            yield ("sleep", rnd.randrange(5_000, 400_000))
        elif x < .26:
            n = rnd.randrange(len(locks))
            yield ("lock", n)
            yield ("run", rnd.randrange(500, 40_000))
            yield ("unlock", n)
        elif x < .46:
            yield ("send", rnd.randrange(len(boxes)))
        elif x < .62:
            call = rnd.random() < .5
            if call:
                yield ("enter",)
            yield ("receive", rnd.randrange(len(boxes)))
            if call:
                yield ("leave",)
        elif x < .70:
            yield ("disk", rnd.randrange(20_000, 200_000))
        elif x < .78:
            yield ("net", rnd.randrange(20_000, 200_000))
        elif x < .83:
            yield ("yield",)
        elif x < .90 and depth < 2:
            yield ("fork", depth)
            if rnd.random() < .6:
                yield ("run", rnd.randrange(500, 20_000))
                yield ("wait",)


for i in range(9):
    first = Task(new_tid(), "", 120 - rnd.randrange(3), program(0))
    first.comm = f"t{first.tid}"
    tasks[first.tid] = first
    first.state = "ready"
    at(1000 + 137 * i, ready, first, cores[i % CORES], 1000)
if GUESTS:
    first = list(tasks.values())
    for i, task in enumerate(first):
        if i % 2:
            task.vtid = first[i - 1].tid
        emit(cores[0], 10 * i + 1, "dump", task.tid, task.tid, task.comm, 5)
        emit(cores[0], 10 * i + 2, "pid_ns", task.tid, task.vtid, task.vtid, i % 2, space(task))
for c in cores:
    at(rnd.randrange(1000, 50_000), noise, c)
while queue:
    now, _, what, args = heapq.heappop(queue)
    if now > END:
        break
    what(*args)
for r in records:
    r.sort(key=lambda e: e[0])
if ZEPHYR:
    z_write()
else:
    write()
json.dump({"blocked": truth, "zero": z_records[0][0] if ZEPHYR else min(r[0][0] for r in records if r)}, sys.stdout)
