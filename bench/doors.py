#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Python gets out of a session: doors.py WHAT SESSION [FILE] prints a figure, without the time of imports.

pandas, polars: rows of edges with bounds, a second of CPU time; bt2: events a second in babeltrace2's loop over one clock;
table, csv: CPU seconds for a DataFrame of all edges, from the table, and by way of `coeval export --to csv`;
duckdb: bytes of DuckDB's own Parquet file (zstd) of the same edges, written to FILE.
"""
import os
import resource
import subprocess
import sys
import time

what, path = sys.argv[1:3]


def cpu():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def by_pandas():
    return len(coeval.open(path).edges().to_pandas())


def by_polars():
    return len(polars.DataFrame(coeval.open(path).edges()))


def by_bt2():
    n = 0
    for message in bt2.TraceCollectionMessageIterator(os.path.join(path, "traces", sorted(os.listdir(os.path.join(path, "traces")))[0])):
        if type(message) is bt2._EventMessageConst:
            if message.event.name == "edge":
                message.default_clock_snapshot.ns_from_origin, int(message.event.payload_field["levels"])
            n += 1
    return n


def by_csv():
    csv = os.path.join(os.path.dirname(path), "edges.csv")
    subprocess.run([os.environ["COEVAL_BINARY"], "export", path, "--to", "csv", "-o", csv], check=True)
    return len(pandas.read_csv(csv))


if what in ("pandas", "polars", "table"):
    import coeval
if what in ("pandas", "table", "csv"):
    import pandas
if what == "polars":
    import polars
if what == "bt2":
    import bt2
if what == "duckdb":
    import coeval
    import duckdb

    held = coeval.open(path).edges()
    duckdb.sql("select * from held").write_parquet(sys.argv[3], compression="zstd")
    print(os.path.getsize(sys.argv[3]))
    sys.exit()
run = {"pandas": by_pandas, "polars": by_polars, "bt2": by_bt2, "table": by_pandas, "csv": by_csv}[what]
if what != "csv":
    run()  # once, so that nothing is loaded meanwhile
began = cpu()
n = run()
print(cpu() - began if what in ("table", "csv") else n / (cpu() - began))
