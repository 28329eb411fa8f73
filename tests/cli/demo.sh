# SPDX-License-Identifier: MIT
# room: cli
# The demonstration keeps its promise in several worlds, and other programs can read its files.
status=0
for seed in 1 2 3; do
	coeval demo --seed $seed -o d$seed --json >$seed.json || status=1
	grep -q '"unmatched":0,' $seed.json || { echo "seed $seed: edges lost"; status=1; }
	sed 's/.*"coverage":\([0-9.]*\).*/\1/' $seed.json |
		awk -v s=$seed '{ if ($1 < 0.99) { print "seed " s ": coverage " $1; exit 1 } }' || status=1
done
head -n 1 d1/timeline.csv | grep -qx time_s,bound_ns,clock,kind,name,value,detail || { echo "csv header"; status=1; }
if command -v vcd2fst >/dev/null; then
	vcd2fst d1/timeline.vcd d1.fst >/dev/null && [ -s d1.fst ] || { echo "vcd2fst cannot read it"; status=1; }
fi
exit $status
