# SPDX-License-Identifier: MIT
"""Requests of all kinds, as many as go, for some seconds: flood.py ADDRESS SECONDS PID"""
import http.client, json, random, socket, sys, threading, time

where, secret = sys.argv[1].split("#")
host, seconds = where.split("/")[2], float(sys.argv[2])
end = time.time() + seconds
count, odd = {}, []
lock = threading.Lock()


def some(r):
    number = lambda: r.choice([0, 1, 2, 7, 63, 1000, 2**31, 2**53, 2**63, -1, "x", "", "1e9", "9" * 30])
    path = "/" + r.choice(["api/" + w for w in ("session", "map", "cells", "records", "maps", "messages", "pair", "found", "intervals", "area", "search",
                                                "notes", "note", "places", "nothing")] + ["", "main.js", "metrics", "%2e%2e/x", "x" * 3000])
    names = "stream level from to clock tick capture clock2 tick2 capture2 since have version row width track words text drop session".split()
    return path + "?" + "&".join(f"{n}={number()}" for n in r.sample(names, r.randrange(len(names))))


def hammer(seed):
    r = random.Random(seed)
    while time.time() < end:
        try:
            if r.randrange(20) == 0:  # not HTTP
                with socket.create_connection(host.split(":"), timeout=10) as c:
                    c.sendall(r.randbytes(r.randrange(1, 5000)))
                continue
            c = http.client.HTTPConnection(host, timeout=30)
            for _ in range(r.randrange(1, 30)):
                token = r.choice([secret] * 8 + ["0" * 32, ""])
                c.request(r.choice(["GET"] * 8 + ["POST", "PUT", "DELETE", "OPTIONS"]), some(r), headers={"Coeval-Token": token})
                a = c.getresponse()
                body = a.read()
                with lock:
                    count[a.status] = count.get(a.status, 0) + 1
                    if a.status == 200 and a.getheader("Content-Type") == "application/json" and not body.startswith(b"{"):
                        odd.append(body[:80])
                    if a.status == 200 and token != secret and a.getheader("Content-Type", "").startswith("application"):
                        odd.append("answered without the secret")
            c.close()
        except (OSError, http.client.HTTPException):
            pass  # refused: too many at once


threads = [threading.Thread(target=hammer, args=(k,)) for k in range(12)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("kinds of answers", sorted(count), "many" if sum(count.values()) > 100 * seconds else sum(count.values()))
print("odd ones", odd[:3])
began = time.time()
c = http.client.HTTPConnection(host, timeout=30)
c.request("GET", "/api/session", headers={"Coeval-Token": secret})
print("after that", c.getresponse().status, "at once" if time.time() - began < 1 else time.time() - began)
memory = int(next(line for line in open(f"/proc/{sys.argv[3]}/status") if line.startswith("VmRSS")).split()[1]) / 1024
print("memory", "below 200 MiB" if memory < 200 else memory)
