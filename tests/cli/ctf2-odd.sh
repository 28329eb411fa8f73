# SPDX-License-Identifier: MIT
# room: store
# Traces of CTF 2 that are odd and right, and some that are wrong.
need python3
cat >make.py <<'END'
import json, os, struct

LE, BE = "little-endian", "big-endian"

def u(bits, order=LE, **more):
    return dict({"type": "fixed-length-unsigned-integer", "length": bits, "byte-order": order}, **({"alignment": 8} if bits % 8 == 0 else {}), **more)

def struct_of(*members, **more):
    return dict({"type": "structure", "member-classes": [{"name": n, "field-class": c} for n, c in members]}, **more)

def stream(**more):
    return dict({"type": "data-stream-class"}, **more)

def event(payload, **more):
    return dict({"type": "event-record-class", "name": "e", "payload-field-class": payload}, **more)

def clock(**more):
    return dict({"type": "clock-class", "frequency": 1000000000}, **more)

def header(*members):
    return {"event-record-header-field-class": struct_of(*members, **{"minimum-alignment": 8})}

def variant(path, *options):
    return {"type": "variant", "selector-field-location": {"path": path},
            "options": [{"selector-field-ranges": r, "field-class": c} for r, c in options]}

def blob(*path, **more):
    return {"type": "dynamic-length-blob", "length-field-location": dict({"path": list(path)}, **more)}

def trace(name, fragments, data):
    os.mkdir(name)
    with open(name + "/metadata", "w") as f:
        f.write("".join("\x1e" + json.dumps(one) for one in [{"type": "preamble", "version": 2}, *fragments]))
    with open(name + "/stream", "wb") as f:
        f.write(data)

def payload(name, cls, data):
    trace(name, [stream(), event(cls)], data)

stamp = {"roles": ["default-clock-timestamp"]}
# a length in an element of an array, and in the option of a variant that its user is in
payload("01-element", struct_of(("arr", {"type": "static-length-array", "length": 2, "element-field-class": struct_of(
    ("n", u(8)), ("d", blob("arr", "n", origin="event-record-payload")))})), b"\1\xaa\2\xbb\xcc")
payload("02-option", struct_of(("t", u(8)), ("v", variant(["t"],
    ([[0, 0]], struct_of(("n", dict(u(8), type="fixed-length-signed-integer")))), ([[1, 1]], struct_of(("n", u(8)), ("d", blob("n"))))))), b"\1\1\2")
# a short header like LTTng's, whose timestamp is aligned
trace("03-header", [clock(id="c"), stream(**{"default-clock-class-id": "c"}, **header(
    ("id", u(5, roles=["event-record-class-id"])), ("v", variant(["id"],
        ([[0, 30]], struct_of(("t", u(27, **stamp)), **{"minimum-alignment": 32})),
        ([[31, 31]], struct_of(("id", u(32, roles=["event-record-class-id"])), ("t", u(64, **stamp)))))))),
    event(struct_of(("a", u(8))))], bytes(4) + struct.pack("<I", 1000) + b"\x2a")
# one clock is called as the other's id
trace("04-clocks", [clock(id="x", name="y"), clock(id="y", name="z"), stream(**{"default-clock-class-id": "y"}, **header(("t", u(64, **stamp)))),
    event(struct_of(("a", u(8))))], struct.pack("<Q", 1000) + b"\1")
# two stream classes, of which none is named; one ends inside a byte
trace("05-streams", [stream(id=1, **{"packet-context-field-class": struct_of(("c", u(4, BE)))}), stream(id=0),
    event(struct_of(("b", u(4, BE))), **{"data-stream-class-id": 1}), event(struct_of(("a", u(4))))], b"\1")
payload("06-flags", struct_of(("f", {"type": "fixed-length-bit-map", "length": 8, "byte-order": LE, "flags": {"X": [[0, 0]], "A": [[1, 1], [2, 2]]}})), b"\7")
trace("07-attributes", [dict(stream(), attributes={"big": 1 << 70, "real": -1.5e-3}), event(struct_of(("a", u(8))))], b"\1")
# wrong
payload("21-other option", struct_of(("t", u(8)), ("v", variant(["t"], ([[0, 0]], struct_of(("n", u(8)))), ([[1, 1]], struct_of(("m", u(8)))))),
    ("d", blob("v", "n"))), b"\1\2")
payload("22-unsigned range", struct_of(("t", u(8)), ("v", variant(["t"], ([[-5, -1]], u(8))))), b"\1\2")
payload("23-signed range", struct_of(("t", dict(u(8), type="fixed-length-signed-integer")), ("v", variant(["t"], ([[0, 2**64 - 1]], u(8))))), b"\1\2")
trace("24-no uuid", [{"type": "trace-class", "packet-header-field-class": struct_of(("u", {
    "type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}))}, stream(), event(struct_of(("a", u(8))))], bytes(17))
trace("25-magic", [{"type": "trace-class", "packet-header-field-class": struct_of(("z", u(8)), ("s", struct_of(
    ("m", u(32, roles=["packet-magic-number"])))))}, stream(), event(struct_of(("a", u(8))))], bytes(17))
trace("26-clocks", [clock(id="c%d" % i) for i in range(257)] + [stream()], b"")
trace("27-events", [stream(), event(struct_of(("a", u(8))), id=3), event(struct_of(("b", u(8))), id=5)], b"\1")
payload("28-float", struct_of(("f", {"type": "fixed-length-floating-point-number", "length": 16, "byte-order": LE})), b"\0\0")
END
python3 make.py
for trace in [0-9]*; do
	coeval show "$trace" 2>&1 | grep -v "have no timestamps"
	echo "-> ${PIPESTATUS[0]}"
done

echo "== what TSDL can say and CTF 2 cannot as well: tags of other scopes, options that no label chooses"
mkdir tsdl
cat >tsdl/metadata <<'END'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.context := struct { enum : u8 { a = 1 } tag; }; };
event { name = e; fields := struct { enum : u8 { b = 2 } tag; variant <stream.event.context.tag> { u8 a; struct { u8 x; } b; } v; }; };
END
printf '\1\2\5' >tsdl/stream
coeval import -o s tsdl >/dev/null 2>&1
for version in 1.8 2 3; do coeval export s --to ctf --ctf-version $version -o out$version && coeval show out$version 2>&1 | grep -v "no clock is"; done
