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
import http.client, json, struct, subprocess, sys

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
    print(path[:60], *other, status, body.decode()[:100].strip() if status != 200 else "")


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
said("/api/maps?since=x")
said("/api/many?ask=" + ";".join(["x"] * 65))
said("/api/many?ask=" + "x" * 300)
many, parts = ask("/api/many?ask=cells?stream=9%3Bmany?ask=x%3Bnothing%3Bnotes%3B")[1], []
while many:
    wrong, length = struct.unpack("<II", many[:8])
    parts.append((wrong, many[8:8 + length].decode()))
    many = many[8 + length:]
print(parts)
said("/api/records?stream=0&from=0")
said("/api/pair?clock=0&tick=1&capture=9&clock2=1")

session = json.loads(ask("/api/session")[1])
info = json.loads(subprocess.run(["coeval", "info", "s", "--json"], capture_output=True, check=True).stdout)
print(len(session["clocks"]), "clocks,", [c["name"] for c in session["clocks"]] == [c["name"] for c in info["clocks"]])
print("range", session["from"] == min(c["from_ns"] for c in info["clocks"]), session["to"] == max(c["to_ns"] for c in info["clocks"]))

pair = json.loads(ask("/api/pair?clock=0&tick=1000000&capture=63&clock2=1&tick2=9000000&capture2=63")[1])
print("pair", pair["order"], pair["bound"] > 0)
pair = json.loads(ask("/api/pair?clock=1&tick=9000000&capture=63&clock2=0&tick2=1000000&capture2=63")[1])
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

# records and bounds of other kinds
coeval import -o proven "$SRC/examples/two-hosts" > log 2>&1 && coeval sync proven --match "$SRC/examples/rules/radio.yaml" > log 2>&1 || cat log
coeval import -o untied "$SRC/examples/two-hosts" "$SRC/examples/two-analyzers/left.vcd" > log 2>&1 || cat log
coeval import -o ambiguous "$SRC/examples/two-analyzers/left.vcd" "$SRC/examples/two-analyzers/right.vcd" > log 2>&1 || cat log
coeval sync ambiguous --pulse PPS:rise:1s > log 2>&1
for session in s proven untied ambiguous; do
	start_view $session
	python3 "$SRC/tests/view/records.py" "$(cat address)" $session
	[ $session != proven ] || python3 "$SRC/tests/view/messages.py" "$(cat address)" $session
	kill $viewer
	wait $viewer
done
coeval view gone
echo "exit status $?"
coeval view s --port 0
echo "exit status $?"
