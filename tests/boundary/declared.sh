#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# declared.sh HEADER...: the names that CVL_API declares, one a line.
set -euo pipefail

for header; do
	# Without comments and directives; a declaration ends at ; or {.
	"${CC:-cc}" -fpreprocessed -dD -E -P -x c "$header" 2>/dev/null | sed '/^#/d' | tr '\n' ' ' | tr ';{' '\n\n' |
		sed -n 's/.*\bCVL_API\b//p' | awk '
		match($0, /cvl_[a-z0-9_]+ *\(/) { print substr($0, RSTART, RLENGTH - 1); next }
		match($0, /cvl_[a-z0-9_]+ *(\[[^]]*\])* *$/) { sub(/ *\[.*/, ""); print $NF; next }
		{ print "cannot read: " $0 > "/dev/stderr"; exit 1 }' | tr -d '* '
done | LC_ALL=C sort
