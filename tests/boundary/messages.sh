#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Messages of the library and the simulators name no option and no command of ours: they carry a hint, which the command puts into those.
set -euo pipefail
export LC_ALL=C

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# Strings, without comments. Programs of their own are src/cli and sim/simbed.
cd "$SRC"
find src sim -name '*.[ch]' ! -path 'src/cli/*' ! -path 'sim/simbed/*' | sort >"$scratch/files"
[ "$(wc -l <"$scratch/files")" -gt 100 ] || { echo "only $(wc -l <"$scratch/files") files"; exit 1; }
while read -r file; do
	sed -E 's|/\*.*\*/||; s|^[[:space:]]*/?\*.*||' "$file" | grep -noE '"([^"\\]|\\.)*(--[a-z]|`coeval )([^"\\]|\\.)*"' | sed "s|^|$file:|" || :
done <"$scratch/files" >"$scratch/named"
[ -s "$scratch/named" ] && { cat "$scratch/named"; status=1; }

# The command has words for each hint.
sed -n 's/^\t\(CVL_HINT_[A-Z_]*\),.*/\1/p' include/coeval/error.h | grep -vx CVL_HINT_NONE | sort >"$scratch/hints"
[ "$(wc -l <"$scratch/hints")" -gt 9 ] || { echo "no hints in coeval/error.h"; exit 1; }
sed -n 's/^\t\[\(CVL_HINT_[A-Z_]*\)\] =.*/\1/p' src/cli/cli.c | sort >"$scratch/words"
diff "$scratch/hints" "$scratch/words" | sed -n 's/^< /src\/cli has no words for /p' >"$scratch/missing"
[ -s "$scratch/missing" ] && { cat "$scratch/missing"; status=1; }
exit $status
