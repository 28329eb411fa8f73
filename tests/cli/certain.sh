# SPDX-License-Identifier: MIT
# room: sync
# Undecided periods are reported as ambiguous; otherwise what decided is named.

# A capture of a second pulse (and of one edge of T) by an analyzer: begin s, rate in ppm, pulses, period.
capture() {
	awk -v begin="$1" -v ppm="$2" -v n="$3" -v period="$4" 'BEGIN {
		print "Time [s],PPS,T"
		print "0.000000000,0,0"
		for (k = 0; k < n; k++) {
			t = 0.7 + k * period
			if (t < begin) continue
			printf "%.9f,1,0\n", (t - begin) * (1 + ppm * 1e-6)
			printf "%.9f,0,0\n", (t + 0.3 * period - begin) * (1 + ppm * 1e-6)
			if (k == 9) {
				printf "%.9f,0,1\n", (t + 0.5 * period - begin) * (1 + ppm * 1e-6)
				printf "%.9f,0,0\n", (t + 0.6 * period - begin) * (1 + ppm * 1e-6)
			}
		} }'
}

run() {
	echo "\$ coeval $*"
	coeval "$@" 2>&1
	echo "-> $?"
}

verdict() { # the second clock's
	run "$@" | sed -nE 's/^(n2: .*|-> .*)/\1/p'
}

echo "== two analyzers that were started by hand 2.3 s apart"
capture 0 20 60 1 >n1.csv
capture 2.3 -35 60 1 >n2.csv
coeval import -o s n1.csv n2.csv > /dev/null
run sync s --pulse PPS:rise:1s
echo "-- against another clock nothing is known"
coeval show s --from 5 --until 6 --bounds --select edge | sed -E 's/.* \+- +([^]]*)\] (n[12]) .*/\2 \1/; s/[0-9.]+ ns/bounded/' | sort | uniq -c | sed 's/^ *//'
cat >rules.yaml <<'RULES'
- after: n1.T:rise
  then: n2.T:rise
  within: -1ms to 1ms
RULES
coeval check s rules.yaml 2>&1 | sed -n '1,4p'
coeval info s | grep -c ambiguous
coeval export s --to csv 2>&1 >/dev/null
coeval sync s --compare --pulse PPS:rise:1s | grep -c ' 1/2 '
echo "-- an edge that all saw"
verdict sync s --pulse PPS:rise:1s --align T
coeval check s rules.yaml 2>&1 | sed -n '1,2p'
verdict sync s
echo "-- when they began"
coeval import -o claimed n1.csv --start 2026-01-31T12:00:00Z+-100ms > /dev/null
coeval import -o claimed n2.csv --start 2026-01-31T12:00:02.35Z+-100ms > /dev/null
verdict sync claimed --pulse PPS:rise:1s
coeval import -o vague n1.csv --start 2026-01-31T12:00:00Z+-600ms > /dev/null
coeval import -o vague n2.csv --start 2026-01-31T12:00:02.35Z+-600ms > /dev/null
verdict sync vague --pulse PPS:rise:1s
coeval import -o unstated n1.csv --start 1769860800 > /dev/null
coeval import -o unstated n2.csv --start 1769860802.35 > /dev/null
verdict sync unstated --pulse PPS:rise:1s
verdict sync unstated --pulse PPS:rise:1s --start-bound 200ms
echo "-- and where each has a reference of its own"
coeval sync claimed --pulse PPS:rise:1s --json | grep -o '"note":"[^"]*"'
coeval sync claimed --pulse PPS:rise:1s:+-300ns --json | grep -o '"note":"[^"]*"'
grep -o '"reference_ns": [0-9]*' claimed/sync.json | sort | uniq -c | sed 's/^ *//'
coeval show claimed --from 5 --until 6 --bounds --select edge | sed -E 's/.* \+- +([0-9]+) ns\].*/\1/' | awk '{ print ($1 >= 300 ? "300 ns and more" : "less") }' | sort | uniq -c | sed 's/^ *//'
run sync claimed --pulse PPS:rise:1s:300ns | head -n 2

echo "== a period that is not theirs"
capture 0 20 600 0.1 >fast.csv
coeval import -o fast fast.csv > /dev/null
for period in 100ms 101ms 1s 10ms; do
	run sync fast --pulse PPS:rise:$period | sed -nE 's/^(fast: .*|-> .*)/\1/p'
done

echo "== one clock is never ambiguous"
coeval import -o one n1.csv > /dev/null
run sync one --pulse PPS:rise:1s | tail -n 2

echo "== a clock that is further off than was stated"
capture 0 516 600 1 >off.csv
coeval import -o off off.csv --drift 200 > /dev/null
run sync off --pulse PPS:rise:1s | tail -n 2
coeval import -o off2 off.csv > /dev/null
run sync off2 --pulse PPS:rise:1s | tail -n 2

echo "== decided against a clock that is itself ambiguous"
# n1 hears A and B, n2 B alone, n3 A alone; n1 and n3 say when they began.
two_lines() { # begin, A's period or 0, B's period or 0
	awk -v begin="$1" -v a="$2" -v b="$3" 'BEGIN {
		for (k = 0; k < 60; k++) {
			if (a) { print 0.3 + k * a, 0, 1; print 0.5 + k * a, 0, 0 }
			if (b) { print 0.9 + k * b, 1, 1; print 1.1 + k * b, 1, 0 }
		} }' | sort -n | awk -v begin="$1" 'BEGIN { print "Time [s],A,B\n0,0,0" }
		$1 > begin && $1 < 60 { level[$2] = $3; printf "%.9f,%d,%d\n", $1 - begin, level[0], level[1] }'
}
two_lines 0.0 1 2 >n1.csv
two_lines 3.1 0 2 >n2.csv
two_lines 1.6 1 0 >n3.csv
coeval import -o three n1.csv --start 1769860800+-10ms > /dev/null
coeval import -o three n2.csv > /dev/null
coeval import -o three n3.csv --start 1769860801.6+-10ms > /dev/null
for reference in n1 n2; do
	coeval sync three --pulse A:rise:1s --pulse B:rise:2s --reference $reference | sed -nE 's/^(n[123] +[a-z]+) .*/\1/p'
done
