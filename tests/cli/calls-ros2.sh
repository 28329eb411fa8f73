# SPDX-License-Identifier: MIT
# room: analysis
# Chains of callbacks over processes and hosts of simulated ROS 2 nodes, each of which is known; then of a real trace.
need python3

for style in stamp dds; do
	rules=ros2
	[ "$style" = stamp ] || rules=ros2-dds
	python3 "$SRC/tests/calls/ros2_world.py" "$style" "$COEVAL_SEED" "$style" >truth.json
	coeval import -o "s-$style" "$style/host0" "$style/host1" >/dev/null 2>&1
	coeval sync "s-$style" --match "$rules" | grep -c good
	coeval calls "s-$style" --json >calls.json
	python3 "$SRC/tests/calls/ros2_truth.py" truth.json calls.json
done
echo "== what one host shows alone needs no clock tied, and no rule asked for"
coeval calls stamp/host0 --top 3 | sed -n '/^chains, from/,/^$/p' | sed 's/ *[0-9]* *[0-9.]* us .*//; s/ *times .*//'

given="$SRC/../shared/data/traces2/ros2/ros2.tar.xz"
[ -f "$given" ] || skip "../shared/data is not there"
tar xf "$given"
echo "== a real trace: events, takes, messages"
coeval sql ros2 --csv "select count(*) from events" | tail -1
coeval sql ros2 --csv "select count(*) from event_ros2_rmw_take where taken = 1" | tail -1
coeval calls ros2 --top 8 | sed '/^$/,$d'
coeval calls ros2 --top 8 | sed -n '/^chains, from/,/^$/p'
