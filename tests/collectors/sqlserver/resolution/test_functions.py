"""Inline functions: followed by the text that the snapshot has, else a gap that names them."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.resolve import (
    ProcedureExpander,
    ResolvedText,
    SentText,
    resolve_statements,
)
from dbt_graft.collectors.sqlserver.resolution.views import view_records
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Column
from tests.cases import for_each

SERVER = "mssql://crm:1433"
INLINE = "CREATE FUNCTION dbo.open_orders (@day date) RETURNS TABLE WITH SCHEMABINDING AS RETURN "
TEXTS = {
    "dbo.open_orders": f"{INLINE} (SELECT o.id, SUM(o.amount) AS total FROM dbo.orders o GROUP BY o.id)",
    "dbo.nested": "CREATE FUNCTION dbo.nested () RETURNS TABLE AS RETURN SELECT * FROM dbo.open_orders(?)",
    "dbo.unknown": "CREATE FUNCTION dbo.unknown () RETURNS TABLE AS RETURN (SELECT * FROM dbo.elsewhere)",
    "dbo.rows": "CREATE FUNCTION dbo.rows () RETURNS @t TABLE (a int, b int) AS BEGIN INSERT @t SELECT id, 1 FROM dbo.orders; INSERT INTO @t SELECT 2, amount FROM dbo.orders RETURN END",
    "dbo.steps": "CREATE FUNCTION dbo.steps () RETURNS @t TABLE (id int) AS BEGIN INSERT @t SELECT id FROM dbo.orders; UPDATE @t SET id = 1; RETURN END",
    "dbo.computed": "CREATE FUNCTION dbo.computed (@a int) RETURNS int AS BEGIN SET @a = @a + 1; RETURN @a END",
    "dbo.largest": "CREATE FUNCTION dbo.largest (@a int) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN (SELECT MAX(amount) FROM dbo.orders WHERE id = @a) END",
    "dbo.filled": "CREATE FUNCTION dbo.filled (@a int) RETURNS int AS BEGIN DECLARE @r int; SELECT TOP 1 @r = o.amount FROM dbo.orders o WHERE o.id = @a RETURN @r END",
    "dbo.worked": "CREATE FUNCTION dbo.worked (@a int) RETURNS int AS BEGIN DECLARE @r int = (SELECT amount FROM dbo.orders WHERE id = @a) IF @r IS NULL SET @r = 0; RETURN @r END",
    "dbo.calling": "CREATE FUNCTION dbo.calling (@a int) RETURNS int AS BEGIN RETURN dbo.filled(@a) * 2 END",
    "dbo.branches": "CREATE FUNCTION dbo.branches (@a int) RETURNS int AS BEGIN IF EXISTS (SELECT 1 FROM dbo.orders) RETURN 1; RETURN 0 END",
}
SNAPSHOT = Snapshot(
    "CRM01",
    datetime(2026, 11, 21, tzinfo=UTC),
    {
        "Shop": SnapshotDatabase(
            relations={
                "dbo.orders": SnapshotRelation(
                    Kind.TABLE, (Column("id", "int"), Column("amount", "int"))
                )
            },
            modules={name: Module(ModuleKind.FUNCTION, text) for name, text in TEXTS.items()},
        )
    },
)


def resolved(text: str) -> ResolvedText:
    resolver = NameResolver(SERVER, SNAPSHOT)
    shapes = parse(text, Dialect.TSQL, lambda used, table: resolver.columns(used or "Shop", table))
    expander = ProcedureExpander(resolver, parse)
    return resolve_statements(SentText(text, "Shop"), shapes, expander)


@for_each(
    "source, edges",
    [
        ("dbo.open_orders('2026-11-21')", "id=Shop.dbo.open_orders.id total=Shop.dbo.open_orders.total"),
        ("dbo.nested()", "id=Shop.dbo.nested.id total=Shop.dbo.nested.total"),
    ],
)  # fmt: skip
def test_an_inline_function_is_read_as_a_view_is(source: str, edges: str) -> None:
    (statement,) = resolved(f"SELECT f.* INTO dbo.t FROM {source} f").statements
    assert statement.shape.reason is None
    assert {access.kind for access in statement.reads} == {Kind.VIEW}
    assert " ".join(
        f"{edge.to_column}={edge.from_dataset.name}.{edge.from_column}" for edge in statement.edges
    ) == edges  # fmt: skip


@for_each("name", ["dbo.steps", "dbo.unknown", "dbo.nowhere", "nowhere"])
def test_a_function_that_cannot_be_followed_is_a_gap_that_names_it(name: str) -> None:
    (statement,) = resolved(f"SELECT f.id INTO dbo.t FROM {name}() f").statements
    assert statement.shape.reason == f"what the function {name} reads is not known"
    assert statement.reads == ()


@for_each(
    "function, column",
    [
        ("dbo.largest", "orders.amount AGGREGATION, orders.id FILTER"),
        ("dbo.filled", "orders.amount IDENTITY"),
        ("dbo.worked", "orders.amount TRANSFORMATION, orders.id FILTER"),
        ("dbo.calling", "filled.filled TRANSFORMATION"),
    ],
)
def test_a_function_of_one_value_is_read_as_a_view_of_one_column(
    function: str, column: str
) -> None:
    text = f"INSERT INTO dbo.t (a) SELECT {function}(s.x) FROM dbo.s s"
    (statement,) = resolved(text).statements
    name = function.partition(".")[2]
    assert statement.shape.reason is None
    assert {access.dataset.short for access in statement.reads} == {"dbo.s", function}
    assert {(edge.from_dataset.short, edge.from_column) for edge in statement.edges} == {
        ("dbo.s", "x"),
        (function, name),
    }
    records = view_records(SNAPSHOT, [DatasetId(SERVER, f"Shop.{function}")], SERVER, "s.json")
    assert column == ", ".join(
        sorted(
            f"{edge.from_dataset.short.removeprefix('dbo.')}.{edge.from_column} {edge.subtype}"
            for edge in records.column_edges
            if (edge.to_dataset.short, edge.to_column) == (function, name)
        )
    )


def test_rows_that_a_function_inserts_are_those_of_its_queries() -> None:
    records = view_records(SNAPSHOT, [DatasetId(SERVER, "Shop.dbo.rows")], SERVER, "s.json")
    assert {(edge.to_column, edge.from_column) for edge in records.column_edges} == {
        ("a", "id"),
        ("b", "amount"),
    }


def test_a_function_that_only_computes_is_nothing_that_is_read() -> None:
    text = "INSERT INTO dbo.t (a) SELECT dbo.computed(s.x) FROM dbo.s s"
    (statement,) = resolved(text).statements
    assert statement.shape.reason is None
    assert [access.dataset.short for access in statement.reads] == ["dbo.s"]


@for_each("name", ["dbo.branches", "dbo.nowhere", "Other.dbo.f"])
def test_a_value_of_a_function_that_is_not_known_is_a_gap(name: str) -> None:
    text = f"DECLARE @v int = {name}(1); INSERT INTO dbo.t (a) SELECT @v"
    resolver = NameResolver(SERVER, SNAPSHOT)
    first, second = parse(text, Dialect.TSQL, lambda _, table: resolver.columns("Shop", table))
    assert first.reason == f"what the function {name} reads is not known"
    assert second.reason == "columns not resolved: what a variable holds is not followed"


@for_each("name", ["sys.fn_helpcollations()", "STRING_SPLIT(@s, ',')", "OPENJSON(@j)"])
def test_functions_of_the_server_are_no_gap(name: str) -> None:
    (statement,) = resolved(f"SELECT f.value AS a INTO dbo.t FROM {name} f").statements
    assert statement.shape.reason is None


def test_the_definition_of_a_function_leads_to_the_tables_in_it() -> None:
    touched = [DatasetId(SERVER, "Shop.dbo.nested")]
    records = view_records(SNAPSHOT, touched, SERVER, "snapshot.json")
    assert sorted(
        f"{edge.to_dataset.short}.{edge.to_column}<{edge.from_dataset.short}.{edge.from_column}"
        for edge in records.column_edges
    ) == [
        "dbo.nested.id<dbo.open_orders.id",
        "dbo.nested.total<dbo.open_orders.total",
        "dbo.open_orders.*<dbo.orders.id",
        "dbo.open_orders.id<dbo.orders.id",
        "dbo.open_orders.total<dbo.orders.amount",
    ]
