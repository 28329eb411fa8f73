# SPDX-License-Identifier: MIT
# room: cli
# An unknown level affects its line only, wherever edges are read: none begins or ends there.
cat >w.vcd <<-'VCD'
	$timescale 1 us $end
	$scope module libsigrok $end
	$var wire 1 ! PPS $end
	$var wire 1 " led $end
	$var wire 8 # bus [7:0] $end
	$upscope $end
	$enddefinitions $end
	#0 0! 0" b0 #
	#1000 1! b101 #
	#2000 0!
	#3000 x!
	#3500 1"
	#4000 0! bx #
	#5000 1! 0"
	#6000 0! b11 #
	#7000 1!
	#8000
VCD
coeval import -o s w.vcd > /dev/null
echo "--- show"
coeval show s
coeval show s --json | grep -e null -e '"levels"' | grep -o '"tick":.*'
for format in csv vcd grace; do
	echo "--- $format"
	coeval export s --to $format -o out.$format 2>&1
	grep -v version out.$format
done
coeval export s --to ctf -o ctf 2>&1
grep -A4 'name = "edge"' ctf/metadata | grep -o 'hex64_t _unknown'
coeval show ctf | grep -c _unknown

echo "--- and back"
coeval import -o back out.vcd --node w > /dev/null
cut -d, -f1,4,6 out.csv >want
coeval export back --to csv | cut -d, -f1,4,6 | cmp - want && echo "the same edges and values"

echo "--- check"
cat >rules.yaml <<-'YAML'
	- name: short
	  state: PPS:high
	  at most: 1100us
	- name: regular
	  event: PPS:rise
	  every: 2ms +- 100us
	- name: both
	  after: PPS:rise
	  then: PPS:fall
	  within: 2ms
YAML
coeval check s rules.yaml

echo "--- power"
coeval power s --power libsigrok.bus --line PPS
coeval power s --power libsigrok.bus --between PPS:rise..PPS:fall

echo "--- precision"
coeval precision s --between PPS:rise..PPS:fall | head -n 1
coeval precision s --between led:rise..PPS:rise | head -n 1

echo "--- flow"
cat >map.yaml <<-'YAML'
	program: blink
	pins: [PPS, led]
	points:
	  - { name: on, code: [PPS], next: [work] }
	  - { name: work, code: [PPS], next: [off] }
	  - { name: off, code: [led], next: [on] }
YAML
coeval flow s map.yaml | head -n 12

echo "--- sync"
sed 's/#\([0-9]*\)000/#\1003/' w.vcd >v.vcd
for line in PPS PSP led; do
	rm -rf two
	coeval import -o two --node a w.vcd > /dev/null
	coeval import -o two --node b v.vcd > /dev/null
	coeval sync two --pulse $line:rise:2ms 2>&1
done
sed 's/" led/" x.PPS/' w.vcd >both.vcd
coeval import -o both both.vcd > /dev/null
coeval sync both --pulse PPS:rise:2ms 2>&1
coeval decode both --uart PPS:9600 2>&1
exit 0
