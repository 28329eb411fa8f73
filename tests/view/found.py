# SPDX-License-Identifier: MIT
"""What analyses found, in a view, against the verbs that have them: found.py ADDRESS SESSION [RULES]"""
import http.client, json, subprocess, sys, time

where, secret = sys.argv[1].split("#")


def ask(path, method="GET"):
    c = http.client.HTTPConnection(where.split("/")[2], timeout=60)
    c.request(method, "/api/" + path, headers={"Coeval-Token": secret})
    r = c.getresponse()
    body = r.read()
    return json.loads(body) if r.status == 200 else (r.status, body.decode())


def coeval(*words):
    p = subprocess.run(["coeval", *words, "--json"], capture_output=True, text=True)
    return json.loads(p.stdout) if p.stdout else None


found = ask("found?have=0&wait=1")
print("done", found["done"] == 1, "problems", found["problems"])
total = lambda row: sum(i[5] if len(i) == 9 else 1 for i in ask(
    "intervals?version=%d&row=%d&from=%d&to=%d&width=%d" % (found["version"], row, -2**60, 2**60, width))["list"])

calls = coeval("calls", sys.argv[2])
for width in 1, 10**6, 10**9:
    told = {"calls": 0, "check": 0}
    for n, row in enumerate(found["rows"]):
        if row[0] in told and row[5]:
            # of calls depth 0 may be what the thread did
            listed = ask("intervals?version=%d&row=%d&from=%d&to=%d&width=%d" % (found["version"], n, -2**60, 2**60, width))["list"]
            told[row[0]] += sum(i[5] if len(i) == 9 else 1 for i in listed if not (row[0] == "calls" and row[4] and i[0] == 0))
    if calls:
        print("calls", told["calls"] == sum(lane["spans"] for lane in calls["lanes"]), told["calls"] > 0)
    if len(sys.argv) > 3:
        check = coeval("check", sys.argv[2], sys.argv[3])["checks"]
        print("cases", told["check"] == sum(c["violated"] + c["cannot_tell"] for c in check), told["check"] > 0)
if len(sys.argv) > 3:
    violations = [p for p in found["found"] if p[0] == "violations"]
    print("places", len(violations) == min(1000, sum(c["violated"] for c in check)))

# an area against counting the records
session = ask("session")
shown = subprocess.run(["coeval", "show", sys.argv[2], "--json"], capture_output=True, check=True, text=True).stdout
shown = [r for r in map(json.loads, shown.splitlines())]
a, z = session["from"], session["to"]
good = compared = 0
for k in range(24):
    from_, to = a + (z - a) * (k % 6) // 9 + 12345 * k, a + (z - a) * (k % 6 + 1 + k // 6) // 9
    for n, s in enumerate(session["streams"]):
        clock, classes = session["clocks"][s["clock"]]["name"], 74 + len(s["channels"])
        for c, name in enumerate(s["events"]):
            got = ask("area?stream=%d&track=%d&from=%d&to=%d" % (n, classes + c, from_, to))
            want = sum(1 for r in shown if r["clock"] == clock and r.get("name") == name and r["kind"] in ("event", "begin") and from_ <= r["t_ns"] < to)
            # a tick is a place on the timeline; who is on it may be on either side
            good += abs(got["count"] - want) <= 1 and got["maybe"] >= 0
            compared += 1
        for line, name in enumerate(s["lines"][:3]):
            got = ask("area?stream=%d&track=%d&from=%d&to=%d" % (n, line, from_, to))
            want, high, level, since = 0, 0, 0, max(from_, min((r["t_ns"] for r in shown if r["clock"] == clock), default=from_))
            for r in shown:
                if r["clock"] != clock or r["kind"] != "edge" or name not in r["lines"]:
                    continue
                if from_ <= r["t_ns"] < to:
                    high += (r["t_ns"] - since) * level
                    since = r["t_ns"]
                    want += r["name"] != "levels"
                if r["t_ns"] < to:
                    level = r["lines"][name]
            last = max((r["t_ns"] for r in shown if r["clock"] == clock), default=to)
            high += max(0, min(to, last) - since) * level
            compared += 1
            # high time: of a clock whose rate is up to 200 ppm off, and a few ticks
            good += abs(got["count"] - want) <= 1 and abs(got["high"] - high) < 1000 + 2e-4 * (to - from_)
print("areas", good == compared, compared > 20, "" if good == compared else f"{good} of {compared}")

# words of events
if any(s["events"] for s in session["streams"]):
    some = next((r for r in shown if r["kind"] == "event" and r.get("fields")), None)
    if some:
        key, value = next(iter(some["fields"].items()))
        hit = ask("search?from=%d&words=%s%%20%%3D%%20" % (a, key))["hit"]
        print("search", hit is not None, ask("search?from=%d&words=no-such-words" % a)["hit"])
