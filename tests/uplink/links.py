#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nodes in networks of their own capture and send; their links to server and collector are cut and restored.

usage: links.py COEVAL NATS-SERVER SECONDS SEED NODES
Needs a network and a /run of its own (unshare --net --mount), in which it may do as it likes. The first node's link is cut once
for 16 s, longer than a server and a client go on without hearing of each other; the others' again and again for 1 to 4 s. What the
collector has must be what the nodes have, byte for byte.
"""
import json, os, random, signal, subprocess, sys, threading, time

sys.dont_write_bytecode = True
from compare import compare, must_end

COEVAL, NATS, SECONDS, SEED, NODES = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
AWAY = 16
log = open("links.log", "w")
ending = False


def ip(*words, node=None):
    within = ["nsenter", f"--net=/run/netns/{node}"] if node else []
    subprocess.run(within + ["ip"] + list(words), check=True)


def stored(session, clock):
    try:
        return os.path.getsize(f"{session}/traces/{clock}/stream")
    except OSError:
        return 0


class Node:
    def __init__(self, i):
        self.name, self.cuts, self.random = f"n{i:02}", 0, random.Random(f"{SEED} {i}")
        ip("netns", "add", self.name)
        ip("link", "add", "name", self.name, "type", "veth", "peer", "name", "out", "netns", self.name)
        ip("addr", "add", f"10.7.{i}.1/24", "dev", self.name)
        ip("link", "set", self.name, "up")
        ip("addr", "add", f"10.7.{i}.2/24", "dev", "out", node=self.name)
        ip("link", "set", "out", "up", node=self.name)
        self.log = open(f"{self.name}.log", "w+")
        self.proc = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{self.name}", COEVAL, "capture", "--driver", "pipe", "--rate", "50kHz", "--lines", "8",
             "--name", self.name, "--flush", "100ms", "-o", self.name, "--server", f"nats://10.7.{i}.1:4222"],
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.cutter = threading.Thread(target=self.cut_once if i == 1 else self.cut, daemon=True)
        self.feeder.start()

    def feed(self):
        r = random.Random(self.name)
        while not ending:
            self.proc.stdin.write(r.randbytes(1000))
            self.proc.stdin.flush()
            time.sleep(0.05)

    def link(self, how, near):
        """At the collector's end, or the node's: there its address goes, too, and comes back."""
        ip("link", "set", *((self.name, how) if near else ("out", how)), node=None if near else self.name)

    def cut(self):
        while not ending:
            near, off, on = self.random.random() < 0.5, self.random.uniform(1, 4), self.random.uniform(0.3, 4)
            self.link("down", near)
            time.sleep(off)
            self.link("up", near)
            self.cuts += 1
            time.sleep(on)

    def cut_once(self):
        time.sleep(2)
        self.link("down", True)
        time.sleep(AWAY - 1)
        states = {n["node"]: n["state"] for n in json.load(open("all/collect/nodes.json"))["nodes"]}
        self.silent = states[self.name] == "silent"
        self.behind = stored("all", self.name) < stored(self.name, self.name)
        time.sleep(1)
        self.link("up", True)
        self.cuts += 1

    def end(self):
        self.cutter.join()
        self.feeder.join()
        early = self.proc.poll()
        self.proc.stdin.close()
        must_end(self.name, self.proc, self.log, early)


def main():
    global ending
    ip("link", "set", "lo", "up")
    with open("server.conf", "w") as f:
        f.write(f'listen: "0.0.0.0:4222"\njetstream {{ store_dir: "{os.getcwd()}/store", max_file_store: 200MB, max_memory_store: 64MB }}\n')
    server = subprocess.Popen([NATS, "-c", "server.conf"], stdout=log, stderr=log)
    collector = subprocess.Popen([COEVAL, "collect", "all", "--server", "nats://127.0.0.1:4222", "--stream-size", "150MB"],
                                 stdout=log, stderr=log)
    nodes = [Node(1 + i) for i in range(NODES)]
    until = time.monotonic() + 20
    while not all(stored("all", n.name) for n in nodes):
        if time.monotonic() > until:
            raise SystemExit("not all nodes were heard of\n" + open("links.log").read()[-3000:])
        time.sleep(0.1)
    for n in nodes:
        n.cutter.start()
    time.sleep(SECONDS)
    ending = True
    drained = time.monotonic()
    for n in nodes:
        n.end()
    drained = time.monotonic() - drained
    collector.send_signal(signal.SIGTERM)
    collector.wait(timeout=30)
    server.kill()
    server.wait()
    print("the first was silent, and kept what it captured" if nodes[0].silent and nodes[0].behind
          else f"the first: silent {nodes[0].silent}, behind {nodes[0].behind}")
    print("the others were cut again and again" if all(n.cuts >= 2 for n in nodes[1:]) else f"cut {[n.cuts for n in nodes]}")
    packets = compare(COEVAL, [n.name for n in nodes])
    print(f"links: {packets} packets, cut {sum(n.cuts for n in nodes)} times, drained in {drained:.1f} s; seed {SEED}", file=sys.stderr)


main()
