# SPDX-License-Identifier: MIT
# room: cli
# The examples of README and docs print what they show.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC/README.md" "$SRC/docs/tour.md" "$SRC/docs/capture.md" "$SRC/docs/swo.md" "$SRC/docs/task.md"
