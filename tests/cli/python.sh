# SPDX-License-Identifier: MIT
# room: table
# The Python package, without any other.
source "$SRC/tests/python.bash"
coeval sim "$SRC/tests/table/world.yaml" -o s >/dev/null
coeval sync s >/dev/null
"$python" "$SRC/tests/table/python.py" s
