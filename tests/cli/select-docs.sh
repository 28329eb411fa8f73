# SPDX-License-Identifier: MIT
# room: timeline
# The examples of docs/select.md print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/select.md"
