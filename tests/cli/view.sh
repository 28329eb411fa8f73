# SPDX-License-Identifier: MIT
# room: view
# Who may ask a view, and what it answers.
coeval sim "$SRC/examples/worlds/nominal.yaml" -o s --duration 30s > log 2>&1 && coeval sync s >> log 2>&1 || cat log
source "$SRC/tests/view/start.bash"
start_view s
sed 's/:[0-9]*\/#[0-9a-f]\{32\}$/:PORT\/#SECRET/' address
cat told
cp -r s before
python3 - "$(cat address)" <<'EOF'
import http.client, json, subprocess, sys

where, secret = sys.argv[1].split("#")
host = where.split("/")[2]


def ask(path, method="GET", body=None, **headers):
    c = http.client.HTTPConnection(host, timeout=20)
    headers = {k.replace("_", "-"): v for k, v in {"Coeval_Token": secret, **headers}.items() if v is not None}
    c.request(method, path, body, headers)
    r = c.getresponse()
    return r.status, r.read(), r


def said(path, **other):
    status, body, _ = ask(path, **other)
    print(path, *other, status, body.decode()[:100].strip() if status != 200 else "")


status, page, r = ask("/", Coeval_Token=None)
print("page", status, b"<!DOCTYPE html>" in page, r.getheader("Content-Security-Policy").split(";")[0], secret.encode() in page)
for path in "/main.js", "/data.js", "/draw.js", "/time.js", "/view.css":
    assert ask(path, Coeval_Token=None)[0] == 200, path
said("/api/session", Coeval_Token=None)
said("/api/session", Coeval_Token="0" * 32)
said("/api/session", Coeval_Token=secret[:-1])
said("/api/session", Host="evil.example")
said("/", Host="evil.example:" + host.split(":")[1])
said("/api/session", Host="localhost:" + host.split(":")[1])
said("/api/session", method="POST", body="x" * 100000)
said("/api/nothing")
said("/etc/passwd")
said("/../../etc/passwd")
for query in ("", "stream=0", "stream=99&level=9&from=0&to=1", "stream=0&level=26&from=0&to=1", "stream=0&level=9&from=5&to=1",
              "stream=0&level=9&from=-1&to=1", "stream=0&level=9&from=0&to=99999999999999999999", "stream=0x1&level=9&from=0&to=1"):
    said("/api/cells?" + query)
said("/api/map?clock=99")
said("/api/records?stream=0&from=0")
said("/api/pair?clock=0&tick=1&clock2=1")

session = json.loads(ask("/api/session")[1])
info = json.loads(subprocess.run(["coeval", "info", "s", "--json"], capture_output=True, check=True).stdout)
print(len(session["clocks"]), "clocks,", [c["name"] for c in session["clocks"]] == [c["name"] for c in info["clocks"]])
print("range", session["from"] == min(c["from_ns"] for c in info["clocks"]), session["to"] == max(c["to_ns"] for c in info["clocks"]))

# records are those of `show`, times and bounds those of the maps
shown = [json.loads(line) for line in subprocess.run(["coeval", "show", "s", "--json"], capture_output=True, check=True, text=True).stdout.splitlines()]
for i, stream in enumerate(session["streams"][:2]):
    got, at = [], 0
    while at <= stream["last"]:
        part = json.loads(ask("/api/records?stream=%d&from=%d&to=%d" % (i, at, at + 2**30 - 1))[1])
        assert not part["more"]
        got += part["records"]
        at += 2**30
    name = session["clocks"][stream["clock"]]["name"]
    want = [r for r in shown if r["clock"] == name and r.get("name") != "levels"]
    got = [r for r in got if r[1] != "state"]
    print("stream", i, len(got) > 50, [r[0] for r in got] == [r["tick"] for r in want], {r[1] for r in got} == {r["kind"] for r in want})
    m = json.loads(ask("/api/map?clock=%d" % stream["clock"])[1])
    knots = m["knots"]
    worst = 0
    for r in want:
        k = next((k for k in range(1, len(knots)) if knots[k][0] >= r["tick"] >= knots[0][0]), None)
        if k:
            a, b = knots[k - 1], knots[k]
            worst = max(worst, abs(a[1] + (r["tick"] - a[0]) / (b[0] - a[0]) * (b[1] - a[1]) - r["t_ns"]))
    print("time off by at most", "1.5 ns" if worst <= 1.5 else worst)

pair = json.loads(ask("/api/pair?clock=0&tick=1000000&clock2=1&tick2=9000000")[1])
print("pair", pair["order"], pair["bound"] > 0)
pair = json.loads(ask("/api/pair?clock=1&tick=9000000&clock2=0&tick2=1000000")[1])
print("back", pair["order"])

# broken requests, many at a time
import socket, threading
def break_it(n):
    for k in range(40):
        with socket.create_connection(host.split(":")) as c:
            c.sendall([b"GET / HT", b"\0" * 5000, b"GET /api/session HTTP/1.1\r\nHost: " + b"a" * 60000 + b"\r\n\r\n", b"X" * 100000, b"GET /%00%ff HTTP/1.1\r\n\r\n"][(n + k) % 5])
threads = [threading.Thread(target=lambda n=n: [break_it(n)], daemon=True) for n in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("after that", ask("/api/session")[0])
EOF
diff -r -x counts.json s before && echo "the session is as it was"
kill $viewer
wait $viewer
echo "exit status $?"
coeval view gone
echo "exit status $?"
coeval view s --port 0
echo "exit status $?"
