# SPDX-License-Identifier: MIT
# room: store
# A range that begins in the middle of a capture: the levels of its lines are known at its beginning.
{
	echo '$timescale 1 us $end $scope module m $end'
	for i in 0 1 2 3 4 5 6 7; do echo "\$var wire 1 $i D$i \$end"; done
	echo '$upscope $end $enddefinitions $end'
	printf '#0\n'
	for i in 0 1 2 3 4 5 6 7; do echo "$((i % 2))$i"; done
	printf '#1000\n1%s\n' 0
	printf '#2000\n0%s\n' 1
	printf '#3000\n0%s\n' 0
	printf '#9000\n'
} >eight.vcd
coeval import -o s eight.vcd > /dev/null

coeval show s --from 1500us --until 2500us
coeval show s --from 1500us --until 1600us
coeval show s --from 1500us --until 2500us --json | tail -n 1
coeval export s --to csv --from 1500us -o -
echo
coeval export s --to vcd --from 1500us -o - | sed -n '/enddefinitions/,$p'
# beyond the last change the lines stay as they are, and beyond the end of the capture they are unknown
coeval show s --from 5ms --until 6ms
coeval show s --from 10ms
echo "exit status $?"
