#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables as pandas, polars, pyarrow and DuckDB read them, against each other. oracles.py SESSION"""
import gc
import sys
import threading

import coeval
import duckdb
import pandas
import polars
import pyarrow

s = coeval.open(sys.argv[1])

for name in s.tables():
    if name in ("violations", "calls", "waits", "tasks", "power"):
        continue
    held = table = s.table(name)
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    own = table.to_dict()
    assert arrow.to_pydict() == own or name == "samples", name
    assert polars.DataFrame(table).to_dict(as_series=False) == own, name
    frame = table.to_pandas()
    assert list(frame.columns) == list(own) and len(frame) == arrow.num_rows, name
    for column in own:
        cells = [None if cell is pandas.NA or cell != cell else cell for cell in frame[column]]
        assert cells == [None if cell != cell else cell for cell in own[column]], (name, column)
    for _ in range(2):  # a stream is read once, a table as often as one likes
        assert duckdb.sql("select * from held").fetchall() == list(zip(*own.values())), name
    assert arrow.schema.metadata[b"coeval.gaps"] == str(len(s.gaps().to_dict()["why"])).encode()

edges = s.edges()
grouped = duckdb.sql("select clock, line, count(*), max(bound_ns) from edges group by all order by all").fetchall()
frame = edges.to_pandas()
by_pandas = frame.groupby(["clock", "line"], observed=True).bound_ns.agg(["size", "max"]).reset_index()
assert sorted(by_pandas.itertuples(index=False, name=None)) == grouped and len(grouped) > 5

# half a stream, then none of it; and one that two threads read
reader = pyarrow.RecordBatchReader.from_stream(edges)
batch = reader.read_next_batch()
del reader
gc.collect()
batch.validate(full=True)
reader, lock, count = pyarrow.RecordBatchReader.from_stream(edges), threading.Lock(), [0, 0]


def read(k):
    while True:
        with lock:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
        count[k] += batch.num_rows


threads = [threading.Thread(target=read, args=(k,)) for k in (0, 1)]
[t.start() for t in threads]
[t.join() for t in threads]
assert sum(count) == len(frame)

# an error is the consumer's, with its text
try:
    pyarrow.table(s.table("calls"))
except Exception as e:
    assert "no event name matches" in str(e), e
else:
    raise AssertionError("no error")
print("all as it should be")
