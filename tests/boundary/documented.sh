#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header is guarded, says what it is for, and has a comment in front of each function, or of a group without empty lines.
# Public names begin with cvl_ or CVL_, but for those that a specification gives.
set -euo pipefail

status=0
cd "$SRC/include/coeval"
for header in *.h; do
	grep -q '^CVL_BEGIN_DECLS' "$header" || [ "$header" = api.h ] || { echo "$header: no CVL_BEGIN_DECLS"; status=1; }
	sed -n 2p "$header" | grep -q '^/\*\*' || { echo "$header: does not begin by saying what it is for"; status=1; }
	awk -v header="$header" '
		/^[ \t]*$/ { documented = 0 }
		/\*\/[ \t]*$/ { documented = 1 }
		/^CVL_API/ && !documented { print header ":" NR ": no comment in front of: " $0; bad = 1 }
		/^(#define|struct|enum|union|typedef)[ \t]/ && $2 != "{" && $2 !~ /^(cvl_|CVL_|COEVAL_)/ && !(header == "arrow.h" && $2 ~ /^(Arrow|ARROW_)/) { print header ":" NR ": not a cvl_ name: " $0; bad = 1 }
		END { exit bad }' "$header" || status=1
done
exit $status
