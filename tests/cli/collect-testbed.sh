# SPDX-License-Identifier: MIT
# room: uplink; full
# The simulated test bed, collected, while captures, senders, the server and the collector are killed: what the collector has is judged.
source "$SRC/tests/uplink/start.bash"
need coeval-simbed
# An instrumented build has its own library to preload.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
status=0
timeout 300 coeval demo --testbed --nodes 4 --seconds 25 --seed 3 --faults overflow:1,kill:1 --collect -o bed --json >bed.json 2>bed.err || status=$?
if grep -q 'libumockdev-preload.* cannot be preloaded' bed.err bed/*.txt 2>/dev/null; then
	skip "umockdev's library cannot be put in front here"
fi
echo "status $status"
[ $status -eq 0 ] || tail -qn 5 bed.err bed/*.txt
python3 - <<'E2'
import json
r = json.load(open("bed.json"))
for key in "invented", "missing", "narrow_slips", "wrong_beacons", "unopened":
    print(key, r[key])
print("edges", "enough" if r["edges"] > 240 else r["edges"])
print("killed", "some" if r["killed_carriers"] > 0 else "none")
print("good", r["good"])
E2
coeval session verify bed/joined | tail -1
for node in node1 node2 node3 node4; do
	cmp bed/$node/traces/$node/stream bed/joined/traces/$node/stream && echo "$node is as captured"
done
