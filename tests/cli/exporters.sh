# SPDX-License-Identifier: MIT
# room: export
# Grace's and FlockLab's files hold the edges of the CSV export, no more and no less; FlockLab's reads back as the same session.
ln -s "$SRC/examples" examples
coeval sim examples/worlds/outage.yaml -o s --duration 20s >/dev/null
coeval sync s >/dev/null

coeval export s --to csv -o all.csv
coeval export s --to grace -o grace.csv
coeval export s --to flocklab -o flocklab.csv
head -n 2 grace.csv flocklab.csv

# Seconds of the CSV export as whole ns, and lines by number.
awk -F, '
	$4 == "level" && seen[$3, $5]++ == 0 { line[$3, $5] = n[$3]++ }
	$4 == "level" || $4 == "edge" {
		split($1, t, ".")
		ns = t[1] t[2]
		sub(/^0+/, "", ns)
		print ns "," $3 "," line[$3, $5] "," $6
	}' all.csv >want
tail -n +2 grace.csv | cmp - want && echo "Grace: the same edges"

# The same with time of day, to 100 ns.
epoch=$(sed -n 's/.*"epoch_unix_ns": *\([0-9]*\).*/\1/p' s/sync.json | head -n 1)
awk -F, -v epoch="$epoch" '
	$4 == "level" && seen[$3, $5]++ == 0 { pin[$3, $5] = n[$3]++ }
	($4 == "level" && $6) || $4 == "edge" {
		split($1, t, ".")
		ns = t[2] + substr(epoch, length(epoch) - 8)
		s = t[1] + substr(epoch, 1, length(epoch) - 9)
		units = int((ns + 50) / 100)
		if (units >= 10000000) { units -= 10000000; s++ }
		split("LED1 LED2 LED3 INT1 INT2", pins, " ")
		printf "%d.%07d,%s,%s,%s,%s\n", s, units, $3, $3, pins[pin[$3, $5] + 1], $6
	}' all.csv >want
tail -n +2 flocklab.csv | cmp - want && echo "FlockLab: the same edges"

by_observer() {
	sort -s -t, -k2,2 "$1"
}

coeval import flocklab.csv -o back >/dev/null
coeval export back --to flocklab -o again.csv
cmp <(by_observer flocklab.csv) <(by_observer again.csv) && echo "FlockLab: reads back the same"

# Damage is reported, and the rest can be read.
size=$(stat -c %s s/traces/node3/stream)
printf 'damage' | dd of=s/traces/node3/stream bs=1 seek=$((size / 2)) conv=notrunc status=none
for format in grace flocklab; do
	status=0
	coeval export s --to $format -o damaged.csv 2>log || status=$?
	echo "$format: $status"
	grep -o 'has no gaps: .*' log
	[ "$(grep -c node3 damaged.csv)" -lt "$(grep -c node3 $format.csv)" ] && echo "less of node3"
	[ "$(grep -c node4 damaged.csv)" -eq "$(grep -c node4 $format.csv)" ] && echo "all of node4"
done
coeval import damaged.csv -o left >/dev/null && echo "what is left reads back"

# Lines beyond the pins there are, names that are no ids, and times before any epoch.
head -c 4000 /dev/urandom >raw
coeval import raw --format raw --channels 12 --rate 1MHz --node 'a,b' -o many >/dev/null
coeval export many --to flocklab 2>&1 >many.csv | sed 's/: [0-9]* changes/: N changes/'
sed -n 2p many.csv | cut -d, -f2,3
cut -d, -f4 many.csv | tail -n +2 | sort -u | tr '\n' ' '
echo
coeval export many --to grace | tail -n +2 | cut -d, -f2,3 | sort -u | wc -l

# What was written, as JSON.
coeval export back --to csv -o back.csv --json | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(j["format"], j["output"], j["records"] == sum(c["records"] for c in j["clocks"]) > 100, [c["clock"] for c in j["clocks"]][:2])'
coeval export back --to csv --json; echo "-> $?"
