#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""initrd.py INIT: a root file system for Linux, with a console and the program INIT as its first, on standard output."""
import gzip, sys

out = bytearray()


def add(name, mode, data=b"", device=(0, 0)):
    fields = [len(out), mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0]
    out.extend(b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0")
    out.extend(b"\0" * (-len(out) % 4))
    out.extend(data + b"\0" * (-len(data) % 4))


for folder in ("dev", "proc", "sys"):
    add(folder, 0o40755)
add("dev/console", 0o20600, device=(5, 1))
add("init", 0o100755, open(sys.argv[1], "rb").read())
add("TRAILER!!!", 0)
sys.stdout.buffer.write(gzip.compress(bytes(out)))
