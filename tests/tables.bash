# SPDX-License-Identifier: MIT
# For tests/cli/parquet.sh and arrow.sh: sessions, and their tables as files.
# shellcheck shell=bash

build=$(dirname "$(command -v coeval)")

# Every kind of record without bounds; bounds of four clocks and pages of more than 64 Ki rows; events; late rows; samples without a value.
make_sessions() {
	"$build/tests/kinds" kinds
	coeval demo --seconds 60 -o demo >/dev/null && mv demo/session clocks
	coeval import -o hosts "$SRC/examples/two-hosts" >/dev/null
	coeval sync hosts --match "$SRC/examples/rules/radio.yaml" >/dev/null
	cp -r "$SRC/tests/data/sessions/foreign" .
	printf 'time,a,b\n0,0,0\n30,1,0\n10,1,1\n40,0,1\n20,1,0\n50,0,0\n' >late.csv
	coeval import -o late --rate 1 late.csv >/dev/null 2>&1
	cp -r clocks cut
	size=$(stat -c %s cut/traces/observer2/stream)
	truncate -s $((size * 2 / 3)) cut/traces/observer2/stream
	size=$(stat -c %s cut/traces/observer3/stream)
	printf 'damage' | dd of=cut/traces/observer3/stream bs=1 seek=$((size / 2)) conv=notrunc status=none
	rm cut/traces/observer4/stream
}

# compare READERS SESSION [OPTION...]
compare() {
	local readers=$1 session=$2 status=0 name

	shift 2
	rm -rf tables
	coeval export "$session" --to parquet -o tables "$@" 2>/dev/null || status=$?
	printf '%s: %s: ' "$session${*:+ $*}" $status
	for name in tables/*.parquet; do
		name=$(basename "$name" .parquet)
		case $name in *a_b_c*) continue ;; esac # their events are called otherwise
		coeval export "$session" --to arrow --table "$name" -o "tables/$name.arrows" "$@" 2>/dev/null || [ $? -eq 3 ]
	done
	"${python-python3}" "$SRC/tests/compare_tables.py" "$readers" "$session" tables "$@" || echo "they differ"
}

# compare_all READERS
compare_all() {
	local session

	for session in kinds clocks hosts foreign late cut; do
		compare "$1" $session
	done
	compare "$1" clocks --from 10 --until 12.5 --node observer1
	compare "$1" clocks --nominal --until 2
}
