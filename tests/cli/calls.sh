# SPDX-License-Identifier: MIT
# room: analysis
# Usage errors, bad rules and names, gaps and what they hide, on the example's session; folded stacks and the flame graph.
need python3
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
- { switch: a, next: b, reason: tired }
- { begin: a, end: b, reason: blocked }
- { interrupt: a, end: b }
- { wake: a }
- { wake: a, task: b, needs: [sleep] }
- { interrupt: a, return: b, context: [timer, dream] }
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

echo "== those of messages are listed and shown"
coeval sync --match help
coeval sync --match tracer --show
coeval sync --match nothing --show

echo "== the built-in rules can be read as rules"
for name in $(coeval calls --rules help | cut -d " " -f 1); do
	coeval calls --rules "$name" --show
done >builtin.yaml
coeval calls s --rules builtin.yaml --json >a.json
coeval calls s --json >b.json
cmp a.json b.json && echo "and change nothing"
coeval calls s --rules pairs --json | cmp - b.json && echo "nor do some of them by name"
coeval calls --rules none --show; echo "status $?"
coeval calls s --show; echo "status $?"
coeval calls s --off-cpu; echo "status $?"

echo "== names of a program that is not where its file says"
cat >f.c <<'C'
void work(void);
void work(void) { }
C
if cc -nostdlib -shared -fPIC -o program f.c 2>/dev/null; then
	python3 - "$(nm program | sed -n 's/ T work//p')" <<'PYTHON'
import os, struct, sys
address = int(sys.argv[1], 16)
for name, base in (("there", 0), ("moved", 0x7f0000000000)):

    os.makedirs(name)
    open(name + "/metadata", "w").write("""/* CTF 1.8 */
typealias integer { size = 64; align = 8; signed = false; base = 16; } := u64;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { event.header := struct { u64 id; ts timestamp; }; };
event { name = func_entry; id = 0; fields := struct { u64 addr; }; };
event { name = func_exit; id = 1; fields := struct { u64 addr; }; };
""")
    open(name + "/stream", "wb").write(b"".join(struct.pack("<QQQ", i, 1000 * i, address + base) for i in (0, 1)))
PYTHON
	coeval calls there --elf program --folded
	coeval calls moved --elf program --folded 2>&1 | sed 's/0x7f[0-9a-f]*/ADDRESS/'
	coeval calls moved --elf program@0x7f0000000000 --folded
fi
