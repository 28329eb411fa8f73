#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare exported tables, as other programs read them, with what `coeval show --json` prints.

compare_tables.py READER[,READER...] SESSION DIR [OPTION...]

DIR has *.parquet and *.arrows; OPTION is given to `coeval show`. Every reader has to find the same in every file that it
reads; what the first one finds is compared with the session. Prints how many rows each table has, and what differs.
"""
import glob
import json
import math
import os
import subprocess
import sys


def read_pyarrow(path):
    if path.endswith(".parquet"):
        import pyarrow.parquet
        table = pyarrow.parquet.read_table(path)
    else:
        import pyarrow.ipc
        table = pyarrow.ipc.open_stream(path).read_all()
    table.validate(full=True)
    return {name: table.column(name).to_pylist() for name in table.column_names}


def read_polars(path):
    import polars
    table = polars.read_parquet(path) if path.endswith(".parquet") else polars.read_ipc_stream(path)
    return table.to_dict(as_series=False)


def read_duckdb(path):
    import duckdb
    if not path.endswith(".parquet"):
        return None
    found = duckdb.sql(f"select * from '{path}'")
    rows = found.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(found.columns)}


def read_node(path):
    done = subprocess.run(["node", os.path.join(os.path.dirname(__file__), "read_tables.mjs"), path], stdout=subprocess.PIPE, check=True)
    special = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

    def value(v):  # numbers beyond those of JSON are texts in a list
        return (special[v[0]] if v[0] in special else int(v[0])) if isinstance(v, list) else v

    return {name: [value(v) for v in cells] for name, cells in json.loads(done.stdout).items()}


READERS = {"pyarrow": read_pyarrow, "polars": read_polars, "duckdb": read_duckdb, "node": read_node}
bad = []


def complain(text):
    if len(bad) < 20:
        print(text)
    bad.append(text)


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return a == b and (a is None) == (b is None)


def equal(what, got, want):
    if len(got) != len(want):
        complain(f"{what}: {len(got)} rows, not {len(want)}")
    for i, (a, b) in enumerate(zip(got, want)):
        if not same(a, b):
            complain(f"{what}, row {i}: {a!r}, not {b!r}")
            break


def rows_of(table):
    return [dict(zip(table, row)) for row in zip(*table.values())]


def clock_of(record):
    return record["clock"] + (f"#{record['epoch']}" if "epoch" in record else "")


def head(record):
    return record["t_ns"], record["bound_ns"], clock_of(record), record["node"]


def head_of(row):
    return row["time_ns"], row["bound_ns"], row["clock"], row["node"]


def field_is(row, name, value):
    for column in (name, "payload_" + name, "ctx_" + name):
        if column not in row or (column == name and column in ("time_ns", "bound_ns", "clock", "node", "stream", "seq")):
            continue
        got = row[column]
        if isinstance(value, (dict, list)):
            got = json.loads(got)
        if got == value or (value is None and not math.isfinite(got)) or str(got) == str(value):
            return True
    return False


def compare(tables, records):
    empty = {"time_ns": []}
    by_kind = {}
    for record in records:
        by_kind.setdefault(record["kind"], []).append(record)
    expected = []
    known = {}  # levels that become known are no edges
    for r in records:
        if r["kind"] != "edge":
            continue
        levels = known.setdefault(r["clock"], {})
        expected += [(*head(r), r["bound"], line, bool(level), r.get("late", False)) for line, level in r["lines"].items()
                     if None not in (level, levels.get(line)) and level != levels[line]]
        levels.update(r["lines"])
    got = [(*head_of(r), r["bound_kind"], r["line"], r["level"], r["late"]) for r in rows_of(tables.get("edges", empty))]
    equal("edges", got, expected)
    expected = [(*head(r), r["channel"], r["value"]) for r in by_kind.get("sample", [])]
    got = [(*head_of(r), r["channel"], None if r["value"] is None or not math.isfinite(r["value"]) else r["value"])
           for r in rows_of(tables.get("samples", empty))]
    equal("samples", got, expected)
    events = by_kind.get("event", [])
    got = [(*head_of(r), r["event"], json.loads(r["fields"])) for r in rows_of(tables.get("events", empty))]
    equal("events", got, [(*head(r), r["name"], r["fields"]) for r in events])
    whole = {}  # events by stream and name
    total = 0
    for row in rows_of(tables.get("events", empty)):
        whole.setdefault((row["clock"], row["stream"], row["event"]), []).append(row)
    for name, table in tables.items():
        if not name.startswith("event_"):
            continue
        for row in rows_of(table):
            called = {"event_a_b_c": "a_b_c", "event_a_b_c-2": "a/b:c"}.get(name, name[6:])
            event = (whole.get((row["clock"], row["stream"], called), []) + [None] * (row["seq"] + 1))[row["seq"]]
            total += 1
            if event is None or head_of(event) != head_of(row):
                complain(f"{name}: no such event: {row}")
                break
            for field, value in json.loads(event["fields"]).items():
                if not field_is(row, field, value):
                    complain(f"{name}: {field} is not {value!r}: {row}")
                    break
    if total != len(events):
        complain(f"event_...: {total} rows, not {len(events)}")
    expected = []
    for r in records:
        if r["kind"] == "message":
            expected.append((*head(r), r["direction"], None, r["key"]))
        elif r["kind"] == "slip":
            expected.append((*head(r), "slip", None, r["half_width_ticks"]))
        elif r["kind"] in ("beacon", "pulse"):
            expected.append((*head(r), r["kind"], r.get("sender", r.get("channel")), r.get("seq")))
    got = [(*head_of(r), r["kind"], r["sender"], r["key"]) for r in rows_of(tables.get("marks", empty))]
    equal("marks", got, expected)
    spans = rows_of(tables.get("spans", {"begin_ns": []}))
    for end in ("begin", "end"):
        got = sorted((r[f"{end}_ns"], r[f"{end}_bound_ns"] or 0, r["clock"]) for r in spans if r[f"{end}_ns"] is not None)
        equal(f"spans, {end}", got, sorted((r["t_ns"], r["bound_ns"] or 0, clock_of(r)) for r in by_kind.get(end, [])))
    got = [(r["from_ns"], r["bound_ns"], r["clock"], r["node"], r["why"], r["lost"]) for r in rows_of(tables["gaps"])]
    equal("gaps", got, [(*head(r), r["why"], r["lost"]) for r in by_kind.get("gap", [])])
    if any(r["to_ns"] is not None and r["to_ns"] < r["from_ns"] for r in rows_of(tables["gaps"])):
        complain("gaps end before they begin")


def main():
    readers, session, folder = sys.argv[1].split(","), sys.argv[2], sys.argv[3]
    shown = subprocess.run(["coeval", "show", "--json", session, *sys.argv[4:]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    records = [json.loads(line) for line in shown.stdout.decode(errors="replace").splitlines()]
    tables = {}
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        name = os.path.basename(path).rsplit(".", 1)[0]
        for reader in readers:
            table = READERS[reader](path)
            if table is None:
                continue
            first = tables.setdefault(name, table)
            if list(first) != list(table):
                complain(f"{path}: columns of {reader}: {list(table)}")
            for column in first:
                equal(f"{path}, {column} of {reader}", table[column], first[column])
    info = json.loads(subprocess.run(["coeval", "info", "--json", session], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout)
    if not sys.argv[4:]:
        equal("clocks", tables["clocks"]["rate_hz"], [c["rate_hz"] for c in info["clocks"]])
    compare(tables, records)
    print(", ".join(f"{name} {len(next(iter(table.values())))}" for name, table in tables.items()))
    sys.exit(bool(bad))


main()
