# SPDX-License-Identifier: MIT
# room: table; full
# hyparquet and apache-arrow, of JavaScript, find the same in Parquet files and Arrow streams as `coeval show` prints.
need python3
need node
need npm
source "$SRC/tests/tables.bash"

mkdir npm
(cd npm && npm install --no-save --no-audit --no-fund hyparquet hyparquet-compressors apache-arrow) >npm.log 2>&1 ||
	skip "npm cannot install hyparquet and apache-arrow: $(tail -n 1 npm.log)"

make_sessions
compare_all node
