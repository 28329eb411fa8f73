# SPDX-License-Identifier: MIT
"""Messages of a view: both ends are events that `coeval show` has, with the same key: messages.py ADDRESS SESSION"""
import http.client, json, subprocess, sys

where, secret = sys.argv[1].split("#")
shown = subprocess.run(["coeval", "show", sys.argv[2], "--json"], capture_output=True, check=True, text=True).stdout
events = {}
for r in map(json.loads, shown.splitlines()):
    if r["kind"] == "event":
        events[r["clock"], r["tick"], r["name"]] = r["fields"]


def ask(path):
    c = http.client.HTTPConnection(where.split("/")[2], timeout=20)
    c.request("GET", "/api/" + path, headers={"Coeval-Token": secret})
    r = c.getresponse()
    return json.loads(r.read())


session = ask("session")
name = lambda stream, cls: session["streams"][stream]["events"][cls]
base = {c: min(t for k, t, n in events if k == session["clocks"][c]["name"]) >> 52 << 52 for c in range(len(session["clocks"]))}
version = ask("found?have=0&wait=1")["version"]
found, at = [], session["from"] - 10**9
while at < session["to"] + 10**9:
    part = ask("messages?version=%d&from=%d&to=%d" % (version, at, at + 10**9))
    found += part["messages"]
    at += 10**9
good = 0
for s, cls, clock, tick, s2, cls2, clock2, tick2 in found:
    sent = events[session["clocks"][clock]["name"], base[clock] + tick, name(s, cls)]
    got = events[session["clocks"][clock2]["name"], base[clock2] + tick2, name(s2, cls2)]
    good += clock != clock2 and (name(s, cls), name(s2, cls2)) == ("radio_send", "radio_receive") and sent["seq"] == got["seq"]
print(len(found), "messages, all with the same key at both ends:", good == len(found))
