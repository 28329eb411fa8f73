# SPDX-License-Identifier: MIT
# room: sync
# Advice on the rate of messages: its results, that it changes nothing, and its limits.
need python3
ln -s "$SRC/examples" examples
run() {
	local status=0

	echo "\$ $*"
	"$@" || status=$?
	echo "exit status $status"
}

coeval sim examples/worlds/messages-only.yaml -o s --duration 20s >/dev/null
before=$(find s -type f -not -path '*/derived/*' -exec sha256sum {} + | sort)
run coeval sync s --match examples/rules/radio.yaml --advise --reference host2
run coeval sync --advise 40us s --match examples/rules/radio.yaml --max-drift 50 | tail -n 7
run coeval sync s --advise=90us --match examples/rules/radio.yaml --max-drift 50 | tail -n 7
[ "$(find s -type f -not -path '*/derived/*' -exec sha256sum {} + | sort)" = "$before" ] && echo "nothing in the session changed"

# JSON has the same, and what is measured with all of them is what sync finds in the middle.
coeval sync s --match examples/rules/radio.yaml --advise 90us --json >advice.json
python3 - <<'END'
import json

with open("advice.json", encoding="utf-8") as f:
    advice = json.load(f)
print(advice["reference"], advice["wanted_ns"], [c["clock"] for c in advice["clocks"]])
for c in advice["clocks"]:
    runs = {r["times"]: r for r in c["runs"]}
    medians = [r["median_ns"] for r in c["runs"]]
    print(c["clock"], sorted(c), medians == sorted(medians, reverse=True),
          all(r["median_ns"] >= c["floor_ns"] for r in c["runs"]),
          [t for t, r in runs.items() if not r["measured"]])
END

# Without messages, by an estimator that does not use them, and with too few of them.
run coeval sync s --advise
run coeval sync s --match examples/rules/radio.yaml --advise --estimator line
run coeval sync s --match examples/rules/radio.yaml --advise=0
run coeval sync s --match examples/rules/radio.yaml --advise --compare
sed 's/per_second: 20/per_second: 2/' examples/worlds/messages-only.yaml >seldom.yaml
coeval sim seldom.yaml -o short --duration 3s >/dev/null
run coeval sync short --match examples/rules/radio.yaml --advise
coeval sim examples/worlds/outage.yaml -o beacons --duration 5s >/dev/null
run coeval sync beacons --advise

echo "== names of clocks of any length"
long=$(printf 'n%.0s' {1..150})
for host in 1 2; do
	coeval import -n "$long$host" s/traces/host$host -o long >/dev/null
done
coeval sync long --match examples/rules/radio.yaml --advise --json --reference "${long}2" >long.json || echo "exit status $?"
python3 -c 'import json; a = json.load(open("long.json")); print(len(a["reference"]), len(a["clocks"]))'
