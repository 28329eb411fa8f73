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

# clocks are tracked by several threads: the same maps
coeval sim "$SRC/examples/worlds/nominal.yaml" -o n1 --duration 900s > sim.log 2>&1 || cat sim.log
cp -r n1 n3
coeval sync n1 --jobs 1 > one
coeval sync n3 --jobs 3 > many
sed -i 's/n3/n1/' many
cmp one many
diff -r -x observations n1 n3 && ls n1/derived/*.knots | wc -l | sed 's/[1-9][0-9]*/same maps/'
