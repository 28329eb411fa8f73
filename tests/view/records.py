# SPDX-License-Identifier: MIT
"""Records of a view against those of `coeval show`: records.py ADDRESS SESSION"""
import http.client, json, subprocess, sys

where, secret = sys.argv[1].split("#")
shown = subprocess.run(["coeval", "show", sys.argv[2], "--json"], capture_output=True, check=True, text=True).stdout
shown = [r for r in map(json.loads, shown.splitlines()) if r.get("name") != "levels"]


def ask(path):
    c = http.client.HTTPConnection(where.split("/")[2], timeout=20)
    c.request("GET", "/api/" + path, headers={"Coeval-Token": secret})
    r = c.getresponse()
    assert r.status == 200, r.read()
    return json.loads(r.read())


session = ask("session")
total, kinds = 0, set()
for number, clock in enumerate(session["clocks"]):
    got = []
    for i, stream in enumerate(session["streams"]):
        at = 0
        while stream["clock"] == number and at <= stream.get("last", -1):
            part = ask("records?stream=%d&from=%d&to=%d" % (i, at, at + 2**30 - 1))
            assert not part["more"]
            got += [r for r in part["records"] if r[1] != "state"]
            at += 2**30
    want = [r for r in shown if r["clock"] == clock["name"]]
    base = min((r["tick"] for r in want), default=0) >> 52 << 52
    key = lambda r: (r[0], r[1], r[2])
    got = sorted([(r[0] + base, r[1], r[2]) for r in got])
    want = sorted([(r["tick"], r["kind"], -1 if r.get("bound_ns") is None else r["bound_ns"]) for r in want])
    if got != want:
        bad = next((a, b) for a, b in zip(got + [None], want + [None]) if a != b)
        print(clock["name"], len(got), len(want), "differ:", *bad)
    total += len(got)
    kinds.add(clock["kind"])
print(sys.argv[2], "records with their bounds", total > 100, *sorted(kinds))
