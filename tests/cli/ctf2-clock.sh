# SPDX-License-Identifier: MIT
# room: store
# What a clock class of CTF 2 states of its readings and its start, and clocks without a time of day.
need python3
python3 - <<'END'
import json, os, struct

def trace(name, at, **clock):
    os.mkdir(name)
    u64 = {"type": "fixed-length-unsigned-integer", "length": 64, "alignment": 8, "byte-order": "little-endian"}
    with open(name + "/metadata", "w") as f:
        for one in ({"type": "preamble", "version": 2}, {"type": "trace-class", "environment": {"hostname": name}},
                    dict({"type": "clock-class", "id": "c", "frequency": 10000000}, **clock),
                    {"type": "data-stream-class", "default-clock-class-id": "c", "event-record-header-field-class": {
                        "type": "structure", "member-classes": [{"name": "t", "field-class": dict(u64, roles=["default-clock-timestamp"])}]}},
                    {"type": "event-record-class", "name": "e", "payload-field-class": {
                        "type": "structure", "member-classes": [{"name": "x", "field-class": u64}]}}):
            f.write("\x1e" + json.dumps(one))
    with open(name + "/stream", "wb") as f:
        for k in range(3):
            f.write(struct.pack("<QQ", at + 1000 * k, k))

offset = {"seconds": 1700000000, "cycles": 5}
trace("stated", 100, origin="unix-epoch", precision=50, accuracy=20001, **{"offset-from-origin": offset})
trace("boot", 200, **{"offset-from-origin": offset})
trace("ptp", 300, origin={"name": "ptp", "uid": "grandmaster"}, **{"offset-from-origin": offset})
END
coeval import -o s stated boot ptp
coeval show s --bounds --node stated
python3 - <<'END'
import json
for clock in json.load(open("s/session.json"))["clocks"]:
    print(*(clock.get(k) for k in ("name", "rate_hz", "resolution_ticks", "start_unix_ns", "start_bound_ns")))
END
