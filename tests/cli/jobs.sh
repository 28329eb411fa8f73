# SPDX-License-Identifier: MIT
# room: timeline
# Several threads write the same bytes as one: edges, events, gaps, restated levels, bounds.
coeval sim "$SRC/examples/worlds/outage.yaml" -o s --duration 200s > sim.log 2>&1 || cat sim.log
coeval sync s > sync.log 2>&1 || cat sync.log
for how in "" --json --bounds --ticks "--select gap" "--node node1 --json" "--from 3 --until 5 --json"; do
	coeval show s --jobs 1 $how > one 2> told
	[ "$(wc -l < one)" -gt 10 ] || [ "$how" = "--select gap" ] || echo "only $(wc -l < one) lines with '$how'"
	for jobs in 2 3 7; do
		coeval show s --jobs $jobs $how > many 2> told-many
		cmp one many && cmp told told-many || echo "--jobs $jobs $how differs"
	done
done
echo "$(coeval show s --json | wc -l)" | sed 's/[0-9][0-9][0-9][0-9][0-9]*/thousands of/;s/$/ records/'
coeval show s --jobs 0
echo "exit status $?"
# a reader that closes the pipe early
coeval show s --jobs 3 | head -n 1 | wc -l
