# SPDX-License-Identifier: MIT
# room: analysis
# How much of its tasks a target can trace, and the frequency at which each takes the least energy.
need python3
ln -s "$SRC/examples" examples
device=examples/devices/stm32l476.yaml

run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}

run coeval task plan
run coeval task plan --cpu 13333333 --prescaler 0 --accesses 300k
run coeval task plan --prescaler 0 --timer 20MHz
run coeval task plan --cpu 80MHz --timer 1MHz
coeval task plan --range 0x08000000-0x080FFFFF | tail -n 13
coeval task plan --range 0x40013000-0x400133FF --range 0x40003800-0x40003FFF | tail -n 2
coeval task plan --range 0x40007C00-0x40007FFF --range 0x40009400-0x400097FF | tail -n 2
run coeval task plan --prescaler 1 --range 0x20000000-0x20017FFF --mask 14 --json
run coeval task plan --cpu fast
run coeval task plan --prescaler 65536
run coeval task plan --range 10
run coeval task plan --range 0x10-0x20 --range 0x20-0x30
run coeval task plan --mask 0

# The last digits of simulated figures are the mathematical library's affair.
figures() {
	sed -E 's/-?[0-9]+\.[0-9]+( %)/N\1/g; s/ +-?[0-9]+\.[0-9]{2,}/ N/g; s/ +N/ N/g; s/: [0-9]+([,.])/: n\1/g'
}
coeval task freq --device $device --synthetic 1 | figures
coeval task freq -d $device --synthetic 1 --list | tail -n 70 | head -n 3 | figures
coeval task freq -d $device --synthetic 1 --seeds 3 --kind constant --tasks 30 | figures | tail -n 3
coeval task freq -d $device --synthetic 1 --model model.c >model.txt
sed -E 's/-?[0-9]{3,}/N/g' model.c
coeval task freq -d $device --synthetic 1 --json --list | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(sorted(j), len(j["rules"]), len(j["choices"]))
print(sorted(j["rules"][0]))'
coeval task freq -d $device --synthetic 1 --json --seeds 2 | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(sorted(j), len(j["rules"]))'

# What is written is what a table holds: the same tasks, the same choices.
coeval task freq -d $device --synthetic 1 --write tasks.csv | tail -n +2 >simulated
coeval task freq -d $device tasks.csv | tail -n +2 >read
head -n 1 tasks.csv
wc -l <tasks.csv
cmp simulated read && echo "the same"
coeval task freq -d $device tasks.csv --policy low-voltage --other 53MHz >other
grep '^always\|left out, ' other | figures

# A column that is empty, of all tasks or of some; and all of them.
awk -F, -v OFS=, 'NR > 1 { $10 = "" } { print }' tasks.csv >empty.csv
coeval task freq -d $device empty.csv --model model.c | sed -n '/^$/,$p' | grep -A 2 'not known'
head -n 1 model.c
coeval task freq -d $device empty.csv --json | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(j["not_known"], j["learned_from"], sum("LSU" in r["rule"] for r in j["rules"]))'
awk -F, -v OFS=, '/^task0/ { $10 = "" } { print }' tasks.csv >some.csv
coeval task freq -d $device some.csv --model model.c | grep 'is fitted to'
head -n 1 model.c
rm model.c
awk -F, -v OFS=, 'NR > 1 { for (i = 7; i <= 14; i++) $i = "" } { print }' tasks.csv >bare.csv
run coeval task freq -d $device bare.csv --adaption off --model model.c
[ -e model.c ] && echo "a model of nothing was written"
coeval task freq -d $device bare.csv --adaption off | grep -A 1 'not known'

{ head -n 1 tasks.csv; grep '^task0[123],' tasks.csv | grep 'fast-flash,on,on' | sed '/^task02,40/d; s/^task01,80000000/task01,70000000/'; } >holes.csv
run coeval task freq -d $device holes.csv
sed 's/^task01,7/task01,8/' holes.csv >few.csv
coeval task freq -d $device few.csv 2>&1 | head -n 3 | figures
cut -d, -f1-14 few.csv | grep -v '^task03' >counts.csv
run coeval task freq -d $device counts.csv
run coeval task freq -d $device counts.csv --json
run coeval task freq -d $device counts.csv --model none.c
run coeval task freq -d $device few.csv --policy none
printf 'task,frequency\n' >bad.csv
run coeval task freq -d $device bad.csv
printf 'name: x\nalpha: 1\n' >bad.yaml
run coeval task freq -d bad.yaml tasks.csv
run coeval task freq -d absent.yaml tasks.csv
run coeval task freq tasks.csv
run coeval task freq -d $device
run coeval task freq -d $device tasks.csv --seeds 2
run coeval task freq -d $device --synthetic 1 --seeds 2 --list
run coeval task freq -d $device --synthetic x
run coeval task freq -d $device --synthetic 1 --kind other
run coeval task freq -d $device --synthetic 1 --other 80MHz

python3 "$SRC/tests/run_docs.py" "$SRC/docs/task.md"
