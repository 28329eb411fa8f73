# SPDX-License-Identifier: MIT
# room: cli
# An export has its name when it is whole, and not before: neither a failure nor a signal leaves a part of it.
coeval demo -o demo >/dev/null
s=demo/session

names() {
	find . -maxdepth 1 -name 'out*' -printf '%f\n' | sort
}

coeval export $s --to csv >want
for format in csv vcd fst perfetto grace; do
	coeval export $s --to $format -o out.$format 2>/dev/null || echo "$format: $?"
done
cmp want out.csv && echo "the same as on standard output"
stat -c '%a %n' out.csv
coeval export $s --to ctf -o out.ctf 2>/dev/null
coeval export $s --to ctf -o out.ctf/ 2>/dev/null && echo "again"
coeval info out.ctf | head -n 1
names

echo "--- nothing to write"
coeval export $s --to ett-text -o out.txt
echo "-> $?"
coeval export $s --to ett-text | wc -c
names

echo "--- a failure keeps what was there"
echo precious >out.csv
chmod 640 out.csv
(ulimit -f 8; trap '' XFSZ; coeval export $s --to csv -o out.csv; echo "-> $?")
cat out.csv
coeval export $s --to csv -o nowhere/out.csv
coeval export $s --to csv -o out.csv && stat -c '%a %n' out.csv

echo "--- links and pipes"
ln -s out.csv out.link
coeval export $s --to csv -o out.link
cmp want out.csv && readlink out.link
coeval export $s --to csv -o /dev/null && [ -c /dev/null ] && echo "a device stays one"
coeval export $s --to csv -o >(wc -l >lines) && sleep 0.2
names

echo "--- signals"
rm -rf out.*
set -m # so that background programs do not ignore SIGINT
head -c 16000000 /dev/urandom | coeval import -o big --format raw --channels 8 --rate 1M - > /dev/null
for signal in INT TERM HUP; do
	for format in csv ctf vcd; do
		coeval export big --to $format -o out.$format 2>/dev/null &
		while [ ! "$(names)" ]; do sleep 0.01; done
		sleep 0.1
		kill -$signal $!
		wait $! 2>/dev/null
		echo "$signal $format -> $?, left: $(names)"
	done
done 2>/dev/null
