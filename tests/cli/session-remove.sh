# SPDX-License-Identifier: MIT
# room: store
# A clock is removed from a session, and results derived from it are no longer used; clean removes leftovers.
need python3

run() {
	echo "\$ coeval $*"
	coeval "$@" 2>&1
	echo "-> $?"
}
clocks() {
	coeval info "$1" --json | python3 -c '
import json, sys
for c in json.load(sys.stdin)["clocks"]:
    print(" ", c["name"], c.get("sync", {}).get("verdict", "-"), c["records"] > 0)'
}
same() { cmp "$1" "$2" && echo "$3"; }

cat >world.yaml <<'END'
name: four
duration: 40s
clocks: [{ name: n, count: 4, oscillator: { offset_sd_ppm: 40 } }]
beacons: [{ receiver: { normal_ns: 500 } }]
pulses: [{ line: PPS, jitter: { normal_ns: 300 } }]
END
coeval sim world.yaml -o s >/dev/null
coeval sync s --pulse PPS:rise:1s --max-drift 150 >/dev/null
coeval sync s --calibrate PPS >/dev/null
clocks s
cp -r s whole
coeval show s --node n1 --ticks >before.txt

echo "== one of four"
run session remove s n3
clocks s
ls s/traces
python3 -c '
import json
for name in ("session", "sync", "truth", "calibration"):
    j = json.load(open("s/" + name + ".json"))["clocks"]
    print(" ", name, sorted(j) if isinstance(j, dict) else [c.get("name", c.get("clock")) for c in j])'
coeval info s | sed -n '/synchronised by/,/^$/p' | grep -c 'was removed from the session'
coeval show s --node n1 --ticks | same - before.txt "raw is untouched"
run session verify s | tail -n 2

echo "== the rules of before are used again"
coeval sync s 2>&1 | grep -E 'with the rules|^n[0-9]+ '| sed -E 's/  +/ /g; s/(good).*/\1/'
clocks s

echo "== interrupted: between one file and the next all can be read, and it can be done again"
for step in sync.json calibration.json truth.json; do
	rm -rf d
	cp -r whole d
	cp -r whole e
	coeval session remove e n3 >/dev/null
	for file in sync.json calibration.json truth.json; do
		cp e/$file d/
		[ $file != $step ] || break
	done
	coeval session verify d | tail -n 1
	coeval info d >/dev/null || echo "info fails"
	coeval session remove d n3 | tail -n 1
	coeval session clean d >/dev/null
	diff -r -x counts.json d e >/dev/null && echo "the same as at once"
	rm -rf e
done
cp -r whole/traces/n3 d/traces/n3
coeval session verify d | tail -n 1
run session clean d --dry-run
run session clean d
run session clean d
ls d/traces

echo "== linked, none left"
coeval session join -o linked --link whole
run session remove linked n2
ls whole/traces linked/traces
run session remove linked n1 n3 n4
coeval info linked | head -n 1
coeval session join -o linked whole

echo "== what cannot be"
run session remove s nobody
run session remove absent n1
run session remove s
run session remove whole/traces/n1 n1
ls absent 2>&1
python3 - <<'END' # n1 is still being captured
import fcntl, json, subprocess
j = json.load(open("linked/session.json"))
del j["sha256"]
j["clocks"][0]["finished"] = False
json.dump(j, open("linked/session.json", "w"))
with open("linked/traces/n1/stream") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    print(subprocess.run(["coeval", "session", "remove", "linked", "n1"], stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True).stdout, end="")
END
ls linked/traces
python3 - <<'END'
import json
j = json.load(open("whole/session.json"))
del j["sha256"]
j["clocks"][1]["trace"] = j["clocks"][0]["trace"]
json.dump(j, open("whole/session.json", "w"))
END
run session remove whole n1
run session remove whole n1 n2
ls whole/traces
python3 - <<'END'
import json
j = json.load(open("whole/session.json"))
del j["sha256"]
j["clocks"][0]["trace"] = "."
json.dump(j, open("whole/session.json", "w"))
END
run session remove whole n3
mv whole/traces elsewhere
ln -s ../elsewhere whole/traces
run session clean whole
run session remove whole n4
ls elsewhere
run session
run session clear s
