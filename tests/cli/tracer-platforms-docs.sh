# SPDX-License-Identifier: MIT
# room: firmware; full
# The examples of docs/tracer-platforms.md print what it shows.
need python3
need cc
ln -s "$SRC/examples" examples
ln -s "$SRC/firmware" firmware
python3 "$SRC/tests/run_docs.py" "$SRC/docs/tracer-platforms.md"
