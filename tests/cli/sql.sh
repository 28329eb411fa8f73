# SPDX-License-Identifier: MIT
# room: table
# SQL on the tables of a session: what is printed, what is refused; and the same rows as from the exported file, by Python's SQLite.
need python3
ln -s "$SRC/examples" examples
coeval sim examples/worlds/outage.yaml -o s --duration 20s >/dev/null
coeval sync s >/dev/null
coeval import -o hosts examples/two-hosts >/dev/null
coeval sync hosts --match examples/rules/radio.yaml >/dev/null
coeval import -o board examples/swo/board.vcd --swo SWO >/dev/null
# Names that are no globs, losses, and rows that come late.
python3 - <<'END'
import random
r = random.Random(3)
with open("odd.vcd", "w") as f:
    lines = dict(zip("!#%&(", ("a*b", "q?", "it's", "x\\y", "plain")))
    f.write("$timescale 1 us $end\n" + "".join(f"$var wire 1 {c} {n} $end\n" for c, n in lines.items()) + "$enddefinitions $end\n")
    f.write("#0\n" + "".join(f"0{c}\n" for c in lines))
    for t in range(1, 400):
        f.write(f"#{t * 1000}\n" + "".join(f"{'x' if t % 90 == 0 else r.randint(0, 1)}{c}\n" for c in lines))
with open("late.csv", "w") as f:
    f.write("time,A,B\n")
    for t in range(1, 400):
        f.write(f"{t - 30 if t in (100, 101, 250) else t},{r.randint(0, 1)},{t % 2}\n")
END
coeval import -o odd odd.vcd late.csv >/dev/null 2>&1
coeval sql s 'SELECT 1' 2>&1 | grep -q 'without SQLite' && skip "built without SQLite; apt-get install libsqlite3-dev"

run() {
	echo "\$ coeval sql $*" | cut -c -150
	coeval sql "$@" 2>&1 | cut -c -200
	echo "-> ${PIPESTATUS[0]}"
}

echo "== what is printed"
run s 'SELECT clock, count(*) AS edges, max(bound_ns) > 0 AS bound, max(late) AS late FROM edges GROUP BY clock'
run s --csv "SELECT '=1+1' AS a, -1.5, NULL, 'x,y', x'00ff'; SELECT 2"
run s --json "SELECT 'q\"' AS a, 1e999 AS b, NULL AS c, x'01' AS d, 2.0 AS e UNION ALL SELECT 1, 2, 3, 4, 5; SELECT 1 WHERE 0"
run s "SELECT 'a' || char(27) || '[31m' || char(10) || char(0) || 'b' AS \"odd$(printf '\t')name\", 12 AS n"
printf "SELECT 1 AS a;\n.tables\n.schema marks\nSELECT\n count(*) AS gaps FROM gaps\n;SELECT 3" | run odd
run hosts --from 1 --until 1.02 'SELECT clock, event, fields FROM events'
run hosts --node beta 'SELECT DISTINCT clock FROM events'
printf -- '-- a comment\nSELECT max(time_ns) FROM event_task_switch;' >q.sql
run hosts --file q.sql

echo "== certain or not"
run s --csv 'SELECT surely_before(0,5,11,5), surely_before(0,5,10,5), surely_before(11,5,0,5), surely_before(0,NULL,100,1), surely_before(NULL,0,1,0), surely_before(0,9223372036854775807,9223372036854775807,0)'
run s --csv 'SELECT maybe_before(0,5,11,5), maybe_before(10,5,0,5), maybe_before(11,5,0,5), maybe_before(11,NULL,0,5), maybe_before(11,5,NULL,5)'
run s --csv "SELECT bound_pair(3,4), bound_pair(3,NULL), bound_pair(3,'proven',4,'99.9 %'), bound_pair(3,'best guess',4,'proven'), bound_pair(3,NULL,4,'proven'), bound_pair(9223372036854775806,2)"
run s --csv 'SELECT sure_duration(0,5,100,6), sure_duration(0,50,100,60), sure_duration(0,NULL,100,6), sure_duration(-9223372036854775807,0,9223372036854775807,0)'
run s 'SELECT surely_before(0.5,1,2,3)'
run s 'SELECT surely_before(0,-1,2,3)'
run s 'SELECT surely_before(0,1,2)'

echo "== errors"
run s 'SELECT 1;
SELECT tim_ns FROM edges'
run s 'SELECT * FROM none'
run s 'SELECT * FROM edges WHERE clock = "node1"'
run s 'SELECT rowid FROM edges'
run s 'SELECT * FROM violations'
run s 'SELECT * FROM power'
run s --csv --json 'SELECT 1'
printf 'SELECT 1\0;' >nul.sql
run s --file nul.sql
run s --file none.sql
{ printf 'SELECT 1'; head -c 1000000 /dev/zero | tr '\0' ' '; printf ', 2'; } >long.sql
run s --csv --file long.sql
head -c 5000000 /dev/zero | tr '\0' '(' >longer.sql
run s --file longer.sql

echo "== no files, no end"
for query in "ATTACH 'x.db' AS x" "VACUUM INTO 'x.db'" "VACUUM" "SELECT load_extension('x')" "SELECT readfile('/etc/passwd')" \
	"SELECT writefile('x.db', 'x')" "SELECT edit('x')" "PRAGMA writable_schema = 1" "PRAGMA temp_store_directory = '/tmp'" \
	"PRAGMA database_list" "SELECT * FROM pragma_database_list" "CREATE VIRTUAL TABLE x USING fts5(a)" "DETACH main" \
	"INSERT INTO edges VALUES (1, 2, 3, 4, 5, 6, 7, 8)" "INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)" "DROP TABLE edges" \
	"CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END" "BEGIN" \
	"SELECT length(zeroblob(1000000000))" "SELECT group_concat(zeroblob(10000000)) FROM edges"; do
	run s "$query"
done
run s --timeout 100ms 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r'
run s --memory 50 'WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT x + 1 FROM r) SELECT count(*) FROM r'
run s --memory 50 'WITH RECURSIVE r(x) AS (SELECT zeroblob(1000000) UNION ALL SELECT x FROM r) SELECT x FROM r ORDER BY 1'
run s 'CREATE TABLE t AS SELECT clock, max(time_ns) AS last FROM edges GROUP BY clock; CREATE INDEX i ON t(clock); SELECT count(*) FROM t JOIN edges ON edges.clock = t.clock AND time_ns = last WHERE t.clock = '"'node2'"
ls
timeout --preserve-status -s INT 1 coeval sql s 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r'
echo "interrupted -> $?"

echo "== the same as in the file"
cat >compare.py <<'END'
import collections, json, os, random, sqlite3, subprocess, sys

seed = int(os.environ.get("COEVAL_SEED", "1"))
rnd = random.Random(seed)
quote = lambda s: "'" + s.replace("'", "''") + "'"

def by_coeval(session, queries):
    done = subprocess.run(["coeval", "sql", session, "--json"], input=";\n".join(queries) + ";", text=True, stdout=subprocess.PIPE, check=True)
    at, lists = 0, []
    while at < len(done.stdout):
        rows, end = json.JSONDecoder().raw_decode(done.stdout, at)
        lists.append([tuple(row.values()) for row in rows])
        at = end + 1
    return lists

def names(db, table, column):
    return [r[0] for r in db.execute(f'SELECT DISTINCT "{column}" FROM "{table}"')] + ["", "none", "n*", "a,b", "?"]

def condition(db, table, columns):
    time = "from_ns" if table == "gaps" else "time_ns"
    parts = []
    if time in columns:
        low, high = db.execute(f'SELECT min({time}), max({time}) FROM "{table}"').fetchone()
        spot = lambda: rnd.choice([rnd.randint((low or 0) - 9, (high or 0) + 9), *[r[0] for r in db.execute(
            f'SELECT {time} FROM "{table}" ORDER BY random() LIMIT 1')]])
        a = spot()
        parts.append(rnd.choice([f"{time} >= {a}", f"{time} < {a}", f"{time} BETWEEN {a} AND {a + rnd.randint(0, 2 * 10**9)}", f"{time} = {a}",
                                 f"{time} > {a}.5 AND {time} <= {spot()}", f"{time} <= '{a}'", f"{time} IN ({a}, {spot()})", "1"]))
    for column in ("clock", "node", "line", "channel", "event"):
        if column in columns and rnd.random() < 0.4:
            values = names(db, table, column)
            parts.append(rnd.choice([f"{column} = {quote(rnd.choice(values))}", f"{column} IN ({quote(rnd.choice(values))}, {quote(rnd.choice(values))})",
                                     f"{column} = {quote(rnd.choice(values).upper())} COLLATE NOCASE", f"{column} <> {quote(rnd.choice(values))}",
                                     f"{column} = NULL"]))
    return rnd.choice([" AND ", " AND ", " OR "]).join(parts or ["1"])

bad = checked = 0
for session in sys.argv[1:]:
    subprocess.run(["coeval", "export", session, "--to", "sqlite", "-o", session + ".db"], check=True)
    db = sqlite3.connect(f"file:{session}.db?mode=ro", uri=True)
    if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        print(session, "is damaged")
    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    queries = []
    for table in tables:
        # seconds since 1970 are in the file alone
        columns = [r[1] for r in db.execute(f'PRAGMA table_info("{table}")') if r[1] != "time"]
        queries.append("SELECT " + ", ".join(f'"{c}"' for c in columns) + f' FROM "{table}"')
        queries.append(f'SELECT count(*) FROM "{table}"')
        for _ in range(12):
            some = rnd.sample(columns, rnd.randint(1, len(columns)))
            queries.append("SELECT " + ", ".join(f'"{c}"' for c in some) + f' FROM "{table}" WHERE {condition(db, table, columns)}')
    queries += ["SELECT clock, line, count(*), max(bound_ns), min(level) FROM edges GROUP BY clock, line",
                "SELECT c.clock, (SELECT max(line) FROM edges e WHERE e.clock = c.clock) FROM clocks c",
                "SELECT c.clock, max(e.line), max(e.node) FROM clocks c LEFT JOIN edges e ON e.clock = c.clock GROUP BY c.clock",
                "SELECT a.clock, b.clock AS other, count(*) FROM gaps a, gaps b WHERE b.from_ns BETWEEN a.from_ns AND a.from_ns + 1000000000 GROUP BY 1, 2",
                "SELECT clock, max(key), min(sender), typeof(max(key)) FROM marks GROUP BY clock",
                "SELECT line, clock, count(*), group_concat(level, '') FROM edges GROUP BY line, clock ORDER BY line DESC, clock DESC",
                "SELECT node, line, clock, min(time_ns) FROM edges WHERE level GROUP BY 1, 2, 3 HAVING count(*) > 3 ORDER BY 1, 2, 3",
                "SELECT why, min(c.verdict), sum(lost) FROM gaps JOIN clocks c USING (clock) GROUP BY why ORDER BY why",
                "SELECT event, min(fields), max(time_ns) FROM events GROUP BY event ORDER BY event DESC",
                "SELECT DISTINCT line FROM edges ORDER BY line DESC",
                "SELECT time_ns, line FROM edges ORDER BY time_ns DESC, line LIMIT 7"]
    some = 0
    for query, ours in zip(queries, by_coeval(session, queries)):
        theirs = [tuple(r) for r in db.execute(query)]
        checked += 1
        some += bool(theirs)
        if (ours if "ORDER BY" in query else collections.Counter(map(repr, ours))) != \
                (theirs if "ORDER BY" in query else collections.Counter(map(repr, theirs))):
            bad += 1
            print(f"seed {seed}, {session}: {query}\n  {len(ours)} rows, in the file {len(theirs)}")
            for row in list((collections.Counter(map(repr, ours)) - collections.Counter(map(repr, theirs))))[:3]:
                print("  only ours: ", row)
            for row in list((collections.Counter(map(repr, theirs)) - collections.Counter(map(repr, ours))))[:3]:
                print("  only theirs:", row)
    if some < len(queries) / 6:
        print(session, "only", some, "of", len(queries), "queries have rows")
    print(session, len(tables) > 6, sorted(k for k, v in db.execute("SELECT key, value FROM coeval_facts")))
print(checked > 250, bad)
END
python3 compare.py s hosts board odd 2>/dev/null

echo "== the file"
python3 -c 'import sys; sys.stdout.buffer.write(bytes(i * i * 7 >> 5 & 255 for i in range(40000)))' >raw
coeval import -o raws --format raw --channels 8 --rate 1M raw >/dev/null
coeval export raws --to sqlite -o raws.db
python3 - <<'END'
import os, sqlite3
db = sqlite3.connect("raws.db")
rows = db.execute("SELECT count(*) FROM edges").fetchone()[0]
print("rows:", rows > 50000, "bytes a row:", os.path.getsize("raws.db") // rows)
db = sqlite3.connect("s.db")
print(db.execute("SELECT typeof(time), abs(time * 1e9 - time_ns - (SELECT value FROM coeval_facts WHERE key = 'coeval.epoch_unix_ns')) < 1000 FROM edges LIMIT 1").fetchone())
print(db.execute("EXPLAIN QUERY PLAN SELECT * FROM edges WHERE time_ns BETWEEN 5 AND 6").fetchall()[0][3])
END
coeval export s --to sqlite 2>&1
echo "-> $?"
