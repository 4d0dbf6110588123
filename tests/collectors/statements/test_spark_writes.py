"""Changes of data in Spark SQL, Delta, Iceberg and Hive: what they read and write."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from tests.cases import for_each

# fmt: off
CASES = [
    # INSERT
    ("INSERT INTO t SELECT * FROM u", "u", "INSERT t"),
    ("INSERT INTO TABLE s.t SELECT * FROM u", "u", "INSERT s.t"),
    ("INSERT INTO t (a, b) SELECT a, b FROM u", "u", "INSERT t"),
    ("INSERT INTO t VALUES (1, 'a'), (2, upper('b'))", "", "INSERT t"),
    ("INSERT INTO t VALUES (1, (SELECT max(a) FROM u))", "u", "INSERT t"),
    ("INSERT INTO t PARTITION (d = '2026-01-01', h) SELECT a, h FROM u", "u", "INSERT t"),
    ("INSERT INTO t PARTITION (d = 1) (a, b) SELECT a, b FROM u", "u", "INSERT t"),
    ("INSERT OVERWRITE t SELECT * FROM u", "u", "INSERT OVERWRITE t"),
    ("INSERT OVERWRITE TABLE c.s.t PARTITION (d) IF NOT EXISTS SELECT * FROM u", "u", "INSERT OVERWRITE c.s.t"),
    ("INSERT OVERWRITE TABLE t PARTITION (d = 1) IF NOT EXISTS SELECT * FROM u", "u", "INSERT OVERWRITE t"),
    ("INSERT INTO t BY NAME SELECT a FROM u", "u", "INSERT t"),
    ("INSERT OVERWRITE t BY NAME SELECT a FROM u", "u", "INSERT OVERWRITE t"),
    ("INSERT INTO t REPLACE WHERE d = 1 SELECT * FROM u", "u", "INSERT t"),
    ("INSERT INTO t REPLACE WHERE d > 1 AND d < 3 TABLE u", "u", "INSERT t"),
    ("INSERT INTO t BY NAME REPLACE USING (a, b) SELECT * FROM u", "u", "INSERT t"),
    ("INSERT INTO t AS x REPLACE ON x.a = y.a (SELECT * FROM u) AS y", "u", "INSERT t"),
    ("INSERT WITH SCHEMA EVOLUTION INTO t SELECT * FROM u", "u", "INSERT t"),
    ("INSERT INTO t TABLE u", "u", "INSERT t"),
    ("INSERT INTO t (a) TABLE u", "u", "INSERT t"),
    ("INSERT INTO t PARTITION (d = 1) TABLE u", "u", "INSERT t"),
    ("INSERT INTO t FROM u SELECT a WHERE b = 1", "u", "INSERT t"),
    ("INSERT INTO t FROM u |> WHERE a > 1 |> SELECT b", "u", "INSERT t"),
    ("INSERT INTO t (SELECT * FROM u)", "u", "INSERT t"),
    ("INSERT INTO t SELECT * FROM u UNION ALL SELECT * FROM v", "u v", "INSERT t"),
    ("INSERT INTO t SELECT * FROM t", "t", "INSERT t"),
    ("INSERT INTO t WITH c AS (SELECT * FROM u) SELECT * FROM c", "u", "INSERT t"),
    ("WITH c AS (SELECT * FROM u) INSERT INTO t SELECT * FROM c", "u", "INSERT t"),
    ("WITH t AS (SELECT * FROM u) INSERT INTO s.t SELECT * FROM t", "u", "INSERT s.t"),
    ("WITH c AS (SELECT * FROM u) INSERT OVERWRITE TABLE t PARTITION (d) SELECT * FROM c JOIN v ON 1 = 1", "u v", "INSERT OVERWRITE t"),
    ("INSERT INTO `a b`.`c``d` SELECT 1", "", "INSERT a b.c`d"),
    ("INSERT INTO t SELECT * FROM range(5)", "", "INSERT t"),
    ("INSERT INTO t SELECT a FROM u LATERAL VIEW explode(x) e AS k, v LEFT SEMI JOIN w ON 1 = 1", "u w", "INSERT t"),
    ("INSERT INTO t SELECT a FROM u WHERE b IN (SELECT b FROM v) ORDER BY a, b", "u v", "INSERT t"),
    # several targets
    ("FROM s INSERT INTO t SELECT a INSERT INTO u SELECT b WHERE c = 1", "s", "INSERT t INSERT u"),
    ("FROM s INSERT OVERWRITE TABLE t PARTITION (d) SELECT a, d INSERT INTO TABLE u SELECT b", "s", "INSERT OVERWRITE t INSERT u"),
    ("FROM (SELECT * FROM s JOIN r ON 1 = 1) x INSERT INTO t SELECT a INSERT INTO u SELECT b", "s r", "INSERT t INSERT u"),
    ("FROM s x JOIN r y ON x.i = y.i INSERT INTO t SELECT a INSERT INTO u SELECT b", "s r", "INSERT t INSERT u"),
    ("FROM s LATERAL VIEW explode(x) e AS k INSERT INTO t SELECT k INSERT INTO u SELECT a", "s", "INSERT t INSERT u"),
    ("WITH c AS (SELECT * FROM s) FROM c INSERT INTO t SELECT a INSERT INTO u SELECT b", "s", "INSERT t INSERT u"),
    ("FROM s INSERT INTO t SELECT a WHERE i IN (SELECT i FROM r) INSERT INTO u SELECT b", "s r", "INSERT t INSERT u"),
    # UPDATE, DELETE, MERGE
    ("UPDATE t SET a = 1", "", "UPDATE t"),
    ("UPDATE s.t AS x SET x.a = x.a + 1, b = DEFAULT WHERE x.c = 'y'", "", "UPDATE s.t"),
    ("UPDATE t SET a = (SELECT max(a) FROM u) WHERE b IN (SELECT b FROM v)", "u v", "UPDATE t"),
    ("UPDATE t SET a = extract(DAY FROM b)", "", "UPDATE t"),
    ("DELETE FROM t", "", "DELETE t"),
    ("DELETE FROM s.t AS x WHERE x.a = 1", "", "DELETE s.t"),
    ("DELETE FROM t x WHERE EXISTS (SELECT 1 FROM u WHERE u.i = x.i)", "u", "DELETE t"),
    ("DELETE FROM t WHERE a NOT IN (SELECT a FROM u JOIN v USING (i))", "u v", "DELETE t"),
    ("MERGE INTO t USING u ON t.i = u.i WHEN MATCHED THEN UPDATE SET *", "u", "MERGE t"),
    ("MERGE INTO t USING u ON t.i = u.i WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "u", "MERGE t"),
    ("MERGE INTO s.t AS x USING s.u AS y ON x.i = y.i WHEN MATCHED AND y.d THEN DELETE WHEN MATCHED THEN UPDATE SET x.a = y.a, b = y.b", "s.u", "MERGE s.t"),
    ("MERGE INTO t x USING (SELECT * FROM u JOIN v USING (i)) y ON x.i = y.i WHEN NOT MATCHED THEN INSERT (i, a) VALUES (y.i, y.a)", "u v", "MERGE t"),
    ("MERGE INTO t USING u ON t.i = u.i WHEN NOT MATCHED BY TARGET THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.d < 5 THEN UPDATE SET a = 0 WHEN NOT MATCHED BY SOURCE THEN DELETE", "u", "MERGE t"),
    ("MERGE WITH SCHEMA EVOLUTION INTO t USING u ON t.i = u.i WHEN NOT MATCHED THEN INSERT *", "u", "MERGE t"),
    ("WITH c AS (SELECT * FROM u) MERGE INTO t USING c ON t.i = c.i WHEN MATCHED THEN DELETE", "u", "MERGE t"),
    ("WITH c AS (SELECT * FROM u) MERGE INTO t USING c ON t.i = c.i WHEN NOT MATCHED THEN INSERT (i) VALUES (c.i)", "u", "MERGE t"),
    ("MERGE INTO t USING (WITH c AS (SELECT * FROM u) SELECT * FROM c) y ON t.i = y.i WHEN MATCHED THEN DELETE", "u", "MERGE t"),
    ("MERGE INTO t USING u ON t.i = u.i AND t.i IN (SELECT i FROM v) WHEN MATCHED THEN UPDATE SET a = (SELECT max(a) FROM w)", "u v w", "MERGE t"),
    ("MERGE INTO t USING t@v1 AS y ON t.i = y.i WHEN NOT MATCHED THEN INSERT *", "t", "MERGE t"),
    # the rest
    ("TRUNCATE TABLE s.t", "", "TRUNCATE s.t"),
    ("TRUNCATE TABLE t PARTITION (d = 1)", "", "TRUNCATE t"),
    ("CACHE TABLE t", "t", ""),
    ("CACHE LAZY TABLE t OPTIONS ('storageLevel' = 'DISK_ONLY')", "t", ""),
    ("CACHE TABLE v AS SELECT * FROM t", "t", "CACHE TABLE v"),
    ("CACHE LAZY TABLE v OPTIONS ('storageLevel' 'DISK_ONLY') SELECT * FROM t JOIN u", "t u", "CACHE TABLE v"),
    ("CACHE TABLE v TABLE t", "t", "CACHE TABLE v"),
    ("UNCACHE TABLE IF EXISTS t", "", ""),
    ("RESTORE TABLE t TO VERSION AS OF 3", "", "RESTORE t"),
    ("RESTORE s.t TO TIMESTAMP AS OF '2026-01-01'", "", "RESTORE s.t"),
    ("CONVERT TO DELTA s.t PARTITIONED BY (d DATE)", "", "CONVERT s.t"),
    ("OPTIMIZE s.t WHERE d > 1 ZORDER BY (a, b)", "", ""),
    ("VACUUM s.t RETAIN 168 HOURS DRY RUN", "", ""),
    ("REORG TABLE t APPLY (PURGE)", "", ""),
    ("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS", "", ""),
    ("REFRESH TABLE t", "", ""),
    ("MSCK REPAIR TABLE t", "", ""),
    # procedures
    ("CALL cat.system.rollback_to_snapshot('db.t', 1)", "", "CALL cat.db.t"),
    ("CALL cat.system.rollback_to_snapshot('other.db.t', 1)", "", "CALL other.db.t"),
    ("CALL system.rollback_to_snapshot('db.t', 1)", "", "CALL db.t"),
    ("CALL system.migrate(table => 'db.t', properties => map('a', 'b'))", "", "CALL db.t"),
    ("CALL cat.system.snapshot('db.src', 'db.dst')", "db.src", "CALL db.dst"),
    ("CALL cat.system.snapshot(table => 'db.dst', source_table => 'db.src', location => '/x')", "db.src", "CALL db.dst"),
    ("CALL cat.system.add_files(table => 'db.t', source_table => '`parquet`.`s3://b/x`')", "s3://b/x", "CALL cat.db.t"),
    ("CALL cat.system.add_files('db.t', 'db.src')", "db.src", "CALL cat.db.t"),
    ("CALL cat.system.create_changelog_view(table => 'db.t', changelog_view => 'v')", "cat.db.t", "CALL v"),
    ("CALL cat.system.rewrite_data_files(table => 'db.t', strategy => 'sort')", "", ""),
    ("CALL cat.system.expire_snapshots('db.t')", "", ""),
    ("CALL my_procedure('db.t', 1)", "", ""),
    # cut off
    ("INSERT INTO t (a, b", "", "INSERT t"),
    ("INSERT INTO s.t SELECT a, b FROM u WHERE c = 'x", "u", "INSERT s.t"),
    ("INSERT OVERWRITE TABLE t PARTITION (d", "", "INSERT OVERWRITE t"),
    ("INSERT OVERWRITE TABLE t PARTITION (d = 1) SELECT * FROM u JOIN", "u", "INSERT OVERWRITE t"),
    ("MERGE INTO t USING u ON t.i = u.i WHEN MATCHED THEN UPDATE SET a = (SELECT max(a) FR", "u", "MERGE t"),
    ("MERGE INTO t x USING (SELECT * FROM u WHERE d = '2026", "u", "MERGE t"),
    ("UPDATE t SET a = (SELECT a FROM u WH", "u", "UPDATE t"),
    ("DELETE FROM t WHERE a IN (SELECT a FROM u", "", "DELETE t"),
    ("FROM s INSERT INTO t SELECT a INSERT INTO u SEL", "s", "INSERT t INSERT u"),
    ("WITH c AS (SELECT * FROM u) INSERT INTO t SELECT * FROM c WHE", "u", "INSERT t"),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_a_change(
    sql: str, reads: str, writes: str, tables: Callable[[str, str, str], None]
) -> None:
    tables(sql, reads, writes)
