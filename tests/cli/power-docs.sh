# SPDX-License-Identifier: MIT
# room: analysis
# The examples of docs/power.md print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/power.md"
