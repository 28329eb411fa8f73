# SPDX-License-Identifier: MIT
# room: store
# CTF 2: as babeltrace2 2.1.1 showed the traces, of the final specification and of a release candidate; what it refuses is refused.
need python3
[ -n "$SHARED" ] || skip "shared data not found (beside the repository)"
traces=$SHARED/traces2

cat >compare.py <<'END'
import re, subprocess, sys

def events(lines):
    """(ns from the first, name and fields) of each, without the node that comes before the name."""
    out, first = [], None
    for line in lines:
        time, head, fields = re.match(r"(?:\[ *([^]+]*?)(?: \+-[^]]*)?\] )?(?:\(\+[^)]*\) )?([^{]*): ?(\{.*|)$", line.rstrip("\n")).groups()
        ns = int(re.sub(r"\D", "", time)) if time else 0
        first = ns if first is None else first
        name = head.split(" ", 1)[-1] if " " in head else head
        fields = re.sub(r" = \{ (\d+) \}", r" = \1", fields)  # of an optional field
        fields = re.sub(r"= \{ ((?:[0-9A-F]{2} )+)\}", lambda m: "= [ " + ", ".join(
            f"[{i}] = 0x{int(b, 16):X}" for i, b in enumerate(m[1].split())) + " ]", fields)  # BLOBs
        fields = re.sub(r"(0x\w+ \{ )([^}]*)( \})", lambda m: m[1] + ", ".join(sorted(m[2].split(", "))) + m[3], fields)  # flags
        fields = fields.replace("\\?", "?").replace("\\'", "'")
        fields = re.sub(r"(0x\w+) \{  \}", r"\1", fields)
        out.append((ns - first, name, fields))
    return out

def compare(trace, expected, some):
    done = subprocess.run(["coeval", "show", trace], capture_output=True, text=True)
    ours = events(done.stdout.splitlines())
    theirs = events(l for l in open(expected) if not l.startswith(("rc=", "warning")) and l.strip())
    timeless = all(ns == 0 for ns, _, _ in theirs)
    if some:
        ours = ours[:len(theirs)]
    ours = [(ns, name, fields) for ns, name, fields in ours]
    # the node is part of the line where the trace knows its host
    strip = lambda es: [(0 if timeless else ns, name.split(" ")[-1], fields) for ns, name, fields in es]
    ours, theirs = strip(ours), strip(theirs)
    if ours == theirs:
        return True
    print(f"{trace}: {len(ours)} events, not {len(theirs)}")
    for a, b in zip(ours, theirs):
        if a != b:
            print("  ours:  ", a, "\n  theirs:", b)
            break
    return False

n = sum(compare(trace, expected, "head" in expected) for trace, expected in (line.split() for line in sys.stdin))
print(n, "traces are the same")
END

{
	for trace in "$traces"/ctf2-babeltrace/succeed/*/; do
		trace=${trace%/}
		[ -e "$trace.expect.txt" ] && echo "$trace $trace.expect.txt"
	done
	for part in kernel ust; do
		echo "$traces/ctf2-babeltrace/succeed/multi-domains/$part $traces/ctf2-babeltrace/succeed/multi-domains-$part.head50.expect.txt"
	done
	# of a release candidate: the streams are those of the same traces of the final version
	for trace in "$traces"/ctf2-rc7-tracecompass/CTF2-7.0-*/; do
		twin=${trace%/}
		twin=${twin##*CTF2-7.0-}
		[ -e "$traces/ctf2-babeltrace/succeed/$twin.expect.txt" ] && echo "$trace $traces/ctf2-babeltrace/succeed/$twin.expect.txt"
	done
	# one question each; where babeltrace2 aborts, or is wrong (times as LEB128: c5), it is no oracle
	for expected in "$traces"/probes/[cd]*.expect; do
		trace=${expected%.expect}
		case ${trace##*/} in c1 | c4 | c5 | d1 | d2 | d14) continue ;; esac
		grep -q '^rc=0' "$expected" && echo "$trace $expected"
	done
} | python3 compare.py

echo "== two traces on one clock, whose start was measured twice: 40 ns apart"
coeval import -o one "$traces"/ctf2-babeltrace/succeed/multi-domains/{kernel,ust} 2>&1
coeval show one --node joraj-alpa 2>/dev/null | sed -n '273,274p' | cut -c1-60
echo "== numbers of variable length"
coeval show "$traces/ctf2-rc7-tracecompass/CTF2-vl-ints" 2>/dev/null | head -n 1
echo "== where babeltrace2 aborts: no time where a packet begins; several classes without an id; packetized metadata; times as LEB128"
for probe in c1 c4 d1 d2 d14 c5; do coeval show "$traces/probes/$probe" 2>&1 | sed "s:$traces/::"; done
echo "== what is refused"
for trace in "$traces"/ctf2-babeltrace/fail/* "$traces"/probes/{c7,c8,c11,c12,d7,d9,d12,d13}; do
	coeval show "$trace" 2>&1 | grep -v "no timestamps" | sed "s:$traces/::"
	echo "exit status ${PIPESTATUS[0]}"
done
