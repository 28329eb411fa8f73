# SPDX-License-Identifier: MIT
# room: analysis
# The examples of docs/precision.md print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/precision.md"
