"""Renames, transfers and switches read the old table and write the new one: one line a case."""

# ruff: noqa: E501 (one line a case)

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Outcome
from tests.cases import for_each

# fmt: off
# SQL, operation, the parts of the old name, of the new name
TSQL = [
    ("EXEC sp_rename 'a', 'b'", "RENAME", ("a",), ("b",)),
    ("sp_rename 'a', 'b'", "RENAME", ("a",), ("b",)),
    ("EXEC sp_rename dbo_a, b", "RENAME", ("dbo_a",), ("b",)),
    ("EXEC sp_rename 'd.dbo.a', 'b'", "RENAME", ("d", "dbo", "a"), ("d", "dbo", "b")),
    ("EXEC sp_rename 'd..a', 'b'", "RENAME", ("d", "", "a"), ("d", "", "b")),
    ("EXEC sp_rename '[d].[s b].[a.x]', 'b'", "RENAME", ("d", "s b", "a.x"), ("d", "s b", "b")),
    ("EXEC sp_rename N'\"dbo\".\"a \"\"b\"', N'c'", "RENAME", ("dbo", 'a "b'), ("dbo", "c")),
    ("EXEC sp_rename 'dbo.a', 'other.b'", "RENAME", ("dbo", "a"), ("dbo", "other.b")),
    ("EXEC sp_rename 'dbo.a', '[b]'", "RENAME", ("dbo", "a"), ("dbo", "[b]")),
    ("EXEC sp_rename 'dbo.a', 'it''s b'", "RENAME", ("dbo", "a"), ("dbo", "it's b")),
    ("EXEC sp_rename @objname = N'dbo.a', @newname = N'b'", "RENAME", ("dbo", "a"), ("dbo", "b")),
    ("EXEC sp_rename @newname = N'b', @objname = N'dbo.a'", "RENAME", ("dbo", "a"), ("dbo", "b")),
    ("EXEC sp_rename @objtype = 'object', @newname = N'b', @objname = N'dbo.a'", "RENAME", ("dbo", "a"), ("dbo", "b")),
    ("EXEC d.sys.sp_rename 'dbo.a', 'b'", "RENAME", ("d", "dbo", "a"), ("d", "dbo", "b")),
    ("EXEC d..sp_rename 'a', 'b', 'OBJECT'", "RENAME", ("d", "", "a"), ("d", "", "b")),
    ("EXEC srv.d.sys.sp_rename 'dbo.a', 'b'", "RENAME", ("srv", "d", "dbo", "a"), ("srv", "d", "dbo", "b")),
    ("EXEC @rc = sp_rename 'dbo.a', 'b'", "RENAME", ("dbo", "a"), ("dbo", "b")),
    ("exec sp_executesql N'EXEC sp_rename ''dbo.a'', ''b'''", "RENAME", ("dbo", "a"), ("dbo", "b")),
    ("RENAME OBJECT dbo.a TO b", "RENAME", ("dbo", "a"), ("dbo", "b")),
    ("RENAME OBJECT::[dbo].[a b] TO [c d]", "RENAME", ("dbo", "a b"), ("dbo", "c d")),
    ("ALTER SCHEMA new TRANSFER old.t", "TRANSFER", ("old", "t"), ("new", "t")),
    ("ALTER SCHEMA new TRANSFER t", "TRANSFER", ("t",), ("new", "t")),
    ("ALTER SCHEMA [n w] TRANSFER OBJECT::[old].[t.x]", "TRANSFER", ("old", "t.x"), ("n w", "t.x")),
    ("ALTER TABLE dbo.a SWITCH TO dbo.b", "SWITCH", ("dbo", "a"), ("dbo", "b")),
    ("ALTER TABLE d.dbo.[a b] SWITCH PARTITION 2 TO [d].[dbo].[c] PARTITION 2", "SWITCH", ("d", "dbo", "a b"), ("d", "dbo", "c")),
]
SPARK = [
    ("ALTER TABLE a RENAME TO b", "RENAME", ("a",), ("b",)),
    ("ALTER TABLE db.a RENAME TO db.b", "RENAME", ("db", "a"), ("db", "b")),
    ("ALTER TABLE db.a RENAME TO b", "RENAME", ("db", "a"), ("db", "b")),
    ("ALTER TABLE c.db.a RENAME TO db.b", "RENAME", ("c", "db", "a"), ("c", "db", "b")),
    ("ALTER TABLE `d b`.`a` RENAME TO `d b`.`b``c`", "RENAME", ("d b", "a"), ("d b", "b`c")),
    ("ALTER VIEW db.a RENAME TO b", "RENAME", ("db", "a"), ("db", "b")),
    ("ALTER TABLE t EXCHANGE PARTITION (d = '2026-01-01') WITH TABLE db.u", "EXCHANGE", ("db", "u"), ("t",)),
]
# SQL, the table that is altered; none for what is no table
ALTERED = [
    ("EXEC sp_rename 'dbo.a.x', 'y', 'COLUMN'", ("dbo", "a")),
    ("EXEC sp_rename @objtype = 'COLUMN', @newname = 'y', @objname = 'd.dbo.a.x'", ("d", "dbo", "a")),
    ("EXEC d..sp_rename 'a.x', 'y', 'COLUMN'", ("d", "", "a")),
    ("RENAME OBJECT dbo.a COLUMN x TO y", ("dbo", "a")),
    ("EXEC sp_rename 'dbo.a.ix', 'iy', 'INDEX'", None),
    ("EXEC sp_rename 'dbo.ty', 'tz', 'USERDATATYPE'", None),
    ("EXEC sp_rename 'd', 'e', 'DATABASE'", None),
    ("ALTER SCHEMA new TRANSFER TYPE::old.x", None),
    ("ALTER SCHEMA new TRANSFER XML SCHEMA COLLECTION::old.x", None),
    ("RENAME DATABASE d TO e", None),
]
# fmt: on

CASES = [(Dialect.TSQL, *case) for case in TSQL] + [(Dialect.SPARK, *case) for case in SPARK]


@for_each("dialect, sql, operation, old, new", CASES)
def test_the_old_table_is_read_and_the_new_one_written(
    dialect: Dialect, sql: str, operation: str, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    (shape,) = [one for one in parse(sql, dialect) if one.accesses]
    accesses = {(access.direction, access.operation, access.name) for access in shape.accesses}
    assert accesses == {
        (Direction.READ, Operation(operation), old),
        (Direction.WRITE, Operation(operation), new),
    }
    assert shape.outcome is Outcome.PARSED


@for_each("sql, table", ALTERED)
def test_a_renamed_column_alters_its_table(sql: str, table: tuple[str, ...] | None) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    accesses = [(access.direction, access.operation, access.name) for access in shape.accesses]
    assert accesses == ([(Direction.WRITE, Operation.ALTER, table)] if table else [])
    assert shape.outcome is Outcome.PARSED


def test_a_renamed_view_is_a_view_under_both_names() -> None:
    (shape,) = parse("ALTER VIEW v RENAME TO w", Dialect.SPARK)
    assert {access.kind for access in shape.accesses} == {Kind.VIEW}


def test_names_in_variables_are_followed() -> None:
    sql = "DECLARE @a sysname = N'dbo.a', @b sysname = N'b'; EXEC sp_rename @a, @b"
    shape = parse(sql, Dialect.TSQL)[-1]
    assert (shape.reads, shape.writes) == ({"dbo.a"}, {"dbo.b"})


@pytest.mark.parametrize(
    "arguments", ["@a, 'b'", "'a', @b", "@a, @b", "@objname = @a, @newname = 'b'"]
)
def test_a_rename_of_unknown_names_is_partial(arguments: str) -> None:
    (shape,) = parse(f"EXEC sp_rename {arguments}", Dialect.TSQL)
    assert shape.accesses == ()
    assert (shape.outcome, shape.reason) == (Outcome.PARTIAL, "renamed table not known")
