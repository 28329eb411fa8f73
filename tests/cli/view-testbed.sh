# SPDX-License-Identifier: MIT
# room: view
# Captures of the simulated test bed, by real processes on simulated devices, are watched from their start to their end.
source "$SRC/tests/view/start.bash"
need_browser
coeval demo --testbed --nodes 2 --seconds 150 -o bed > bed.log 2>&1 &
bed=$!
until [ -s bed/node1/session.json ] && [ -s bed/node2/session.json ]; do
	kill -0 $bed 2> gone || { cat bed.log; exit 1; }
	sleep 0.02
done
start_view bed
timeout 150 node "$SRC/tests/view/testbed.mjs" "$(cat address)" "$PWD/npm"
kill $viewer
wait $bed
echo "the test bed says $?"
wait
