# SPDX-License-Identifier: MIT
# room: firmware
# The examples of docs/tracer.md print what it shows.
need python3
need cc
ln -s "$SRC/examples" examples
ln -s "$SRC/firmware" firmware
python3 "$SRC/tests/run_docs.py" "$SRC/docs/tracer.md"
