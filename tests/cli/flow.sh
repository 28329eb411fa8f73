# SPDX-License-Identifier: MIT
# room: analysis
# Markers to control flow: codes are assigned, a program with their macros runs, and its path is recovered.
need cc
need python3

run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}

cp -r "$SRC/examples/flow" .
run coeval flow assign flow/sensor.yaml -k D0,D1 -o two.yaml --header two.h
run coeval flow assign flow/sensor.yaml --levels -k 2
run coeval flow assign flow/sensor.yaml --together -k 2 --settle 1us
run coeval flow assign flow/sensor.yaml -o map.yaml --header markers.h
cc -Wall -Wextra -Werror -Wno-unused-macros -I. flow/sensor.c -o sensor || exit 1
./sensor >n1.vcd

# On the second node a pin changes twice too often, and 5 ms are lost.
python3 - <<'END'
import re
level = {c: 0 for c in "abc"}
done = []


def once(what, at, after):
    if at > after and what not in done:
        done.append(what)
        return True
    return False


with open("n2.vcd", "w") as f:
    for line in open("n1.vcd"):
        at = int(line[1:]) if re.match(r"#\d+$", line) else 0
        if once("pulse", at, 3100000):
            f.write(f"#3100000\n{1 - level['c']}c\n#3101000\n{level['c']}c\n")
        if once("off", at, 20000000):
            f.write("#20000000\n$dumpoff xa xb xc $end\n")
        if once("on", at, 25000000):
            f.write("#25000000\n$dumpon " + " ".join(f"{v}{c}" for c, v in level.items()) + " $end\n")
        if re.match(r"[01][abc]$", line):
            level[line[1]] = int(line[0])
        if "off" not in done or "on" in done:
            f.write(line)
END
coeval import -o s --node n1 n1.vcd >/dev/null
coeval import -o s --node n2 n2.vcd > /dev/null
run coeval flow s map.yaml --between wake..sleep --between wake:wake --svg times.svg
grep -c '<rect\|<path' times.svg >/dev/null && echo "a picture"
run coeval flow s map.yaml --path --node n1 --from-start --until 5ms
run coeval flow s map.yaml --path --node n2 --from 18ms --until 28ms
run coeval flow s map.yaml --path --node n2 --until 4ms
run coeval flow s map.yaml --path --node n2 --json --from 19ms --until 27ms
coeval flow s map.yaml --json --between read..sleep >json && python3 - <<'END'
import json
j = json.load(open("json"))
print(j["points_passed"], j["branches_taken"])
print([(n["clock"], n["markers"], n["jump"], n["gap"], n["points_passed"], n["branches_taken"]) for n in j["nodes"]])
for b in j["between"]:
    print(b["from"], b["to"], b["times"], b["not_counted"], b["best"], b["worst"], sum(h["times"] for h in b["histogram"]))
END

# What is refused.
printf 'pins: [D0, D1, D2]\npoints:\n  - { name: a, code: D0 }\n  - { name: b, code: [D0, D1] }\n  - { name: c, code: [D1, D2] }\n  - { name: d, code: D2 }\n' >bad.yaml
run coeval flow s bad.yaml
sed -i 's/name: b, code: .D0, D1./name: b, code: [D3]/' bad.yaml
run coeval flow s bad.yaml
sed -i 's/D3/D1+D2/; s/D0, D1, D2/D0, D1, D2, D9/' bad.yaml
run coeval flow s bad.yaml
printf 'pins: [X]\npoints:\n  - { name: a, code: X }\n' >other.yaml
run coeval flow s other.yaml
run coeval flow s map.yaml --between wake
run coeval flow s map.yaml --between wake..filter
run coeval flow s map.yaml --between wake..absent
run coeval flow s map.yaml --svg x.svg
run coeval flow s map.yaml --from-start --from 1ms
run coeval flow s map.yaml --from 5 --until 1
run coeval flow s map.yaml --node n9
run coeval flow s
run coeval flow absent map.yaml
run coeval flow s absent.yaml
run coeval flow assign flow/sensor.yaml -k 1
run coeval flow assign flow/sensor.yaml -k 1 --levels
run coeval flow assign flow/sensor.yaml -k D0,D0
run coeval flow assign flow/sensor.yaml -k 4
run coeval flow assign
