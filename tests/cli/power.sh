# SPDX-License-Identifier: MIT
# room: analysis
# Power reports: FlockLab's files side by side, a RocketLogger's file whole and cut.
need python3

python3 - <<'END'
import struct

START = 1600000000

# Node 4's LED is on for 2 ms every 10 ms, and takes 10 mA then, else 1 mA; a radio pin shows node 7's.
with open("gpiotracing.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,pin_name,value\n")
    for i in range(50):
        f.write(f"{START}.{i * 10000:06d}0,4,4,LED1,1\n{START}.{i * 10000 + 2000:06d}0,4,4,LED1,0\n")
    for i in range(5):
        f.write(f"{START}.{i * 100000 + 500:06d}0,7,7,INT1,1\n{START}.{i * 100000 + 5000:06d}0,7,7,INT1,0\n")
with open("powerprofiling.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,current_mA,voltage_V\n")
    for k in range(5000):
        f.write(f"{START}.{k * 100 + 50:06d}0,4,4,{10 if k % 100 < 20 else 1},3\n")
    for k in range(5000):
        f.write(f"{START}.{k * 100 + 50:06d}0,7,7,2,3\n")


def channel(unit, scale, link, name):
    return struct.pack("<IiHH16s", unit, scale, 4 if unit < 3 else 0, link, name)


def rld(path, cut, first=b"DI1", last=b"V1"):
    out = struct.pack("<4sHHIIQH6sqqIHH", b"%RLD", 4, 56 + 8 + 4 * 28, 100, 3, 300, 1000, b"\1\2\3\4\5\6", START, 0, 8, 2, 2)
    out += b"a meter\0" + channel(3, 0, 0xFFFF, first) + channel(4, 0, 0xFFFF, b"I1L_valid")
    out += channel(2, -9, 0xFFFF, b"I1H") + channel(1, -8, 0xFFFF, last)
    for block in range(3):
        ns = block * 100352000
        out += struct.pack("<qqqq", START, ns, 77, ns)
        for i in range(100):
            out += struct.pack("<Iii", 1 if i % 20 < 10 else 0, 2000000 if i % 20 < 10 else 100000, 300000000)
    with open(path, "wb") as f:
        f.write(out[: len(out) - cut])


rld("meter.rld", 0)
rld("cut.rld", 500)
rld("odd.rld", 0, b"", b"V\x1b[1m\n\xff")
rld("twin.rld", 0, b"I1L_valid", b"I1H")
rld("twin_p1.rld", 0)

# Readings end long before the edges do.
with open("long.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,pin_name,value\n")
    for i in range(150000):
        f.write(f"{START + i // 1000}.{i % 1000:03d}0000,4,4,LED1,{i & 1}\n")
with open("short.csv", "w") as f:
    f.write("timestamp,observer_id,node_id,current_mA,voltage_V\n")
    for k in range(5000):
        f.write(f"{START}.{k * 100 + 50:06d}0,4,4,10,3\n")
END

run() {
	local status=0

	echo "\$ $*"
	"$@" 2>&1 || status=$?
	[ $status -eq 0 ] || echo "(exit status $status)"
	echo
}

run coeval import -o flock gpiotracing.csv powerprofiling.csv
run coeval power flock --current current --volts voltage
run coeval power flock --current current --volts voltage --rounded 0.001
run coeval power flock --current current --volts voltage --line LED1
run coeval power flock --current current --volts voltage --between INT1..INT1:fall --each
run coeval power flock --current current --volts 3 --between node-4.LED1:rise..node-4.LED1 --json
run coeval import -o meter meter.rld
run coeval power meter --current I1H --volts V1 --line DI1
run coeval power meter --current I1H --volts V1 --between DI1..DI1:fall --each --from 0.1 --until 0.2
run coeval import -o cut cut.rld
run coeval power cut --current I1H --volts V1

run coeval import -o twin twin.rld
run coeval power twin --power I1H_2 --line I1L_valid_2
sed '3000,3009s/,10,3$/,1e308,3/' short.csv >wild.csv
sed 's/,10,3$/,1e308,3/' short.csv >absurd.csv
coeval import -o wild wild.csv > /dev/null
run coeval power wild --current current --volts voltage
coeval import -o absurd absurd.csv > /dev/null
run coeval power absurd --current current --volts voltage
coeval import -o long long.csv short.csv > /dev/null
run coeval power long --current current --volts voltage --line LED1

coeval import -o $'odd\xff' odd.rld > /dev/null
coeval info $'odd\xff' | grep -A2 "^lines"
for verb in info "power --power I1H"; do
	coeval $verb $'odd\xff' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["session"])'
done

run coeval power meter
run coeval power meter --current I1H
run coeval power meter --power I9
run coeval power meter --power I1H --line DI9
run coeval power meter --power I1H --line DI1:rise
run coeval power meter --power I1H --between DI1
run coeval power meter --power I1H --between DI1:rise..tx
run coeval power meter --power I1H --between I1L_valid..DI1
run coeval power meter --power I1H --each
run coeval power meter --power I1H --line DI1 --between DI1..DI1
run coeval power meter --power I1H --volts x
run coeval power meter --power I1H --unit 0
run coeval power meter --power I1H --unit 1e308
run coeval power meter --power I1H --rounded nan
run coeval power meter --power I1H --from 10
run coeval power nowhere --power x
