# SPDX-License-Identifier: MIT
# room: cli
# The pages a task: what they show is what is printed.
need python3
ln -s "$SRC/examples" examples
python3 "$SRC/tests/run_docs.py" "$SRC"/docs/howto-{two-analyzers,task-energy,thirty-nodes,cores,ros2}.md
