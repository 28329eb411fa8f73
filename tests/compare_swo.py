#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trace packets that `coeval show --json` prints, against a list made by other decoders: all, in order, none invented.

compare_swo.py EXPECTED.jsonl SHOWN.jsonl
"""
import json
import sys


def plain(record):
    """(type, arguments) of a record, as the list has them; None: no packet."""
    if record["kind"] == "gap":
        return ("OVERFLOW", []) if record["why"] == "overflow" else ("BAD", [])
    if record["kind"] != "event":
        return None
    f, name = record["fields"], record["name"]
    if name == "pc":
        return "PC", [f["address"]]
    if name == "software":
        return "SW", [f["port"], f["size"], f["value"]]
    if name == "data_address":
        return "DADDR", [f["comparator"], f["size"], f["offset"]]
    if name in ("data_read", "data_write"):
        return "DVAL", [f["comparator"], "W" if name == "data_write" else "R", f["size"], f["value"]]
    if name == "data_pc":
        return "DPC", [f["comparator"], 4, f["address"]]
    if name == "exception":
        return "EXC", [f["number"], {"enter": 1, "exit": 2, "return": 3}[f["action"]]]
    return name, []


def main():
    expected = [json.loads(line) for line in open(sys.argv[1])]
    shown = [p for p in (plain(json.loads(line)) for line in open(sys.argv[2])) if p]
    for n, (want, got) in enumerate(zip(expected, shown)):
        args = want["args"]
        if want["type"] == "EXC":
            args = [args[0], {"enter": 1, "exit": 2, "return": 3}.get(args[1], args[1])]
        if want["type"] != got[0] or args != got[1]:
            sys.exit(f"packet {n}: expected {want}, got {got}")
    if len(expected) != len(shown):
        sys.exit(f"expected {len(expected)} packets, got {len(shown)}")
    print(f"all {len(shown)} packets, in order, none invented")


main()
