# SPDX-License-Identifier: MIT
# room: firmware; full
# The event timestamping kernel on an emulated PC: keys are pressed, its screen is read back, its disk imported.
[ "$(uname -m)" = x86_64 ] || skip "the kernel is built by gcc for x86-64, which this host's is not"
need qemu-system-x86_64
need python3
need gcc
IMAGE_MIB=4 "$SRC/firmware/build" ett fw "probes=1 selftest=2000 dwell=1ms save=disk" >build.log 2>&1 ||
	{ cat build.log; exit 1; }

# pc STEP... -- ARGUMENT...
pc() {
	local steps=()

	while [ "$1" != -- ]; do steps+=("$1"); shift; done
	shift
	timeout 200 python3 "$SRC/tests/ett_qemu.py" "${steps[@]}" -- \
		qemu-system-x86_64 -m 64 -smp 2 -parallel "${PARALLEL-null}" -nic none "$@" 2>qemu.log || { echo failed; cat qemu.log; exit 1; }
}
kernel() {
	pc "${@:2}" -kernel fw/ett.bin -append "$1"
}
# kernel CONFIG STEP... -- ARGUMENT...
space() {
	rm -f "$1"
	truncate -s "$2" "$1"
	printf COEVAL-ETT-SPACE | dd of="$1" conv=notrunc status=none
}
quietly() {
	grep -v 'does not report an invariant'
}
disk() {
	echo "if=ide,format=raw,index=${2-0},file=$1"
}

echo "== it boots from its own disk, tests itself, and saves there"
pc see=ready key=ret "see=saved, blocks" -- -drive "$(disk fw/ett.img)"
coeval import -o self fw/ett.img 2>&1 >/dev/null | quietly
coeval show self --json >self.json
python3 "$SRC/tests/ett_truth.py" self.json 2>truth.log || { cat truth.log; exit 1; }
echo "every event is in the bracket of its store, no long pulse was missed"
coeval sync self | sed 1q
coeval show self --bounds | grep -c unknown
coeval show self | grep -o 'ended_by = "[a-z ]*"'
coeval info self | awk '/ett-stores/ && /Hz/ { print $1, $6 }'
coeval export self --to ett-text | awk 'NF != 3 || $3 != 1 || $1 < last { bad++ } { last = $1; code = $2 } END { print bad + 0, "odd lines, the last code is", code }'

echo "== by a boot loader; keys and screen; saved to a second disk and by the serial port, which are alike"
space plain.img 2M
kernel "selftest=400 dwell=4ms zero=off probes=8" "line=Enter starts" "line=room for" key=ret "see=ended by the self-test" \
	"see=self-test: stores 400" "line=outside their bracket 0" "line=long and missed 0" \
	key=pgdn key=home "see=             0 " key=end key=g key=1 key=2 key=ret "see=            12 " \
	key=slash key=1 key=ret key=n \
	key=s "see=saved, blocks" key=t "wait=1" "see=saved, blocks" key=esc "see=ready" \
	-- -drive "$(disk plain.img 0)" -serial file:serial.bin | sed 's/  [0-9 ]*$//; s/stores.*outside/... outside/'
cmp -n "$(stat -c %s serial.bin)" serial.bin plain.img && echo "alike"
coeval import -o serial serial.bin 2>&1 >/dev/null | quietly
coeval import -o plain plain.img 2>&1 >/dev/null | quietly
coeval show serial --select run | grep -o 'ended_by = "[a-z -]*"'
coeval export serial --to ett-text >a.txt
coeval export plain --to ett-text >b.txt
cmp a.txt b.txt && [ -s a.txt ] && awk '$2 > 1 || $3 > 8 { bad = 1 } END { print bad ? "odd" : "eight probes of one bit" }' a.txt

echo "== a register of a PCI device, which another process writes to"
truncate -s 1M lines
python3 - <<'E' &
import mmap, time
with open("lines", "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
    while not m[0]:  # until the test says that it is ready
        time.sleep(0.05)
    for i in list(range(1, 21)) + [0]:
        time.sleep(0.1)
        m[6] = i
E
writer=$!
space pci.img 2M
kernel "pci=1af4:1110 bar=2 base=4 shift=16 probes=1 start=now save=disk" "see=capturing" mark=lines "see=saved, blocks" -- \
	-drive "$(disk pci.img)" -device ivshmem-plain,memdev=m \
	-object memory-backend-file,id=m,size=1M,mem-path=lines,share=on
wait "$writer"
coeval import -o pci pci.img 2>&1 >/dev/null | quietly
coeval export pci --to ett-text | awk '{ printf "%s ", $2 } END { print "" }'

echo "== the worst case: every step is a record; the HPET in place of the 8254"
space steps.img 2M
kernel "steps=on record=5000 start=now save=disk timer=hpet zero=off" "see=ended by full memory" "see=saved, blocks" -- \
	-drive "$(disk steps.img)"
coeval import -o steps steps.img 2>&1 >/dev/null | quietly
coeval show steps | grep -o 'calibrated_by = "[A-Z0-9]*"'
coeval show steps --json | python3 -c '
import json, sys
steps = [r["fields"]["ticks"] for r in map(json.loads, sys.stdin) if r["kind"] == "event" and r["name"] == "step"]
print(len(steps), "steps")'
coeval show steps --json | grep -c '"gap"'
coeval show steps --json | python3 -c '
import json, sys
rows = [r for r in map(json.loads, sys.stdin)]
run = [r["fields"] for r in rows if r.get("name") == "run"][0]
steps = [r["fields"]["ticks"] for r in rows if r.get("name") == "step"]
assert max(steps) == run["step_most"] and min(steps) == run["step_least"], (max(steps), min(steps), run)
print("the longest and the shortest are those of the statistics")'

echo "== instructions a step, counted: one a ns"
space count.img 2M
pc "see=saved, blocks" -- -smp 1 -icount shift=0 -drive "$(disk count.img)" -kernel fw/ett.bin \
	-append "length=20ms start=now save=disk"
coeval import -o count count.img 2>&1 >/dev/null | quietly
coeval show count | sed -n 's/.*steps = \([0-9]*\),.*/\1/p' | awk '{ n = 20000000 / $1; print (n <= 30 ? "30 or fewer" : n) }'

echo "== without a port; on disks that are not ours, too small, and not there"
truncate -s 2M foreign.img
space small.img 8704
PARALLEL=none
kernel "start=now length=100ms disk=0" "see=only FF was ever read" key=s "line=NOT SAVED" key=esc "see=ready" "line=WARNING: no port" -- \
	-drive "$(disk foreign.img)"
unset PARALLEL
cmp -n 2097152 foreign.img /dev/zero && echo "untouched"
kernel "selftest=3000 dwell=100ms probes=1 disk=1" "see=ready" key=ret "wait=3" key=a "see=ended by" key=s "line=NOT SAVED" -- \
	-drive "$(disk foreign.img 0)"
kernel "steps=on record=5000 start=now disk=0 zero=off" "see=ended by" key=s "line=NOT SAVED" -- -drive "$(disk small.img)" | quietly
coeval import -o small small.img 2>&1 >/dev/null | quietly

echo "== a machine that stood still while the clock was measured: the timer went round unseen, and it is measured again"
rate() {
	kernel "" "$@" see=ready line=clock -- | tr -d ' ' | sed 's/clock\([0-9]*\)Hz.*/\1/'
}
echo "$(rate) $(rate see=measuring wait=0.15 stop=0.12)" |
	awk '{ d = $1 / $2 - 1; print(d < 0.001 && d > -0.001 ? "the same rate" : $0) }'

echo "== one processor: the loop itself looks for keys, and the one that started it is none"
PARALLEL=none
kernel "start=key selftest=9" see=ready "line=second  " key=ret wait=1 line=capturing key=spc "line=ended by a key" key=esc see=ready -- -smp 1 |
	sed 's/  steps.*//'

echo "== modem lines of a serial port, set through its loopback; a code of 0 ends it"
space modem.img 2M
kernel "source=serial base=2f8 start=now save=disk" see=capturing wait=2 out=2FC:11 wait=1 out=2FC:12 wait=1 out=2FC:14 wait=1 \
	out=2FC:18 wait=1 out=2FC:1F wait=1 out=2FC:10 "see=saved, blocks" -- -serial null -serial null -drive "$(disk modem.img)"
coeval import -o modem modem.img 2>&1 >/dev/null | quietly
coeval export modem --to ett-text | cut -d " " -f 2-

echo "== no code ends it where a probe is one bit; its length does"
kernel "source=serial base=2f8 start=now probes=8 length=5s" see=capturing wait=1 out=2FC:13 wait=1 out=2FC:10 "line=ended by its length" \
	-- -serial null -serial null | sed 's/  steps.*//'

echo "== words that it does not know, and what keeps it from capturing"
kernel "probes=3 steps start=key" "see=ready" "line=not understood" --
kernel "source=mmio base=3 start=now" "line=Cannot" --
kernel "pci=ffff:1 start=now" "line=Cannot" "line=WARNING: there" --
kernel "start=now" "line=Cannot" -- -m 4
# on a busy machine the emulated timer may be too uneven to measure by
for _ in 1 2 3; do
	kernel "start=now timer=hpet length=1ms" "see=ended by its length" key=esc see=ready "line=by the 8254" -- -machine pc,hpet=off >by-8254
	! grep -q "by the 8254" by-8254 || break
done
sed 's/[0-9].*Hz by/by/; s/,.*//' by-8254
unset PARALLEL
