#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of CTF 2 with random field classes and values, written by the rules of the specification and not by Coeval's code.

  ctf2_random.py COUNT SEED

Writes COUNT traces, has coeval show each, and compares every value. Exit status 1 when one differs.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

LE, BE = "little-endian", "big-endian"


class Packet:
    """Bits one after the other."""

    def __init__(self):
        self.bytes = bytearray()
        self.pos = 0
        self.order = None  # of the number that ends inside a byte

    def align(self, bits):
        self.pos += -self.pos % bits
        self.room(0)

    def room(self, bits):
        need = (self.pos + bits + 7) // 8
        self.bytes.extend(bytes(max(0, need - len(self.bytes))))

    def number(self, value, bits, order):
        self.room(bits)
        for k in range(bits):
            if order == LE:
                at, bit = self.pos + k, value >> k & 1
                self.bytes[at // 8] |= bit << at % 8
            else:
                at, bit = self.pos + k, value >> (bits - 1 - k) & 1
                self.bytes[at // 8] |= bit << (7 - at % 8)
        self.pos += bits
        self.order = order if self.pos % 8 else None

    def data(self, data):
        self.align(8)
        self.order = None
        self.room(8 * len(data))
        self.bytes[self.pos // 8:self.pos // 8 + len(data)] = data
        self.pos += 8 * len(data)


def leb(value, is_signed):
    out = b""
    while True:
        byte, value = value & 127, value >> 7
        if (not is_signed and not value) or (is_signed and value == (-1 if byte & 64 else 0)):
            return out + bytes([byte])
        out += bytes([byte | 128])


class Field:
    """A field class as JSON, a draw of a value, which put() writes, and what JSON shows of it."""

    def __init__(self, cls, align, put):
        self.cls, self.align, self.put = cls, align, put


class Maker:
    def __init__(self, rnd):
        self.rnd = rnd
        self.names = 0
        self.aliases = []

    def name(self):
        self.names += 1
        return self.rnd.choice(["f", "_g", "int", "a b", "\u00e9", "x.y", "__h"]) + str(self.names)

    # ---- numbers ----

    def fixed(self, kind, bits=None):
        rnd = self.rnd
        bits = bits or rnd.choice([1, 3, 5, 8, 8, 13, 16, 16, 27, 32, 32, 47, 64, 64, rnd.randint(1, 64)])
        order = rnd.choice([LE, BE])
        align = rnd.choice([1, 1, 2, 4, 8, 8, 16, 32])
        natural = "first-to-last" if order == LE else "last-to-first"
        cls = {"type": "fixed-length-" + kind, "length": bits, "byte-order": order}
        turned = rnd.random() < 0.2
        if turned or rnd.random() < 0.2:
            cls["bit-order"] = natural if not turned else "last-to-first" if order == LE else "first-to-last"
        if align > 1 or rnd.random() < 0.2:
            cls["alignment"] = align
        return cls, bits, order, align, turned

    def put_fixed(self, p, value, cls, bits, order, align, turned):
        p.align(align)
        value &= (1 << bits) - 1
        if turned:
            value = int(format(value, f"0{bits}b")[::-1], 2)
        p.number(value, bits, order)

    def safe(self, spec):
        """Numbers of both byte orders never meet inside of a byte if those of one order begin at whole ones."""
        cls, bits, order, align, turned = spec
        if order == BE and align < 8 or bits % 8 and order == BE:
            cls["alignment"] = align = 8
            if bits % 8:
                bits = cls["length"] = bits + -bits % 8
        return cls, bits, order, align, turned

    def range_of(self, bits, is_signed):
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)

    def draw(self, low, high):
        return self.rnd.choice([low, high, min(max(0, low), high), self.rnd.randint(low, high), self.rnd.randint(low, high)])

    def labels(self, low, high):
        found = {}
        for k in range(self.rnd.randint(1, 3)):
            pairs = []
            for _ in range(self.rnd.randint(1, 2)):
                a, b = sorted((self.draw(low, high), self.draw(low, high)))
                pairs.append([a, b])
            found["label %d" % k] = pairs
        return found

    def integer(self):
        rnd = self.rnd
        is_signed = rnd.random() < 0.5
        kind = ("" if not is_signed else "") + ("signed-integer" if is_signed else "unsigned-integer")
        if rnd.random() < 0.25:
            cls, align = {"type": "variable-length-" + kind}, 8
            low, high = self.range_of(64, is_signed)

            def write(p, v):
                p.data(leb(v, is_signed))
        else:
            spec = self.safe(self.fixed(kind))
            cls, align = spec[0], spec[3]
            low, high = self.range_of(spec[1], is_signed)

            def write(p, v):
                self.put_fixed(p, v, *spec)
        mappings = self.labels(low, high) if rnd.random() < 0.3 else None
        if mappings:
            cls["mappings"] = mappings
        if rnd.random() < 0.3:
            cls["preferred-display-base"] = rnd.choice([2, 8, 10, 16])

        def put(p):
            v = self.draw(low, high)
            write(p, v)
            if not mappings:
                return v
            return {"value": v, "labels": [n for n, pairs in mappings.items() for a, b in pairs if a <= v <= b]}
        return Field(cls, align, put)

    def boolean(self):
        spec = self.safe(self.fixed("boolean"))

        def put(p):
            v = self.draw(0, (1 << spec[1]) - 1)
            self.put_fixed(p, v, *spec)
            return v != 0
        return Field(spec[0], spec[3], put)

    def bits(self):
        spec = self.safe(self.fixed("bit-array"))

        def put(p):
            v = self.draw(0, (1 << spec[1]) - 1)
            self.put_fixed(p, v, *spec)
            return v
        return Field(spec[0], spec[3], put)

    def bitmap(self):
        spec = self.safe(self.fixed("bit-map"))
        flags = {}
        for k in range(self.rnd.randint(1, 3)):
            a, b = sorted(self.rnd.randrange(spec[1]) for _ in range(2))
            flags["flag %d" % k] = [[a, b]]
        spec[0]["flags"] = flags

        def put(p):
            v = self.draw(0, (1 << spec[1]) - 1)
            self.put_fixed(p, v, *spec)
            return {"value": v, "labels": [n for n, ((a, b),) in flags.items() if any(v >> i & 1 for i in range(a, b + 1))]}
        return Field(spec[0], spec[3], put)

    def real(self):
        spec = self.safe(self.fixed("floating-point-number", self.rnd.choice([32, 64])))
        code = "<f" if spec[1] == 32 else "<d"

        def put(p):
            v = struct.unpack(code, struct.pack(code, self.rnd.choice([0.0, -1.5, 1e30, self.rnd.gauss(0, 1000)])))[0]
            self.put_fixed(p, int.from_bytes(struct.pack(code, v), "little"), *spec)
            return v
        return Field(spec[0], spec[3], put)

    # ---- texts and bytes ----

    def word(self, room):
        return "".join(self.rnd.choice("ab\u00e9\u4e2d\U0001f600 \"\\") for _ in range(self.rnd.randint(0, room)))

    def encoding(self):
        name = self.rnd.choice(["utf-8", "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"])
        return name, {"utf-8": 1, "utf-1": 2, "utf-3": 4}[name[:5]]

    def string(self):
        name, unit = self.encoding()
        how = self.rnd.choice(["nul", "static", "dynamic"])
        cls = {} if name == "utf-8" and self.rnd.random() < 0.5 else {"encoding": name}
        if how == "nul":
            cls["type"] = "null-terminated-string"

            def put(p):
                text = self.word(9)
                p.data(text.encode(name) + bytes(unit))
                return text
            return Field(cls, 8, put)
        if how == "static":
            length = unit * self.rnd.randint(0, 40)
            cls.update({"type": "static-length-string", "length": length})

            def put_static(p):
                text = self.word(9)
                while len(text.encode(name)) > length:
                    text = text[:-1]
                rest = length - len(text.encode(name))
                # after a NUL anything may follow
                p.data(text.encode(name) + (bytes(unit) + bytes([7]) * (rest - unit) if rest else b""))
                return text
            return Field(cls, 8, put_static)
        cls["type"] = "dynamic-length-string"
        field = Field(cls, 8, None)
        field.by_length = lambda p, text: (p.data(text.encode(name)), text)[1]
        field.draw_length = lambda: (lambda text: (len(text.encode(name)), text))(self.word(9))
        return field

    def blob(self):
        if self.rnd.random() < 0.5:
            length = self.rnd.randint(0, 5)
            return Field({"type": "static-length-blob", "length": length, "media-type": "image/tiff"}, 8,
                         lambda p: (lambda data: (p.data(data), list(data))[1])(self.rnd.randbytes(length)))
        field = Field({"type": "dynamic-length-blob"}, 8, None)
        field.by_length = lambda p, data: (p.data(data), list(data))[1]
        field.draw_length = lambda: (lambda n: (n, self.rnd.randbytes(n)))(self.rnd.randint(0, 5))
        return field

    # ---- what consists of others ----

    def structure(self, depth, path):
        """@path: members that lead here from the payload, or None inside of an array, an optional field or a variant."""
        rnd = self.rnd
        members, puts, align = [], [], 1
        least = rnd.choice([1, 1, 1, 8, 32])
        for _ in range(rnd.randint(1, 4)):
            name = self.name()
            inner = None if path is None else path + [name]
            field = self.any(depth + 1, inner)
            kind = getattr(field, "by_length", None) and "length" or getattr(field, "by_choice", None) and "choice"
            if kind:
                low, high, is_bool = getattr(field, "selector", (0, 60, False))
                reference = self.name()
                is_signed = low < 0
                if is_bool:
                    spec = self.safe(self.fixed("boolean"))
                    members.append((reference, spec[0]))
                    align = max(align, spec[3])
                else:
                    bits = 8 if -128 <= low and high <= 127 else 16
                    spec = self.safe(self.fixed("signed-integer" if is_signed else "unsigned-integer", bits))
                    members.append((reference, spec[0]))
                    align = max(align, spec[3])
                where = {"path": [reference]}
                if path is not None and rnd.random() < 0.3:
                    where = {"origin": "event-record-payload", "path": path + [reference]}
                elif path and rnd.random() < 0.3:
                    where = {"path": [None, path[-1], reference]}
                field.cls["length-field-location" if kind == "length" else "selector-field-location"] = where

                def put(p, values, field=field, spec=spec, reference=reference, name=name, kind=kind, is_bool=is_bool):
                    number, what = field.draw_length() if kind == "length" else field.draw_choice()
                    self.put_fixed(p, number, *spec)
                    values[reference] = bool(number) if is_bool else number
                    values[name] = (field.by_length if kind == "length" else field.by_choice)(p, what)
                puts.append(put)
            else:
                puts.append(lambda p, values, field=field, name=name: values.__setitem__(name, field.put(p)))
            members.append((name, field.cls))
            align = max(align, field.align)
        align = max(align, least)
        cls = {"type": "structure", "member-classes": [{"name": n, "field-class": self.maybe_alias(c)} for n, c in members]}
        if least > 1:
            cls["minimum-alignment"] = least

        def put_all(p):
            values = {}
            p.align(align)
            for one in puts:
                one(p, values)
            return values
        return Field(cls, align, put_all)

    def maybe_alias(self, cls):
        if "location" in json.dumps(cls) or self.rnd.random() > 0.2:
            return cls
        name = "alias %d" % len(self.aliases)
        self.aliases.append({"type": "field-class-alias", "name": name, "field-class": cls})
        return name

    def array(self, depth):
        element = self.plain(depth + 1)
        least = self.rnd.choice([1, 1, 16])
        cls = {"element-field-class": element.cls}
        align = max(element.align, least)
        if least > 1:
            cls["minimum-alignment"] = least

        def put_some(p, n):
            p.align(align)
            return [element.put(p) for _ in range(n)]
        if self.rnd.random() < 0.5:
            n = self.rnd.randint(0, 4)
            cls.update({"type": "static-length-array", "length": n})
            return Field(cls, align, lambda p: put_some(p, n))
        cls["type"] = "dynamic-length-array"
        field = Field(cls, align, None)
        field.by_length = put_some
        field.draw_length = lambda: (lambda n: (n, n))(self.rnd.randint(0, 4))
        return field

    def optional(self, depth):
        inner = self.plain(depth + 1)
        cls = {"type": "optional", "field-class": inner.cls}
        field = Field(cls, 1, None)
        low, high = (0, 9) if self.rnd.random() < 0.5 else (-9, 9)
        is_bool = self.rnd.random() < 0.4
        field.selector = (0, 1, True) if is_bool else (low, high, False)
        if not is_bool:
            a, b = sorted(self.rnd.randint(low, high) for _ in range(2))
            cls["selector-field-ranges"] = [[a, b]]

        def draw():
            if is_bool:
                there = self.rnd.random() < 0.5
                return int(there), there
            v = self.rnd.randint(low, high)
            return v, a <= v <= b
        field.draw_choice = draw
        field.by_choice = lambda p, there: inner.put(p) if there else None
        return field

    def variant(self, depth):
        low = self.rnd.choice([0, -20])
        options, puts, at = [], [], low
        for k in range(self.rnd.randint(1, 3)):
            inner = self.plain(depth + 1)
            ranges = [[at, at + 2], [at + 3, at + 3]]
            at += 4
            option = {"field-class": inner.cls, "selector-field-ranges": ranges}
            if self.rnd.random() < 0.7:
                option["name"] = "option %d" % k
            options.append(option)
            puts.append((ranges, inner))
        cls = {"type": "variant", "options": options}
        field = Field(cls, 1, None)
        field.selector = (low, at - 1, False)

        def draw():
            v = self.rnd.randint(low, at - 1)
            return v, v
        field.draw_choice = draw
        field.by_choice = lambda p, v: next(i for r, i in puts if any(a <= v <= b for a, b in r)).put(p)
        return field

    def plain(self, depth):
        """A field that needs no other."""
        while True:
            field = self.any(depth, None)
            if field.put:
                return field

    def any(self, depth, path):
        choices = [self.integer] * 4 + [self.boolean, self.bits, self.bitmap, self.real, self.string, self.string, self.blob]
        if depth < 4:
            choices += [lambda: self.structure(depth, path)] * 2 + [lambda: self.array(depth)] * 2
            choices += [lambda: self.optional(depth), lambda: self.variant(depth)]
        return self.rnd.choice(choices)()


def make(path, seed):
    rnd = random.Random(seed)
    maker = Maker(rnd)
    payloads = [maker.structure(0, []) for _ in range(8)]
    u16 = {"type": "fixed-length-unsigned-integer", "length": 16, "byte-order": LE, "alignment": 8}
    u32 = dict(u16, length=32)
    fragments = [{"type": "preamble", "version": 2}, *maker.aliases, {
        "type": "data-stream-class",
        "packet-context-field-class": {"type": "structure", "member-classes": [
            {"name": "total", "field-class": dict(u32, roles=["packet-total-length"])},
            {"name": "content", "field-class": dict(u32, roles=["packet-content-length"])}]},
        "event-record-header-field-class": {"type": "structure", "member-classes": [
            {"name": "id", "field-class": dict(u16, roles=["event-record-class-id"])}]}}]
    fragments += [{"type": "event-record-class", "id": i, "name": "e%d" % i, "payload-field-class": f.cls} for i, f in enumerate(payloads)]
    os.mkdir(path)
    with open(path + "/metadata", "w", encoding="utf-8") as f:
        f.write("".join("\x1e" + json.dumps(one, ensure_ascii=rnd.random() < 0.5) + rnd.choice(["", "\n"]) for one in fragments))
    wanted, stream = [], b""
    for _ in range(2):
        p = Packet()
        p.data(bytes(8))
        for _ in range(20):
            i = rnd.randrange(len(payloads))
            p.align(8)
            p.data(struct.pack("<H", i))
            wanted.append(("e%d" % i, payloads[i].put(p)))
        content = p.pos
        p.data(b"")
        p.bytes[:8] = struct.pack("<II", 8 * len(p.bytes), content)
        stream += bytes(p.bytes)
    with open(path + "/stream", "wb") as f:
        f.write(stream)
    return wanted


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    bad = 0
    for k in range(count):
        with tempfile.TemporaryDirectory() as scratch:
            path = scratch + "/trace"
            wanted = make(path, seed * 1000000 + k)
            done = subprocess.run(["coeval", "show", "--json", path], capture_output=True, text=True, errors="surrogateescape", check=False)
            have = [(r["name"], r.get("fields", {})) for r in map(json.loads, done.stdout.splitlines())]
            if have == wanted and not done.returncode:
                continue
            bad += 1
            print(f"seed {seed}, trace {k}: {len(have)} events, not {len(wanted)}: {done.stderr.strip()[-300:]}")
            for a, b in zip(have, wanted):
                if a != b:
                    print("  ours:  ", a, "\n  theirs:", b)
                    break
            if bad > 3:
                break
    print(count, "traces,", bad, "of them wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
