# SPDX-License-Identifier: MIT
# room: import
# The examples of docs/ett.md print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/ett.md"
