# SPDX-License-Identifier: MIT
# room: analysis
# The examples of docs/flow.md print what it shows.
need python3
need cc
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/flow.md"
