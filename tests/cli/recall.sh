# SPDX-License-Identifier: MIT
# room: sync
# Without new rules a session is tied by its earlier ones again: their file is not needed.
need python3

run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}

# What ties the clocks, and when: the observations used and the maps.
same() {
	python3 - "$1/sync.json" <<'END'
import hashlib, json, sys

s = json.load(open(sys.argv[1]))
maps = json.dumps([c["maps"] for c in s["clocks"]], sort_keys=True)
print("maps", hashlib.sha256(maps.encode()).hexdigest()[:12],
      "window", [m["window_ns"] for m in s["settings"]["match"]])
END
}

coeval import -o s "$SRC/examples/two-hosts" >/dev/null
sed 's/^receive.*/&\nwindow: 10s/' "$SRC/examples/rules/radio.yaml" >mine.yaml
run coeval sync s | tail -n 2
coeval sync s --match mine.yaml --max-drift 100 >/dev/null
first=$(same s)
rm mine.yaml
coeval sync s >second.txt 2>notes
cat notes
tail -n 1 second.txt
[ "$(same s)" = "$first" ] || echo "tied otherwise: $first, $(same s)"
run coeval sync s --compare
run coeval sync s --advise 2>&1 | head -n 2
run coeval report s -o s.html
grep -o 'messages by radio; beacons' s.html
grep -o 'rates off by up to 100 ppm' s.html

# Limits of one's own, with the rules as they were; and a rule replaces all that there was.
run coeval sync s --max-drift 150 | tail -n 2
run coeval sync s --match "$SRC/examples/rules/radio.yaml" | tail -n 2
coeval sync s 2>notes >/dev/null
cat notes

# Pulses, a reference, a limit of one clock, and delays.
cat >world.yaml <<'YAML'
name: wired
seed: 3
duration: 2m
clocks:
  - { name: node, count: 3, rate: 8M, oscillator: { offset_sd_ppm: 50, walk_ppb: 1 } }
pulses:
  - { line: PPS, clocks: node*, period: 500ms, jitter: { normal_ns: 100 } }
  - { line: WIRE, clocks: node*, period: 1s, jitter: { normal_ns: 5 } }
YAML
coeval sim world.yaml -o p >/dev/null
coeval sync p --pulse PPS:rise:500ms --wander 20 --reference node2 --max-drift node3=400 >/dev/null
first=$(same p)
coeval sync p 2>notes | head -n 1
cat notes
[ "$(same p)" = "$first" ] || echo "tied otherwise: $first, $(same p)"
coeval sync p --calibrate WIRE 2>notes | grep -c 'hears .* by [0-9]* edges of WIRE'
cat notes

# A sync.json of a version that did not tell what was asked for.
python3 - <<'END'
import json

s = json.load(open("p/sync.json"))
del s["settings"]["asked"], s["sha256"]
json.dump(s, open("p/sync.json", "w"))
END
coeval sync p 2>notes | head -n 1
cat notes

# What cannot be read is no reason to fail.
for change in 's["settings"]["pulse"][0]["edge"] = "sideways"' 's["settings"]["match"] = [{"name": "x"}]' 's["coeval_sync"] = 3'; do
	python3 -c "
import json
s = json.load(open('p/sync.json'))
del s['sha256']
$change
json.dump(s, open('p/sync.json', 'w'))"
	run coeval sync p | tail -n 3
	coeval sync p --pulse PPS:rise:500ms >/dev/null
done
