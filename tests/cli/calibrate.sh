# SPDX-License-Identifier: MIT
# room: sync
# Receivers with fixed delays, which no estimator can see: one wire to all observers reveals them. And all estimators
# on one session.

cat >world.yaml <<'YAML'
name: wired
seed: 3
duration: 10m
clocks:
  - { name: node, count: 4, rate: 8M, oscillator: { offset_sd_ppm: 50, walk_ppb: 1 } }
beacons:
  - { id: 1, receiver: { normal_ns: 300, bias_sd_ns: 2000 } }
pulses:
  - { line: WIRE, clocks: node*, period: 1s, jitter: { normal_ns: 5 } }
YAML

run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}

coverage() { # of the pairs by smooth, in percent, and how it compares with 99.9
	coeval sync "$1" --compare --json "${@:2}" |
		sed -nE 's/.*"estimator": ?"smooth"[^}]*"coverage": ?([0-9.]*).*/\1/p' |
		awk '{ print ($1 >= 0.999 ? "as promised" : $1 < 0.9 ? "far from it" : $1) }'
}

echo '$ coeval sim'
coeval sim world.yaml -o wired --json >/dev/null
coeval sim world.yaml -o other --json --seed 3 >/dev/null
echo "without: $(coverage wired)"
echo '$ coeval sync wired --calibrate WIRE'
coeval sync wired --calibrate WIRE | sed -n '1,/^$/p' | sed 's/[0-9.]* ns +-.*late/N ns +-M late/'
echo "with: $(coverage wired)"
echo "with that of another session: $(coverage other --calibration wired)"
echo "without again: $(coverage wired --calibration none)"
run coeval sync other --calibration nowhere
run coeval sync other --calibrate NOLINE
run coeval sync other --calibrate WIRE --compare
echo '{"coeval_calibration": 2, "line": "WIRE", "clocks": {}}' >wired/calibration.json
run coeval sync wired
echo '{"coeval_calibration": 1, "line": "WIRE", "clocks": {"node1": {"late_ns": 1e300, "bound_ns": 1, "edges": 1}}}' >wired/calibration.json
run coeval sync wired
