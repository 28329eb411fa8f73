# SPDX-License-Identifier: MIT
# room: import
# Records that are stored out of order are shown in order, as far as the disorder is known.
printf 'Time [s],a,b\n0.0,0,0\n1.0,1,0\n3.0,1,1\n2.5,0,0\n2.0,1,1\n4.0,0,1\n' >rows.csv
coeval import -o s rows.csv 2>&1 | grep -v '^next'
coeval show s
echo "== from the middle"
coeval show s --from 2.2s --until 3.5s
grep disorder s/session.json
coeval session verify s
echo "== more than 10 s"
printf 'Time [s],a\n0.0,0\n20.0,1\n2.0,0\n25.0,1\n' >late.csv
coeval import -o late late.csv >/dev/null 2>&1
coeval show late
coeval import -o stated --disorder 30s late.csv >/dev/null 2>&1
coeval show stated
echo "== a clock that steps back, and one row that is wrong"
{
	printf 'Time [s],a,v\n'
	for i in $(seq 100 10 200); do echo "$i,$((i / 10 % 2)),$i.5"; done
	echo 20,0,1
	for i in $(seq 210 10 250) $(seq 40 10 140); do echo "$i,$((i / 10 % 2)),$i.5"; done
} >back.csv
coeval import -o back back.csv --start 2026-03-01T09:30:00+-200ms 2>&1 | grep -v '^next'
coeval show back | grep -v sample | cut -c 1-60
coeval show back --json | grep -c '"epoch":2.*sample'
coeval import -o strict --strict back.csv
echo "exit status $?"
