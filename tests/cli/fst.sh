# SPDX-License-Identifier: MIT
# room: export; full
# GTKWave's reader and wellen, Surfer's, find in our FST files what our VCD files and `coeval show` have.
need fst2vcd
need python3
ln -s "$SRC/examples" examples

# same SESSION [RANGE...]
same() {
	local s=$1
	shift
	coeval export "$s" "$@" --to vcd -o a.vcd 2>log || echo "vcd: $?"
	coeval export "$s" "$@" --to fst -o a.fst 2>fst.log || echo "fst: $?"
	fst2vcd a.fst -o b.vcd
	coeval show "$s" "$@" --json >shown.json 2>log
	coeval show "$s" "$@" >shown 2>log
	echo "$s: $(python3 "$SRC/tests/compare_fst.py" a.vcd b.vcd shown.json shown)"
}

coeval sim examples/worlds/outage.yaml -o edges --duration 20s >/dev/null
same edges
coeval sync edges >/dev/null
same edges
same edges --from 5 --until 8
coeval export edges --to fst --from 100 --until 101 -o none.fst; echo "-> $?"

# A gap; times below zero.
size=$(stat -c %s edges/traces/node3/stream)
printf 'damage' | dd of=edges/traces/node3/stream bs=1 seek=$((size / 2)) conv=notrunc status=none
same edges
cp -r "$SRC/tests/data/sessions/simulated" early
same early
grep -A 1 timezero b.vcd | tr -d '\n\t'; echo

# Several blocks.
python3 -c 'import random; random.seed(1); open("raw", "wb").write(random.randbytes(1500000))'
coeval import raw --format raw --channels 8 --rate 1MHz -o many >/dev/null
same many
python3 - <<'END'
data = open("a.fst", "rb").read()
at, blocks = 0, []
while at < len(data):
    blocks.append(data[at])
    at += 1 + int.from_bytes(data[at + 1:at + 9], "big")
print("blocks of changes:", blocks.count(8), at == len(data), "in the header:", int.from_bytes(data[65:73], "big") == blocks.count(8))
END
[ "$(stat -c %s a.fst)" -lt $(($(stat -c %s a.vcd) / 4)) ] && echo "a quarter of the VCD's size, or less"

# Messages, events of tasks, samples.
coeval sim examples/worlds/messages-only.yaml -o messages --duration 5s >/dev/null
same messages
cp -r examples/calls/sobel tasks
same tasks
python3 - <<'END'
with open("power.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,current_mA,voltage_V\n")
    for k in range(1000):
        f.write(f"{1600000000}.{k * 100 + 50:06d}0,4,4,{k % 7 / 3},{3 - k % 100 * 1e-3}\n")
END
coeval import --format flocklab-power power.csv -o power >/dev/null
same power
cp -r "$SRC/tests/data/sessions/foreign" foreign
same foreign

# Texts that are too long, and of any characters: what is cut is told.
mkdir texts
python3 - <<'END'
with open("texts/metadata", "w") as f:
    f.write("""/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ticks;
stream { event.header := struct { ticks timestamp; }; };
event { name = say; fields := struct { string what; }; };
""")
texts = ["", "plain", 'q"\\\n\t', "ä" * 3000, "x" * 4000, "y" * 100000]
with open("texts/stream", "wb") as f:
    for i, text in enumerate(texts):
        f.write((i + 1).to_bytes(8, "little") + text.encode() + b"\0")
END
same texts
grep -o 'FST: .*' fst.log
# Names: of any bytes, and long.
name=$(printf '%0600d' 0)
printf 'time,a b,"x""y$z",größe,\xff,%s\n' "$name" >names.csv
printf '0,0,0,0,0,0\n1,1,1,1,1,1\n' >>names.csv
coeval import names.csv --rate 1k -o names >/dev/null
same names
sed -n 's/^\$var wire 1 . \(.\{,20\}\).*/\1/p' b.vcd

# Nothing but a clock; nowhere to write it; a full disk.
printf 'time,a\n' >empty.csv
coeval import empty.csv --rate 1k -o empty >/dev/null 2>&1
coeval export empty --to fst -o a.fst && fst2vcd a.fst | grep '^.var'
coeval export early --to fst; echo "-> $?"
coeval export early --to fst -o - | wc -c
mkfifo pipe
cat pipe >/dev/null &
coeval export early --to fst -o pipe; echo "-> $?"
coeval export early --to fst -o /dev/full; echo "-> $?"
