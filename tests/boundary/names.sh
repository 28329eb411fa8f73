#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The libraries show what the public headers declare, no more and no less; shared and static.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

compare() { # LIBRARY DECLARED SHOWN
	diff "$2" "$3" >"$scratch/diff" && return
	sed -n -e 's|^< \(.*\)|declared, and not in '"$1"': \1|p' -e 's|^> \(.*\)|in '"$1"', and not declared: \1|p' "$scratch/diff"
	status=1
}

cd "$SRC/include/coeval"
"$here/declared.sh" sim.h >"$scratch/coeval-sim"
"$here/declared.sh" $(ls *.h | grep -vx sim.h) >"$scratch/coeval"
for lib in coeval coeval-sim; do
	[ -s "$scratch/$lib" ] || { echo "no header declares anything of $lib"; exit 1; }
	uniq -d "$scratch/$lib" | sed 's/^/declared twice: /'
	sort -u -o "$scratch/$lib" "$scratch/$lib"
	nm -D --defined-only "$BUILD/lib$lib.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$scratch/shown"
	compare "lib$lib.so" "$scratch/$lib" "$scratch/shown"
	nm -g --defined-only "$BUILD/lib$lib.a" | awk 'NF == 3 { print $3 }' | sort >"$scratch/shown"
	compare "lib$lib.a" "$scratch/$lib" "$scratch/shown"
	sed -n 's/^ \(cvl_.*\)@.*/\1/p' "$SRC/debian/lib${lib}0.symbols" >"$scratch/shown"
	compare "debian/lib${lib}0.symbols" "$scratch/$lib" "$scratch/shown"
done
# The simulators call the library's own; what they have of it are copies of what it hides.
[[ $(nm -D --undefined-only "$BUILD/libcoeval-sim.so") == *cvl_session_create* ]] || { echo "libcoeval-sim.so has its own copy of the library"; status=1; }
exit $status
