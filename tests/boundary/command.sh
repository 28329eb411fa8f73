#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The command knows public headers and its own, and nothing else of the library: neither by includes nor by names.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

cd "$SRC/src/cli"
while read -r file; do
	sed -n 's/^# *include "\([^"]*\)".*/\1/p' "$file" | while read -r name; do
		[ -e "$name" ] || [ -e "$(dirname "$file")/$name" ] || echo "src/cli/$file includes \"$name\""
	done
	sed -n 's/^# *include <\(.*\.\.\/.*\)>.*/\1/p' "$file"
done < <(find . -name '*.[ch]' | sed 's|^\./||' | sort) >"$scratch/includes"
[ -s "$scratch/includes" ] && { cat "$scratch/includes"; status=1; }

"$here/declared.sh" "$SRC"/include/coeval/*.h | sort -u >"$scratch/declared"
nm -g --defined-only "$BUILD"/libcoeval-inside.a "$BUILD"/libcoeval-sim-inside.a 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$scratch/library"
while read -r object; do
	file=${object#*/src/cli/}
	file=${file%.o}
	nm -u "$object" | awk '{ print $NF }' | sort -u | comm -12 - "$scratch/library" | comm -23 - "$scratch/declared" |
		sed "s|^|src/cli/$file calls what no public header declares: |"
done < <(find "$BUILD/CMakeFiles/coeval.dir/src/cli" -name '*.c.o' | sort) >"$scratch/calls"
[ -s "$scratch/calls" ] && { cat "$scratch/calls"; status=1; }
mapfile -t objects < <(find "$BUILD/CMakeFiles/coeval.dir" -name '*.c.o')
[ ${#objects[@]} -gt 10 ] || { echo "only ${#objects[@]} objects of the command"; exit 1; }

# The proof: the same objects and the shared libraries make the command.
# shellcheck disable=SC2086
"$CC" ${SANITIZE-} -fno-lto "${objects[@]}" -o "$scratch/coeval" -L"$BUILD" -Wl,-rpath,"$BUILD" -lcoeval-sim -lcoeval \
	$(pkg-config --libs jansson) -pthread -lm || exit 1
"$scratch/coeval" sim "$SRC/examples/worlds/nominal.yaml" -o "$scratch/s" --duration 10s >/dev/null
"$scratch/coeval" info "$scratch/s" --json >"$scratch/apart" # one after the other: it says how much is derived
"$BUILD/coeval" info "$scratch/s" --json >"$scratch/together"
cmp "$scratch/apart" "$scratch/together" || status=1
exit $status
