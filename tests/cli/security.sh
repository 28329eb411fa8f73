# SPDX-License-Identifier: MIT
# room: cli
# Promises of docs/security.md that no other test checks: what a session names, what a page loads, who may give orders to a capture; and
# that each test which the document names exists.
need python3
coeval import -o s "$SRC/examples/two-hosts" >import.log 2>&1 || cat import.log
for path in ../alpha traces/../../alpha /etc; do
	echo "== a session whose trace is $path"
	rm -rf t
	cp -r s t
	# without its checksum, as by another program
	python3 -c '
import json, sys
session = json.load(open("t/session.json"))
session.pop("sha256")
session["clocks"][0]["trace"] = sys.argv[1]
json.dump(session, open("t/session.json", "w"))' "$path"
	coeval info t 2>&1 >/dev/null | sed "s|$PWD/||" | head -n 1
done

echo "== what pages load"
coeval sync s --match "$SRC/examples/rules/radio.yaml" >sync.log 2>&1 || cat sync.log
coeval report s -o report.html >report.log 2>&1 || cat report.log
coeval calls "$SRC/examples/calls/sobel" --html calls.html >calls.log 2>&1 || cat calls.log
for page in report.html calls.html; do
	[ -s $page ] || echo "$page was not written"
	grep -oE '(src|href|action)="?[^"#> ]+|url\([^)#]*\)|@import|XMLHttpRequest|https?://[^" ]*' $page | grep -v 'http://www.w3.org/\|href="data:,'
	grep -o "default-src 'none'" $page
done

echo "== the control socket, whatever the umask"
(umask 0; exec coeval capture -d pipe --rate 10k --lines 8 -o c --control socket --wait <&- >capture.log 2>&1) &
for _ in $(seq 100); do
	[ ! -S socket ] || break
	sleep 0.05
done
stat -c %a socket
kill $!
wait $! 2>/dev/null

for file in $(grep -oE '(tests|fuzz)/[a-z/_]*[a-z_-]+\.(c|sh)' "$SRC/docs/security.md" | sort -u); do
	[ -e "$SRC/$file" ] || echo "docs/security.md names $file, which does not exist"
done
