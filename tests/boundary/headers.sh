#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh c|c++: each public header compiles alone, without warnings.
set -euo pipefail

case $1 in
c) compiler=(${CC:-cc} -x c -std=c11 -pedantic) ;;
c++) compiler=(${CXX:-c++} -x c++ -std=c++17) ;;
esac
command -v "${compiler[0]}" >/dev/null || { echo "SKIP boundary: there is no ${compiler[0]}; apt-get install g++"; exit 77; }
status=0
for header in "$SRC"/include/coeval/*.h; do
	name=coeval/$(basename "$header")
	printf '#include <%s>\n#include <%s>\nextern int unused;\n' "$name" "$name" |
		"${compiler[@]}" -Wall -Wextra -Werror -I "$SRC/include" -fsyntax-only - || { echo "$name does not compile alone as $1"; status=1; }
done
exit $status
