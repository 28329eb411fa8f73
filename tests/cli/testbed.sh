# SPDX-License-Identifier: MIT
# room: capture; full
# Whole nodes: real captures on simulated analyzers and radios, with and without faults, judged against the truth.
need coeval-simbed
need python3
# An instrumented build has its own library to preload.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

bed() {
	local name=$1 status=0
	shift
	timeout 300 coeval-simbed --bed "$name" --seed 3 --json "$@" >"$name.json" 2>"$name.err" || status=$?
	if grep -q 'libumockdev-preload.* cannot be preloaded' "$name".err "$name"/*.txt 2>/dev/null; then
		skip "umockdev's library cannot be put in front here"
	fi
	echo "== $*"
	echo "status $status"
	# What captures said beside the first problem is of use when this fails.
	[ "$status" -eq 0 ] || tail -qn 5 "$name.err" "$name"/*.txt 2>/dev/null || true
}

cat >check.py <<'E2'
import json, sys

r = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    if "=" in key:
        name, _, wanted = key.partition("=")
        print(name, r[name] if r[name] != float(wanted) else wanted)
    else:
        name, _, least = key.partition(">")
        print(name, "enough" if r[name] >= float(least) else "only %s" % r[name])
E2
check() {
	python3 check.py "$@"
}

wrong="invented=0 missing=0 narrow_slips=0 wrong_beacons=0 unopened=0"

bed quiet --nodes 3 --seconds 15
check quiet.json $wrong gaps=0 in_gaps=0 good=3 'edges>180' 'beacons>30' 'coverage>0.998' \
	'capture_cpu_s>0.001' 'samples_cpu_s>0.0001' 'peak_kib>1000'

bed faults --nodes 3 --seconds 25 --faults overflow:1,unplug:1,kill:1
check faults.json $wrong faults_overflow=3 faults_unplug=3 faults_kill=3 'gaps>6' 'edges>180' 'beacons>30'

bed disk --nodes 1 --seconds 5 --faults full:1
bed nothing --nodes 1 --seconds 5 --faults fire:1
