# SPDX-License-Identifier: MIT
# The README's examples print what it shows.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/README.md"
