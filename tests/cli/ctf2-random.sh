# SPDX-License-Identifier: MIT
# room: store
# Random field classes of CTF 2, written by rules that are no code of ours, come back as they were.
need python3
python3 "$SRC/tests/ctf2_random.py" "$([ "$COEVAL_TIER" = full ] && echo 1000 || echo 100)" "${COEVAL_SEED:-1}" | sed 's/^[0-9]* traces/traces/'
