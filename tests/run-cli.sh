#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the command-line test tests/cli/NAME.sh in an empty directory and compares what it prints
# with tests/cli/NAME.out. Without a .out file the exit status of the script alone decides.
#
#   tests/run-cli.sh NAME|all
#   tests/run-cli.sh --bless NAME   write NAME.out
#   tests/run-cli.sh --bless all    rewrite every .out there is
#
# A script that reads $CAPTURES is run with our own captures, and again with the real ones where they
# are here: what it then prints is NAME.real.out. The script finds `coeval` on PATH, $SRC (the source
# directory), $SHARED (real captures, or empty) and the functions below. COEVAL_BINARY and
# COEVAL_SHARED choose others. Exit status 77: skipped.
set -euo pipefail

SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SHARED=${COEVAL_SHARED:-$SRC/../shared/data}
[ -d "$SHARED" ] && SHARED=$(cd "$SHARED" && pwd) || SHARED=
binary=${COEVAL_BINARY:-$SRC/build/release/coeval}
export SRC SHARED LC_ALL=C TZ=UTC
[ -x "$binary" ] || { echo "$binary is not built"; exit 1; }
PATH=$(cd "$(dirname "$binary")" && pwd):$PATH

own_captures=$SRC/tests/data/captures

# The test cannot be run here, and why.
skip() {
	echo "SKIP $NAME: $*" >&3
	exit 77
}

# The package of a program is the one that install-deps has it by.
need() {
	local package

	command -v "$1" >/dev/null && return
	package=$(sed -n "s/^\t\"\([^ ]*\) program:$1\".*/\1/p" "$SRC/scripts/install-deps")
	skip "$1 is not installed${package:+; apt-get install $package}"
}

need_pty() {
	[ -e /dev/pts/ptmx ] || skip "there are no pseudo-terminals: /dev/pts is not mounted"
}

# For what is about files that others read, or takes no program of ours: once is enough.
without_sanitizers() {
	! nm "$(command -v coeval)" 2>/dev/null | grep -q __asan_init || skip "it is run without sanitizers"
}

export -f skip need need_pty without_sanitizers

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run_one CAPTURES [.real]
run_one() {
	local expected=$SRC/tests/cli/$NAME${2-}.out got=$scratch/$NAME.got status=0

	rm -rf "${scratch:?}/$NAME"
	mkdir "$scratch/$NAME"
	export CAPTURES=$1
	(cd "$scratch/$NAME" && bash "$SRC/tests/cli/$NAME.sh") 3>&1 >"$got" 2>&1 </dev/null || status=$?
	[ "$status" -ne 77 ] || return 77

	if [ "$bless" = "$NAME" ] || { [ "$bless" ] && [ -e "$expected" ]; }; then
		cp "$got" "$expected"
		return 0
	fi
	if [ -e "$expected" ]; then
		diff -u --label "$NAME${2-}.out" --label "$NAME now" "$expected" "$got" || return 1
		return 0
	fi
	cat "$got"
	[ "$status" -eq 0 ] || echo "$NAME: exit status $status"
	return "$status"
}

bless=
if [ "${1-}" = --bless ]; then
	bless=${2-}
	shift
fi
if [ $# -ne 1 ]; then
	echo "usage: $0 [--bless] NAME|all" >&2
	exit 2
fi

names=("$1")
if [ "$1" = all ]; then
	names=()
	for script in "$SRC"/tests/cli/*.sh; do names+=("$(basename "$script" .sh)"); done
fi

failed=0
for NAME in "${names[@]}"; do
	export NAME
	status=0
	run_one "$own_captures" || status=$?
	if [ "$status" -eq 0 ] && [ -n "$SHARED" ] && grep -q '\$CAPTURES' "$SRC/tests/cli/$NAME.sh"; then
		run_one "$SHARED" .real || status=$?
	fi
	case $status in
	0) ;;
	77) [ "$1" = all ] || exit 77 ;;
	*) failed=1 ;;
	esac
done
exit "$failed"
