# SPDX-License-Identifier: MIT
# room: table; full
# A session that grows, followed from Python; clocks come and fall silent meanwhile.
source "$SRC/tests/python.bash"
"$python" "$SRC/tests/table/follow.py" "$build/tests/grow" steady steady
"$python" "$SRC/tests/table/follow.py" "$build/tests/grow" restless
