# SPDX-License-Identifier: MIT
"""Notes, folders and metrics of a view: notes.py ADDRESS WHAT"""
import http.client, json, sys, threading, urllib.parse

where, secret = sys.argv[1].split("#")
what = sys.argv[2]


def ask(path, method="GET", **query):
    c = http.client.HTTPConnection(where.split("/")[2], timeout=60)
    c.request(method, "/api/" + path + "?" + urllib.parse.urlencode(query), headers={"Coeval-Token": secret})
    r = c.getresponse()
    body = r.read().decode()
    return json.loads(body) if r.status == 200 else f"{r.status} {body.strip()}"


def noted():
    """The first event of a stream of news."""
    c = http.client.HTTPConnection(where.split("/")[2], timeout=60)
    c.request("GET", "/api/events", headers={"Coeval-Token": secret})
    return json.loads(c.getresponse().readline()[len("data: "):])["noted"]


def note(**more):
    return ask("note", "POST", **{"clock": 1, "from": 10**9, "to": 10**9 + 500, "text": "a <b>note</b>", **more})


def said(answer):
    return answer if isinstance(answer, str) else [(n["text"], n["clock"], round(n["from"] / 1e3), n["look"]) for n in answer["annotations"]]


if what == "problems":
    print(ask("found", have=0, wait=1)["problems"])
elif what == "write":
    print(said(note()))
    print(said(note(text="ünï\n\"x\"", look="from=1&to=2")))
    first = ask("notes")["annotations"][0]
    print(said(ask("note", "POST", drop=first["id"])))
    print(said(ask("note", "POST", drop=first["id"])))
    print(said(ask("note", drop=2)))
    print(said(note(text="")), "|", said(note(clock=9)), "|", said(note(text="x" * 5000)))
elif what == "race":
    before = noted()
    threads = [threading.Thread(target=note, kwargs={"text": str(k)}) for k in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    all_ = ask("notes")["annotations"]
    print("all of them are there", sorted(n["text"] for n in all_)[:-1] == sorted(map(str, range(20))), "ids differ", len({n["id"] for n in all_}) == 21,
          "news", noted() != before)
    for n in all_[1:]:
        ask("note", "POST", drop=n["id"])
elif what == "refuse":
    print(ask("session")["read_only"], said(note()), "|", said(ask("notes")))
elif what == "read":
    print(said(ask("notes")))
elif what == "folder":
    print(ask("places"))
    print([ask("session", session=k) if k > 1 else ask("session", session=k)["path"] for k in (0, 1, 2)], ask("session", session="x"))
    c = http.client.HTTPConnection(where.split("/")[2], timeout=60)
    for headers in {}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer " + secret}:
        c.request("GET", "/metrics?session=1", headers=headers)
        r = c.getresponse()
        text = r.read().decode()
        print(r.status, r.getheader("Content-Type"), *sorted({line.split("{")[0].split()[0] for line in text.splitlines() if line.startswith("coeval_")}))
    values = [line for line in text.splitlines() if line.startswith(("coeval_bound", "coeval_captured"))]
    print(*values, sep="\n")
