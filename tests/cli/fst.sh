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
	coeval export "$s" "$@" --to fst -o a.fst 2>log || echo "fst: $?"
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
same edges --from 100 --until 101

# A gap, also of times below zero.
size=$(stat -c %s edges/traces/node3/stream)
printf 'damage' | dd of=edges/traces/node3/stream bs=1 seek=$((size / 2)) conv=notrunc status=none
same edges
printf 'tick,a\n-5e-3,0\n-2e-3,1\n1e-3,0\n' | sed '1s/tick/time/' >early.csv
coeval import early.csv --rate 1M -o early >/dev/null
same early

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

# Messages, events of tasks, samples that are no numbers, texts that are too long.
coeval sim examples/worlds/messages-only.yaml -o messages --duration 5s >/dev/null
same messages
cp -r examples/calls/sobel tasks
same tasks
printf 'time,volts\n0,1.5\n1,nan\n2,-2.25\n' >samples.csv
coeval import samples.csv --rate 1k -o samples >/dev/null
same samples
cp -r "$SRC/tests/data/sessions/foreign" foreign
same foreign

# Names: any bytes.
name=$(printf '%0600d' 0)
printf '"a b","x""y$z","größe","\xff\x01","%s",""\n' "$name" | sed 's/^/time,/' >names.csv
printf '0,0,0,0,0,0,1\n1,1,1,1,1,1,0\n' >>names.csv
coeval import names.csv --rate 1k -o names >/dev/null
same names
grep -o ' var .*' b.vcd
sed -n 's/^\$var wire 1 . \(.\{,20\}\).*/\1/p' b.vcd

# Nothing at all, nowhere to write it, and a full disk.
mkdir none
coeval capture -d file --device /dev/null --rate 1k --lines 2 --name n -o empty >/dev/null 2>&1
same empty
coeval export early --to fst; echo "-> $?"
coeval export early --to fst -o - | wc -c
mkfifo pipe
cat pipe >/dev/null &
coeval export early --to fst -o pipe; echo "-> $?"
(ulimit -f 8; trap '' XFSZ; coeval export edges --to fst -o full.fst; echo "-> $?"; ls full.fst* 2>&1)
