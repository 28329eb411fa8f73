# SPDX-License-Identifier: MIT
# room: export
# A Perfetto trace holds what `coeval show` shows: protoc decodes it by a description of the format of our own.
need protoc
need python3
ln -s "$SRC/examples" examples

. "$SRC/tests/perfetto.bash"

coeval sim examples/worlds/outage.yaml -o edges --duration 20s >/dev/null
compare edges
coeval sync edges >/dev/null
compare edges
tracks node3

# A gap ends slices of its lines, and is one itself.
size=$(stat -c %s edges/traces/node3/stream)
printf 'damage' | dd of=edges/traces/node3/stream bs=1 seek=$((size / 2)) conv=notrunc status=none
compare edges

# Arrows are the messages that the session was synchronised with; a rule with a window is read back too.
coeval sim examples/worlds/messages-only.yaml -o messages --duration 20s >/dev/null
{ cat examples/rules/radio.yaml; echo 'window: 15s'; } >radio.yaml
coeval sync messages --match radio.yaml >/dev/null
compare messages
grep -o '"messages": [0-9]*' messages/sync.json

# Samples, also of what is no number.
python3 - <<'END'
START = 1600000000
with open("power.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,current_mA,voltage_V\n")
    for k in range(1000):
        f.write(f"{START}.{k * 100 + 50:06d}0,4,4,{10 if k % 100 < 20 else 1},3\n")
END
coeval import --format flocklab-power power.csv -o power >/dev/null
compare power
tracks node

# Which task each core runs.
cp -r "$SRC/examples/calls/sobel" tasks
compare tasks
tracks slave1
