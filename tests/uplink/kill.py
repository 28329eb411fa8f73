#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nodes capture and send, a collector collects, a server carries; any of them gets SIGKILL again and again.

usage: kill.py COEVAL NATS-SERVER SECONDS SEED MODE NODES
MODE: plain; rollback (the server's store is put back to an older copy at each kill, as by a power loss);
cluster (three servers, killed one at a time); cluster-all (all three at once); keys (TLS and nkeys); full
(the stream holds 2 MB only). What the collector has must be what the nodes have, byte for byte.
"""
import os, random, shutil, signal, socket, subprocess, sys, threading, time

sys.dont_write_bytecode = True
from compare import compare, must_end

COEVAL, NATS, SECONDS, SEED, MODE, NODES = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5], int(sys.argv[6])
rnd = random.Random(SEED)
log = open("kill.log", "w")
killed = {"node": 0, "sender": 0, "collector": 0, "server": 0}
ending = False


def free_port():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
    s.close()
    return port


class Server:
    """One or three nats-server."""

    def __init__(self):
        self.n = 3 if MODE.startswith("cluster") else 1
        self.ports = [free_port() for _ in range(self.n)]
        self.routes = [free_port() for _ in range(self.n)]
        self.url = ",".join(("tls" if MODE == "keys" else "nats") + f"://127.0.0.1:{p}" for p in self.ports)
        self.proc = [None] * self.n
        for i in range(self.n):
            with open(f"server{i}.conf", "w") as f:
                f.write(f'server_name: s{i}\nlisten: "127.0.0.1:{self.ports[i]}"\nmax_payload: 1MB\n'
                        f'jetstream {{ store_dir: "{os.getcwd()}/store{i}", max_file_store: 200MB, max_memory_store: 64MB }}\n')
                if self.n > 1:
                    routes = ", ".join(f'"nats://127.0.0.1:{r}"' for r in self.routes)
                    f.write(f'cluster {{ name: c, listen: "127.0.0.1:{self.routes[i]}", routes: [{routes}] }}\n')
                if MODE == "keys":
                    f.write(open("keys/nats-server.conf").read())
            self.start(i)

    def start(self, i):
        self.proc[i] = subprocess.Popen([NATS, "-c", f"server{i}.conf"], stdout=log, stderr=log)

    def kill(self):
        which = range(self.n) if MODE == "cluster-all" else [rnd.randrange(self.n)]
        for i in which:
            self.proc[i].kill()
            self.proc[i].wait()
        killed["server"] += 1
        if MODE == "rollback":
            if os.path.isdir("older0"):
                shutil.rmtree("store0", ignore_errors=True)
                os.rename("older0", "store0")
        time.sleep(rnd.uniform(0, 0.9))
        if MODE == "rollback" and os.path.isdir("store0"):
            shutil.copytree("store0", "older0")
        for i in which:
            self.start(i)

    def stop(self):
        for p in self.proc:
            p.kill()
            p.wait()


class Node:
    """A capture that sends, fed with samples."""

    def __init__(self, server, name):
        self.server, self.name, self.lock = server, name, threading.Lock()
        self.proc, self.log = None, open(f"{name}.log", "w+")
        self.start()
        self.thread = threading.Thread(target=self.feed, daemon=True)
        self.thread.start()

    def start(self):
        keys = ["--key", f"keys/{self.name}.nk", "--ca", "keys/ca.pem"] if MODE == "keys" else []
        self.proc = subprocess.Popen(
            [COEVAL, "capture", "--driver", "pipe", "--rate", "50kHz", "--lines", "8", "--name", self.name, "--flush", "100ms",
             "-o", self.name, "--server", self.server.url] + keys, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)

    def feed(self):
        r = random.Random(self.name)
        while not ending:
            with self.lock:
                try:
                    self.proc.stdin.write(bytes(r.randrange(256) for _ in range(1000)))
                    self.proc.stdin.flush()
                except (BrokenPipeError, OSError, ValueError):
                    pass
            time.sleep(0.05)

    def kill(self):
        with self.lock:
            self.proc.kill()
            self.proc.wait()
            killed["node"] += 1
            time.sleep(rnd.uniform(0, 0.3))
            self.start()

    def kill_sender(self):
        for pid in os.listdir("/proc"):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
            except (OSError, ValueError):
                continue
            if len(words) > 2 and words[1] == b"send" and words[2] == self.name.encode() and os.readlink(f"/proc/{pid}/cwd") == os.getcwd():
                os.kill(int(pid), signal.SIGKILL)
                killed["sender"] += 1

    def end(self):
        with self.lock:
            early = self.proc.poll()
            try:
                self.proc.stdin.close()
            except OSError:
                pass
        must_end(self.name, self.proc, self.log, early)


class Collector:
    def __init__(self, server):
        self.server = server
        self.start()

    def start(self, *more):
        keys = ["--keys", "keys"] if MODE == "keys" else []
        size = ["--stream-size", "2MB"] if MODE == "full" else ["--stream-size", "150MB"]
        self.proc = subprocess.Popen([COEVAL, "collect", "all", "--server", self.server.url] + keys + size
                                     + (["--replicas", "3"] if self.server.n > 1 else []) + list(more), stdout=log, stderr=log)

    def kill(self):
        self.proc.kill()
        self.proc.wait()
        killed["collector"] += 1
        time.sleep(rnd.uniform(1, 6) if MODE == "full" else rnd.uniform(0, 0.9))
        self.start()


def main():
    global ending
    if MODE == "keys":
        subprocess.run([COEVAL, "collect", "keys", "keys"] + sum((["--add", f"n{i:02}"] for i in range(NODES)), []), check=True)
    server = Server()
    time.sleep(0.5 if server.n == 1 else 4)
    collector = Collector(server)
    nodes = [Node(server, f"n{i:02}") for i in range(NODES)]
    begin, deck = time.monotonic(), []
    while time.monotonic() - begin < SECONDS or (not all(killed.values()) and time.monotonic() - begin < SECONDS + 60):
        time.sleep(rnd.uniform(0.1, 1.8))
        if not deck:  # all kinds in turn, in no order
            deck = rnd.sample(range(5), 5)
        what = deck.pop()
        if what == 0:
            server.kill()
        elif what == 1:
            collector.kill()
        elif what == 2:
            rnd.choice(nodes).kill_sender()
        elif what == 3:
            rnd.choice(nodes).kill()
        else:
            rnd.choice(nodes).kill()
            collector.kill()
    time.sleep(1.5)
    ending = True
    drained = time.monotonic()
    for n in nodes:
        n.end()
    drained = time.monotonic() - drained
    # a collector that begins now knows what has ended by its session, and ends itself
    collector.proc.send_signal(signal.SIGTERM)
    collector.proc.wait(timeout=30)
    server.stop()
    packets = compare(COEVAL, [n.name for n in nodes])
    print("killed nodes, senders, collectors and servers" if all(killed.values()) else f"killed only {killed}")
    print(f"{MODE}: {packets} packets, killed {killed}, drained in {drained:.1f} s; seed {SEED}", file=sys.stderr)


main()
