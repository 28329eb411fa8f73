# SPDX-License-Identifier: MIT
# room: table; full
# pyarrow, polars and DuckDB find the same in Parquet files and Arrow streams as `coeval show` prints.
source "$SRC/tests/python.bash"
source "$SRC/tests/tables.bash"
wheels pyarrow polars duckdb

make_sessions
compare_all pyarrow,polars,duckdb

# A range query leaves out row groups by what they say of their times; facts are there.
"$build/tests/kinds" long 400000
coeval export long --to parquet -o long-tables 2>/dev/null
coeval export long --to arrow 2>/dev/null | "$python" -c '
import sys
import duckdb, pyarrow.compute as pc, pyarrow.ipc, pyarrow.parquet as pq

stream = pyarrow.ipc.open_stream(sys.stdin.buffer).read_all()
file = pq.ParquetFile("long-tables/edges.parquet")
print(stream.num_rows == file.metadata.num_rows > 1 << 20, file.metadata.num_row_groups, "row groups")
print("no bounds:", file.metadata.row_group(0).column(1).statistics.null_count == file.metadata.row_group(0).num_rows)
whole = file.read()
print("the same:", [name for name in whole.column_names if stream[name].cast(whole[name].type).equals(whole[name])])
for low, high in ((0, 10**9), (1399990000, 1400010000), (2799990000, 10**12), (-5, -1)):
    rows = duckdb.sql(f"select count(*), sum(time_ns) from \"long-tables/edges.parquet\" where time_ns between {low} and {high}").fetchall()[0]
    kept = stream.filter((pc.field("time_ns") >= low) & (pc.field("time_ns") <= high))
    print(rows == (kept.num_rows, pc.sum(kept["time_ns"]).as_py()), rows[0])
print(sorted(k.decode() for k in file.metadata.metadata), sorted(k.decode() for k in stream.schema.metadata))
print(pq.ParquetFile("long-tables/marks.parquet").schema.column(6).logical_type)
'
