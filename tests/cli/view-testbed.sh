# SPDX-License-Identifier: MIT
# room: view
# Captures of the simulated test bed, by real processes on simulated devices, are watched from their start to their end.
source "$SRC/tests/view/start.bash"
need_browser
need coeval-simbed
# An instrumented build has its own library to preload.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
coeval demo --testbed --nodes 2 --seconds 150 -o bed > bed.log 2>&1 &
bed=$!
until [ -s bed/node1/session.json ] && [ -s bed/node2/session.json ]; do
	kill -0 $bed 2> gone || {
		grep -q 'libumockdev-preload.* cannot be preloaded' bed.log bed/*.txt && skip "umockdev's library cannot be put in front here"
		cat bed.log
		exit 1
	}
	sleep 0.02
done
start_view bed
timeout 150 node "$SRC/tests/view/testbed.mjs" "$(cat address)" "$PWD/npm"
kill $viewer
wait $bed
echo "the test bed says $?"
wait
