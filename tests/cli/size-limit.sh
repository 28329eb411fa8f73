# SPDX-License-Identifier: MIT
# room: store
# A file size limit acts like a full disk: a gap says so, and no signal kills the process.
need python3

vague() { sed -E 's/[0-9]+\.[0-9]+ s/T s/; s/[0-9 ,]+ records/N records/'; }
python3 -c '
import sys
sys.stdout.buffer.write(bytes(i & 255 for i in range(100000)))' >samples.raw

echo "== a capture"
(
	ulimit -f 200 # KiB
	coeval capture -d file --device samples.raw --rate 10k --lines 8 --name a -o s 2>&1
	echo "status $?"
) | vague
coeval show s >shown.txt
echo "show: status $?, $(grep -c 'disk full' shown.txt) gap of a full disk"
[ "$(wc -l <shown.txt)" -gt 30000 ] && echo "what was captured is there"
[ "$(stat -c %s s/traces/a/stream)" -le $((200 * 1024)) ] && echo "within the limit"
coeval session verify s | tail -n 1

echo "== and on, with more room"
coeval capture -d file --device samples.raw --rate 10k --lines 8 --name a -o s 2>&1 | vague
coeval session verify s | tail -n 1

echo "== quiet, so that packets are small"
python3 -c '
import sys, time
for k in range(30):
    sys.stdout.buffer.write(bytes(i & 1 for i in range(400)))
    sys.stdout.flush()
    time.sleep(0.1)' 2>/dev/null | (
	ulimit -f 5
	coeval capture -d pipe --rate 4k --lines 8 --name a -o quiet 2>&1
	echo "status $?"
) | vague
coeval show quiet 2>&1 | tail -n 1 | sed 's/.*a gap/a gap/'

echo "== an import"
(
	ulimit -f 200
	coeval import -o i --format raw --channels 8 --rate 10k --node a samples.raw > /dev/null
	echo "status $?"
) 2>&1
coeval show i >shown.txt 2>err
echo "show: status $?, $(grep -c 'disk full' shown.txt) gap of a full disk"
coeval session verify i | tail -n 1

echo "== a copy, a report, a session at all"
coeval import -o whole --format raw --channels 8 --rate 10k --node a samples.raw > /dev/null
limited() {
	(
		ulimit -f "$1"
		shift
		exec coeval "$@"
	) 2>&1 | cat # the shell's own output is not limited
	echo "status ${PIPESTATUS[0]}"
}
limited 200 session join -o j whole
limited 1 export whole --to csv -o whole.csv
limited 0 import -o none --format raw --channels 8 --rate 10k --node a samples.raw
limited 0 sync whole --pulse D7:rise:25600us | grep -v desk
coeval info whole >/dev/null; echo "info: status $?"
exit 0
