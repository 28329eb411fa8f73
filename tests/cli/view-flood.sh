# SPDX-License-Identifier: MIT
# room: view
# A flood of requests, and kill -9 while levels of detail are written.
source "$SRC/tests/view/start.bash"
need python3
# a sanitizer keeps what was freed for a while: that is no memory that a flood takes
export ASAN_OPTIONS=${ASAN_OPTIONS-}:quarantine_size_mb=16
coeval demo --seconds 8 -o demo > log 2>&1 || cat log
start_view demo/session --check "$SRC/examples/checks/demo.yaml"
case ${COEVAL_TIER-} in quick | '') seconds=4 ;; *) seconds=60 ;; esac
timeout 200 python3 "$SRC/tests/view/flood.py" "$(cat address)" $seconds $viewer
kill $viewer
wait $viewer
echo "exit status $?"

echo "== killed while it writes levels of detail"
python3 -c '
import random
random.seed(1)
open("noise.raw", "wb").write(random.randbytes(3000000))'
coeval import -o noise noise.raw --format raw --rate 1M --channels 8 > log || cat log
cells() {
	start_view noise
	python3 - "$(cat address)" <<'END'
import hashlib, http.client, sys

where, secret = sys.argv[1].split("#")
c = http.client.HTTPConnection(where.split("/")[2], timeout=60)
sum = hashlib.sha256()
for level in range(3, 14):
    c.request("GET", f"/api/cells?stream=0&level={level}&from=0&to={min(50000, 3000000 >> 2 * level)}", headers={"Coeval-Token": secret})
    r = c.getresponse()
    sum.update(r.read() if r.status == 200 else b"?")
print(sum.hexdigest())
END
	kill $viewer
	wait $viewer 2> gone
}
cells > good
ls noise/derived/*.levels > gone || echo "no levels were kept"
rm noise/derived/*.levels
killed=0
for k in 0 1 2 3 4 5 6 7 8 9 10 11; do
	rm -f address noise/derived/*.levels
	coeval view noise --no-open > address 2> told &
	viewer=$!
	sleep 0.0$((k % 10))$k
	kill -9 $viewer && killed=$((killed + 1))
	wait $viewer 2> gone
	cells > now
	cmp good now || ls -l noise/derived
done
echo "killed $([ $killed -gt 6 ] && echo "many times" || echo $killed)"
# what a killed one left is written over by the next
ls noise/derived | grep -v 'levels$\|counts.json'
true
