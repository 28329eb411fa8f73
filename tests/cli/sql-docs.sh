# SPDX-License-Identifier: MIT
# room: table
# The examples of docs/sql.md print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/docs/sql.md"
