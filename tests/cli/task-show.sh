# SPDX-License-Identifier: MIT
# room: analysis
# Costs of tasks, reported by the packets of a processor's trace, by a line, by edges and by samples of power.
need python3

# A program of two tasks, one within the other, whose counters wrap; its seed is fixed.
python3 - <<'END'
import random

rng = random.Random(7)
out = bytearray(b"\0\0\0\0\0\x80")
since = 0
left = dict.fromkeys(["cyc", "fold", "lsu", "sleep", "exc", "cpi"], 0)
bits = {"cyc": 32, "fold": 16, "lsu": 8, "sleep": 4, "exc": 2, "cpi": 1}
true = {}


def stamp():
    global since
    v, since = since, 0
    if not v:
        return
    out.append(0xC0)
    while v > 0x7F:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)


def mark(port, value):
    out.extend((port << 3 | 1, value))
    stamp()


def work(tasks, cycles, add, address):
    global since
    for _ in range(cycles):
        since += 1
        wrapped = 0
        for name in left:
            if name == "cyc" or rng.random() < add.get(name, 0):
                left[name] += 1
                for task in tasks:
                    true[task, name] = true.get((task, name), 0) + 1
                if left[name] == (1024 if name == "cyc" else 256):
                    left[name] = 0
                    wrapped |= bits[name]
        if rng.random() < 0.002:
            out.extend((0x4E, 4, 0x20))  # comparator 0
            stamp()
        if wrapped:
            out.extend((0x05, wrapped))
            if wrapped & 32:
                out.append(0x17)
                out.extend(address.to_bytes(4, "little"))
            stamp()


for run in range(30):
    work([], 500, {}, 0x8000220)
    mark(30, 1)
    work([1], rng.randrange(4000, 6000), {"lsu": .3, "cpi": .1, "fold": .05}, 0x80002C0)
    mark(30, 2)
    work([1, 2], 3000, {"lsu": .02, "cpi": .4}, 0x8000300)
    mark(31, 2)
    if run == 11:
        out.append(0x70)
    mark(31, 1)
mark(30, 2)
open("trace.itm", "wb").write(out)
with open("true", "w") as f:
    for (task, name), n in sorted(true.items()):
        print(task, name, n / 30, file=f)

# A line that is high during a task, another with five rising edges for each of the 7 packets in a run; power.
t, events = 0, []
for run in range(6):
    events += [(t + 10, "1b"), (t + 10, "r0.05 p")]
    events += [(t + 20 + 10 * k, f"{1 - k % 2}s") for k in range(70)]
    events += [(t + 770, "0b"), (t + 770, "r0.01 p")]
    events += [(t + k, "r%g p" % (0.05 if 10 <= k < 770 else 0.01)) for k in range(0, 1000, 15)]
    t += 1000
with open("lines.vcd", "w") as f:
    f.write("$timescale 1us $end\n$var wire 1 b busy $end\n$var wire 1 s swo $end\n")
    f.write("$var real 64 p watt $end\n$enddefinitions $end\n#0\n0b\n0s\nr0.01 p\n")
    for at, what in sorted(events, key=lambda e: e[0]):
        f.write(f"#{at}\n{what}\n")
    f.write(f"#{t}\n")
END

run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}

coeval import -o s --format itm --rate 80M trace.itm >/dev/null
printf '# tasks\n1 filter\n2\tdivide # within\n' >names
run coeval task s --names names
run coeval task s --name 1=filter --cpu 80MHz --counters cyc,exc --comparator 0=flash
run coeval task s --each --functions | head -n 60
run coeval task s --cpu 80MHz --csv --policy 'fast, high' --cache off
run coeval task s --cpu 80MHz --csv --each | wc -l
coeval task s --cpu 80MHz --csv >table.csv
coeval task freq -d "$SRC/examples/devices/stm32l476.yaml" table.csv >/dev/null 2>err
echo "task freq reads it: -> $?"

# The truth lies within.
coeval task s --json --each >json
python3 - <<'END'
import json

tasks = {t["task"]: t for t in json.load(open("json"))["tasks"]}
for line in open("true"):
    task, name, n = line.split()
    f = tasks[task]["mean"]["counts"][name]
    if f and not f["low"] <= float(n) * 1.1 and float(n) * 0.9 <= f["high"]:
        print("the truth is not within", task, name, n, f)
print(sorted(tasks["1"]))
END

coeval import -o l lines.vcd >/dev/null
run coeval task l --pin busy --power watt --tracing-mw 4
run coeval task l --pin busy --current watt --volts 2 --unit 0.5 --each
run coeval task l --pin busy:low --edges swo --counting lsu --cpu 80MHz
run coeval task l --pin busy --edges swo --counting ram --cpu 80MHz

# The simulated board never sleeps during its tasks, but packets of the sleep counter come out during them; and marks come out
# late, but the pin shows when the tasks ran.
coeval import -o b --swo SWO "$SRC/examples/swo/board.vcd" >/dev/null
coeval task b --power power --pin TASK --ports 98,99 --json --each >pin
coeval task b --power power --json --each >marks
python3 - <<'END'
import json

pin, marks = (json.load(open(name))["runs"] for name in ("pin", "marks"))
print(len(pin), "runs by the pin,", len(marks), "by marks")
print(sum(r["counts"]["sleep"]["low"] > 0 for r in pin), "seem to have slept")
print(sum(abs(m["end_ns"] - m["begin_ns"] - p["end_ns"] + p["begin_ns"]) > m["duration_bound_ns"]
          for m, p in zip(marks, pin)), "are too long or too short")
print(sum(not m["joule"]["low"] <= p["joule"]["value"] <= m["joule"]["high"]
          for m, p in zip(marks, pin)), "took another energy")
for what in ("cpi", "lsu", "cyc"):
    print(sum(m["counts"][what]["low"] > p["counts"][what]["high"] or m["counts"][what]["high"] < p["counts"][what]["low"]
              for m, p in zip(marks, pin)), "counted otherwise", what)
END

echo "a line named twice: $(coeval task l --pin busy --pin busy | head -n 1)"
run coeval task s --delay -1us
run coeval task l
run coeval task l --pin idle
run coeval task l --pin busy --power volt
run coeval task l --pin busy --edges swo
run coeval task l --pin busy --counting mips
run coeval task l --pin busy --comparator 0=lsu
run coeval task s --ports 3,3
run coeval task s --csv
run coeval task s --cycles-per-packet 0.5
run coeval task s --cpu fast
run coeval task s --name fft
printf '1 fft\nthree\n' >names
run coeval task s --names names
run coeval task absent
run coeval task
