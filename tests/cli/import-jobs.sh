# SPDX-License-Identifier: MIT
# room: import
# Files are imported several at a time as one by one: the same session, the same messages.
flat() { # what is in session $1, but for what is random
	(cd "$1" && find . | sort)
	cat "$1/session.json" "$1"/traces/*/metadata
	coeval show "$1" --json
	coeval info "$1" --json
} 2>&1

random='s/"((uuid|created|derived_bytes|[a-z0-9_]*sha256)" ?: ?"?)[^",]*/"\1/g;s/uuid = .*//'

# import NAME FILE...: with 1, 2, 3 and 8 threads
import() {
	local name=$1 jobs status=0 first
	shift
	coeval import -o one --jobs 1 "$@" > told 2>&1 || status=$?
	flat one | sed -E "$random" > is
	first=$status
	for jobs in 2 3 8; do
		status=0
		coeval import -o many --jobs $jobs "$@" > told-many 2>&1 || status=$?
		sed -i 's/many/one/g' told-many
		flat many | sed -E "$random;s/many/one/g" > is-many
		cmp told told-many && cmp is is-many || echo "$name: --jobs $jobs differs"
		[ $status = $first ] || echo "$name: --jobs $jobs: exit status $status instead of $first"
		rm -rf many
	done
	echo "$name: exit status $first, $(grep -c '"node"' one/session.json 2> none || :) clocks"
	rm -rf one
}

for i in 1 2 3 4 5 6; do
	awk -v n=$i 'BEGIN { srand(n); t = 0
		print "Time [s],Channel 0,Channel 1"
		for (i = 0; i < 3000; i++) printf "%.6f,%d,%d\n", t += (1 + int(9 * rand())) / 1e5, i % 2, rand() < 0.5 }' > n$i.csv
done
mkdir x y traces
cp n1.csv x/n2.csv
awk -F, -v OFS=, 'NR > 1 && NR < 1500 { $1 += 1000 } { print }' OFMT=%.6f n3.csv > y/n3.csv
cp n4.csv y/same.csv
head -c 20000 n5.csv > cut.csv
printf 'Time [s],Channel 0\n0.1,0\n0.2,one\n' > bad.csv
echo 'a shopping list' > junk
coeval import -o t n1.csv --start 2026-01-31T12:00:00Z+-100ms > told
coeval export t --to ctf -o traces/a > told
coeval export t --to ctf -o traces/b > told

import "six files" n?.csv
import "stated facts" --start 2026-01-31T12:00:00Z+-100ms --drift 30 n1.csv n2.csv n3.csv
import "names that are taken" --node desk n1.csv n2.csv n3.csv
import "the same name in two folders" n1.csv n2.csv x/n2.csv n3.csv
import "the same bytes twice" n4.csv y/same.csv n5.csv
import "time that goes back" n2.csv y/n3.csv n4.csv
import "one that is cut" n1.csv cut.csv n2.csv
import "one that is damaged" n1.csv n2.csv bad.csv n3.csv n4.csv
import "one that fails" --strict n1.csv n2.csv bad.csv n3.csv n4.csv
import "one that is something else" n1.csv n2.csv junk n3.csv
import "one that is missing" n1.csv gone.csv n2.csv
import "one that fails, first" --strict bad.csv n1.csv
import "traces" traces/a n1.csv traces/b
import "links to traces" --link traces/a n1.csv traces/b
mkfifo pipe
for jobs in 1 3; do
	cat n2.csv > pipe &
	coeval import -o piped$jobs --jobs $jobs n1.csv pipe n3.csv
	wait
	ls piped$jobs piped$jobs/traces
done

# what an interrupted one left is removed by the next, and by `session clean`
mkdir -p piped1/importing/3/traces
coeval import -o piped1 n4.csv && ls piped1
mkdir -p piped1/importing/3/traces
coeval session clean piped1 && ls piped1
