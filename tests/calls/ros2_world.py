#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Simulated ROS 2 nodes on two hosts, each with a clock of its own, of which every chain is known, as CTF traces.

    ros2_world.py FOLDER SEED STYLE > truth.json

Timers publish; callbacks publish in turn, to subscribers in this and other processes and hosts, also several of
one topic; an executor has two threads; takes find nothing at times. Addresses are the same in all processes.
STYLE: `stamp`, where rmw_publish has a timestamp, or `dds`, where dds:write has it. The truth: for each chain, as
names of callbacks, the lengths in ns from the begin of the first to the end of the last.
"""
import heapq, json, os, random, struct, sys

folder, seed, style = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rnd = random.Random(seed)
END = int(float(os.environ.get("SECONDS_LONG", "20")) * 1e9)
OFFSET, DRIFT = [0, rnd.randrange(10 ** 6, 10 ** 9)], [0.0, rnd.uniform(-20e-6, 20e-6)]

P, U, S = "p", "u", "s"  # a pointer, a number, a text
events = {
    "ros2:rcl_node_init": [("node_handle", P), ("rmw_handle", P), ("node_name", S), ("namespace", S)],
    "ros2:rcl_publisher_init": [("publisher_handle", P), ("node_handle", P), ("topic_name", S)],
    "ros2:rcl_subscription_init": [("subscription_handle", P), ("node_handle", P), ("rmw_subscription_handle", P), ("topic_name", S)],
    "ros2:rclcpp_subscription_init": [("subscription_handle", P), ("subscription", P)],
    "ros2:rclcpp_subscription_callback_added": [("subscription", P), ("callback", P)],
    "ros2:rcl_timer_init": [("timer_handle", P), ("period", U)],
    "ros2:rclcpp_timer_callback_added": [("timer_handle", P), ("callback", P)],
    "ros2:rclcpp_timer_link_node": [("timer_handle", P), ("node_handle", P)],
    "ros2:rclcpp_callback_register": [("callback", P), ("symbol", S)],
    "ros2:callback_start": [("callback", P), ("is_intra_process", U)],
    "ros2:callback_end": [("callback", P)],
    "ros2:rclcpp_publish": [("message", P)],
    "ros2:rcl_publish": [("publisher_handle", P), ("message", P)],
    "ros2:rmw_publish": [("message", P)] + ([("timestamp", U)] if style == "stamp" else []),
    "dds:write": [("writer", P), ("timestamp", U)],
    "ros2:rmw_take": [("rmw_subscription_handle", P), ("message", P), ("source_timestamp", U), ("taken", U)],
    "ros2:rclcpp_executor_execute": [("handle", P)],
    "ros2:rclcpp_executor_wait_for_work": [("timeout", U)],
}
ids = {n: i for i, n in enumerate(events)}
out = [[], []]


def emit(thread, t, name, *values):
    host = thread.process.host
    local = round((t + OFFSET[host]) * (1 + DRIFT[host]))
    body = struct.pack("<HQ", ids[name], local) + struct.pack("<qq", thread.tid, thread.process.pid) + thread.process.name.encode() + b"\0"
    for (_, what), v in zip(events[name], values, strict=True):
        body += v.encode() + b"\0" if what == S else struct.pack("<Q", v)
    out[host].append((local, body))


def write(host):
    path = f"{folder}/host{host}"
    os.makedirs(path)
    text = f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; uuid = "00000000-0000-0000-{seed:04x}-00000000000{host}";
 packet.header := struct {{ integer {{ size = 32; align = 8; }} magic; integer {{ size = 32; align = 8; }} stream_id; }}; }};
env {{ domain = "ust"; tracer_name = "lttng-ust"; hostname = "host{host}"; }};
clock {{ name = "monotonic{host}"; uuid = "00000000-0000-0000-{seed:04x}-0000000000c{host}"; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.monotonic{host}.value; }} := t64;
stream {{ id = 0;
 packet.context := struct {{ t64 timestamp_begin; t64 timestamp_end; integer {{ size = 64; align = 8; }} content_size; integer {{ size = 64; align = 8; }} packet_size; }};
 event.header := struct {{ integer {{ size = 16; align = 8; }} id; t64 timestamp; }};
 event.context := struct {{ integer {{ size = 64; align = 8; signed = true; }} _vtid; integer {{ size = 64; align = 8; signed = true; }} _vpid; string _procname; }};
}};
"""
    for n, i in ids.items():
        fields = "".join(f"string _{f}; " if w == S else f"integer {{ size = 64; align = 8; base = {16 if w == P else 10}; }} _{f}; " for f, w in events[n])
        text += f'event {{ id = {i}; name = "{n}"; stream_id = 0; fields := struct {{ {fields}}}; }};\n'
    open(f"{path}/metadata", "w").write(text)
    out[host].sort(key=lambda e: e[0])
    body = b"".join(b for _, b in out[host])
    bits = 8 * (8 + 32 + len(body))
    open(f"{path}/stream", "wb").write(struct.pack("<IIQQQQ", 0xc1fc1fc1, 0, out[host][0][0], out[host][-1][0], bits, bits) + body)


class Process:
    def __init__(self, host, name, pid):
        self.host, self.name, self.pid, self.objects = host, name, pid, 0x7f0000001000  # the same in each

    def address(self):
        self.objects += 0x40
        return self.objects


class Thread:
    def __init__(self, process, tid):
        self.process, self.tid, self.busy = process, tid, 0


class Callback:
    def __init__(self, thread, name, publishes):
        self.threads, self.name, self.publishes = thread, name, publishes
        self.address, self.rmw = None, 0


now, queue, count, stamps, truth = 0, [], 0, set(), {}
subscribers = {}


def at(t, what, *args):
    global count
    count += 1
    heapq.heappush(queue, (t, count, what, args))


def begin(thread, t, callback, chain, root):
    """Runs the callback; returns when it is done."""
    emit(thread, t, "ros2:callback_start", callback.address, 0)
    root, chain, first = t if root is None else root, chain + (callback.name,), t
    for topic in callback.publishes:
        t += rnd.randrange(5_000, 100_000)
        message = 0x7ffc00000000 + rnd.randrange(8) * 64
        emit(thread, t, "ros2:rclcpp_publish", message)
        emit(thread, t + 300, "ros2:rcl_publish", callback.address + 8, message)
        stamp = 1_700_000_000_000_000_000 + t + thread.process.host
        while stamp in stamps:
            stamp += 1
        stamps.add(stamp)
        if style == "dds":
            emit(thread, t + 600, "ros2:rmw_publish", message)
            emit(thread, t + 900, "dds:write", 1, stamp)
        else:
            emit(thread, t + 900, "ros2:rmw_publish", message, stamp)
        for s in subscribers.get(topic, []):
            far = s.threads[0].process.host != thread.process.host
            at(t + 1000 + rnd.randrange(*((200_000, 900_000) if far else (20_000, 300_000))), take, s, stamp, chain, root)
        t += 2000
    t += rnd.randrange(5_000, 200_000)
    emit(thread, t, "ros2:callback_end", callback.address)
    truth.setdefault(" -> ".join(chain), []).append(t - root)
    thread.busy = t + 1000
    return first


def take(callback, stamp, chain, root):
    free = [t for t in callback.threads if t.busy <= now]
    if not free:
        return at(min(t.busy for t in callback.threads) + 1, take, callback, stamp, chain, root)
    thread = rnd.choice(free)
    t = now
    emit(thread, t, "ros2:rclcpp_executor_execute", callback.address + 16)
    if rnd.random() < .1:  # another one, of which there is nothing
        emit(thread, t + 500, "ros2:rmw_take", callback.rmw, 0x7ffc00000000, 0, 0)
        t += 1000
    emit(thread, t + 1000, "ros2:rmw_take", callback.rmw, 0x7ffc00000040, stamp, 1)
    if rnd.random() < .02:  # taken, and thrown away; then a timer runs in this thread
        thread.busy = t + 5000
        return
    begin(thread, t + 3000, callback, chain, root)


def tick(callback, period):
    at(now + period, tick, callback, period)
    free = [t for t in callback.threads if t.busy <= now]
    if free:
        thread = rnd.choice(free)
        emit(thread, now, "ros2:rclcpp_executor_execute", callback.address + 16)
        begin(thread, now + 1000, callback, (), None)


tids = iter(range(100, 1000))
processes = [Process(0, "camera", next(tids)), Process(0, "fusion", next(tids)), Process(1, "control", next(tids)), Process(1, "drive", next(tids))]
threads = [[Thread(p, p.pid)] + ([Thread(p, next(tids))] if i == 1 else []) for i, p in enumerate(processes)]
start = 1_000_000
plan = [  # process, node, namespace, timer period or topic, topics published
    (0, "camera", "/", 33_000_000, ["/image"]), (0, "imu", "/sensors", 10_000_000, ["/imu"]),
    (1, "fusion", "/", "/image", ["/pose", "/map"]), (1, "filter", "/", "/imu", ["/pose"]),
    (2, "control", "/", "/pose", ["/cmd"]), (2, "log", "/", "/pose", []), (3, "drive", "/", "/cmd", []), (0, "view", "/", "/map", []), (0, "echo", "/", "/cmd", []),
]
for i, (p, node, namespace, source, topics) in enumerate(plan):
    process, main = processes[p], threads[p][0]
    t = start + i * 100_000
    handle = process.address()
    emit(main, t, "ros2:rcl_node_init", handle, 0, node, namespace)
    name = f"{'' if namespace == '/' else namespace}/{node}"
    inner = process.address()
    if isinstance(source, int):
        callback = Callback(threads[p], f"{name} timer {source / 1e6:.3g}.0 ms", topics)
        callback.address = process.address()
        emit(main, t + 1000, "ros2:rcl_timer_init", inner, source)
        emit(main, t + 2000, "ros2:rclcpp_timer_callback_added", inner, callback.address)
        emit(main, t + 3000, "ros2:rclcpp_timer_link_node", inner, handle)
        at(start + 2_000_000 + rnd.randrange(source), tick, callback, source)
    else:
        callback = Callback(threads[p], f"{name} {source}", topics)
        sub = process.address()
        callback.address, callback.rmw = process.address(), process.address()
        emit(main, t + 1000, "ros2:rcl_subscription_init", inner, handle, callback.rmw, source)
        emit(main, t + 2000, "ros2:rclcpp_subscription_init", inner, sub)
        emit(main, t + 3000, "ros2:rclcpp_subscription_callback_added", sub, callback.address)
        subscribers.setdefault(source, []).append(callback)
    emit(main, t + 4000, "ros2:rclcpp_callback_register", callback.address, "void symbol()")
    for topic in topics:
        emit(main, t + 5000, "ros2:rcl_publisher_init", process.address(), handle, topic)
while queue:
    now, _, what, args = heapq.heappop(queue)
    if now > END:
        break
    what(*args)
write(0)
write(1)
json.dump(truth, sys.stdout)
