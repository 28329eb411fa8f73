# SPDX-License-Identifier: MIT
# Usage errors, bad rules and names, gaps and what they hide, on the example's session; folded stacks and the flame graph.
cp -r "$SRC/examples/calls/sobel" s
cp "$SRC/examples/calls/queue.yaml" queue.yaml

echo "== usage"
coeval calls; echo "status $?"
coeval calls s --json --folded; echo "status $?"
coeval calls s --top 0; echo "status $?"
coeval calls s --path nothing; echo "status $?"
coeval calls nowhere; echo "status $?"

echo "== rules that cannot be read"
while read -r rule; do
	printf '%s\n' "$rule" >bad.yaml
	coeval calls s --rules bad.yaml; echo "status $?"
done <<'RULES'
- { begin: a }
- { begin: a, end: b, begin: c }
- { begin: a, end: b, nmae: c }
- { switch: a }
- { interrupt: a, end: b }
- { begin: a, end: b, name: [a, [b]] }
- { begin: a, end: b, name: { a: b } }
- 3
{ begin: a
RULES
coeval calls s --rules nowhere.yaml; echo "status $?"
echo nothing >names.txt
coeval calls s --names names.txt; echo "status $?"
coeval calls s --elf names.txt; echo "status $?"

echo "== no event that is a begin or an end"
coeval import -o lines "$SRC/tests/data/small.csv" >/dev/null 2>&1
coeval calls lines; echo "status $?"

echo "== one rule of one's own, before those that are built in"
echo '- { begin: main_begin, end: main_end, thread: none }' >own.yaml
echo '- { begin: "nothing*", end: "nothing" }' >>own.yaml
coeval calls s --rules own.yaml --node slave0 --top 3 | sed -n '/function/,/^$/p'

echo "== folded stacks"
coeval calls s --folded --node 'slave[01]'

echo "== flame graph"
coeval calls s --svg flame.svg >/dev/null
grep -c '<rect' flame.svg
python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' flame.svg && echo "is XML"

echo "== the built-in rules can be read as rules"
coeval calls --rules help >builtin.yaml
coeval calls s --rules builtin.yaml --json >a.json
coeval calls s --json >b.json
cmp a.json b.json && echo "and change nothing"
