# SPDX-License-Identifier: MIT
# room: store
# Sessions that were stored before there were digests (tests/data/sessions) can still be read, synchronised, verified and added to.
cp -r "$SRC/tests/data/sessions" .
cd sessions || exit 1
run() {
	echo "\$ coeval $*"
	coeval "$@" 2>&1
	echo "-> $?"
}
for session in imported simulated foreign unfinished; do
	run info $session
	run show --bounds $session | sed '6,/^->/{/^->/!d}'
	run session verify $session
done
coeval sync simulated --beacon 500ms --compare >/dev/null && echo "the truth is read"
coeval sync imported --pulse PPS:rising:1s | grep -c good
coeval sync simulated --beacon 500ms --calibration simulated/calibration.json | grep -c good
run export imported --to csv | head -n 3
run session join -o all imported simulated foreign unfinished
run session verify all
python3 -c '
import sys
sys.stdout.buffer.write(bytes(i >> 4 & 255 for i in range(3000)))' | coeval capture -d pipe --rate 10k --lines 8 --name a -o unfinished | sed 's/[0-9.]* s,/T s,/'
coeval show unfinished | grep -c unfinished
coeval session verify unfinished | grep -v bytes | sed -E 's/^(a +[0-9]+) .* (yes|none) /\1 N \2 /'
