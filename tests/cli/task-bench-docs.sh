# SPDX-License-Identifier: MIT
# room: lab
# The examples in docs/task-bench.md print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/task-bench.md"
