"""The statements of called procedures, inferred from their texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.resolve import (
    ProcedureExpander,
    ResolvedText,
    SentText,
    resolve_statements,
)
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Column, Direction, Evidence, Outcome
from tests.cases import for_each

SERVER = "mssql://crm:1433"
PROCEDURES = {
    "load": "CREATE PROC dbo.load @d date AS BEGIN DELETE x; INSERT INTO x SELECT * FROM a END",
    "outer": "CREATE PROC p AS INSERT b SELECT * FROM a; EXEC Shop.dbo.load; INSERT c VALUES (1)",
    "round": "CREATE PROC round AS EXEC dbo.about; INSERT b SELECT * FROM a",
    "about": "CREATE PROC about AS EXEC dbo.round; INSERT c SELECT * FROM b",
    "far": "CREATE PROC far AS USE Finance; INSERT entries SELECT * FROM Shop.dbo.a",
    "away": "CREATE PROC away AS EXEC Finance..book",
    "branches": "CREATE PROC p AS IF ? = ? INSERT b SELECT * FROM a ELSE INSERT c SELECT * FROM a",
    "list": "CREATE PROC list AS SELECT i FROM a",
    "held": "CREATE PROC held AS DECLARE @t TABLE (i int); INSERT @t SELECT i FROM a",
    "held_too": "CREATE PROC held_too AS DECLARE @t TABLE (i int); INSERT b SELECT i FROM @t",
    "creates": "CREATE PROC p AS EXEC (CREATE TRIGGER t ON a AFTER INSERT AS DELETE c); DELETE b",
    "nothing": "CREATE PROC nothing AS PRINT ?",
    **{f"deep{at}": f"CREATE PROC p AS EXEC deep{at + 1}; DELETE t{at}" for at in range(20)},
    **{f"wide{at}": "CREATE PROC p AS " + f"EXEC wide{at + 1} " * 300 for at in range(6)},
    "wide6": "CREATE PROC p AS " + "EXEC dbo.list " * 300,
}  # fmt: skip
SNAPSHOT = Snapshot(
    "CRM01",
    datetime(2026, 11, 21, tzinfo=UTC),
    {
        "Shop": SnapshotDatabase(
            relations={
                "dbo.a": SnapshotRelation(Kind.TABLE, (Column("i", "int"), Column("n", "money"))),
                "dbo.x": SnapshotRelation(Kind.TABLE, (Column("k", "int"), Column("m", "money"))),
            },
            modules={
                f"dbo.{name}": Module(ModuleKind.PROCEDURE, text)
                for name, text in PROCEDURES.items()
            }
            | {
                "etl.load": Module(ModuleKind.PROCEDURE, "CREATE PROC etl.load AS EXEC finish"),
                "etl.finish": Module(ModuleKind.PROCEDURE, "CREATE PROC p AS DELETE etl.done"),
                "dbo.finish": Module(ModuleKind.PROCEDURE, "CREATE PROC p AS DELETE done"),
            },
        ),
        "Finance": SnapshotDatabase(
            modules={
                "dbo.book": Module(
                    ModuleKind.PROCEDURE, "CREATE PROC dbo.book AS INSERT e SELECT * FROM f"
                )
            }
        ),
    },
)


def resolved(text: str, database: str = "Shop") -> ResolvedText:
    expander = ProcedureExpander(NameResolver(SERVER, SNAPSHOT), parse)

    def columns(used: str | None, table: tuple[str, ...]) -> Sequence[str]:
        return expander.resolver.columns(used or database, table)

    return resolve_statements(
        SentText(text, database), parse(text, Dialect.TSQL, columns), expander
    )


def inferred(text: str) -> tuple[ResolvedStatement, ...]:
    return resolved(text).inferred


def written(statements: Sequence[ResolvedStatement]) -> list[str]:
    """`INSERT x < a`, in order."""
    lines = []
    for statement in sorted(statements, key=lambda one: one.ordinal):
        used: dict[Direction, list[str]] = {Direction.READ: [], Direction.WRITE: []}
        for direction, access in statement.accesses():
            name = access.dataset.name.removeprefix("Shop.dbo.")
            is_write = direction is Direction.WRITE
            used[direction].append(f"{access.operation} {name}" if is_write else name)
        line = f"{' '.join(used[Direction.WRITE])} < {' '.join(used[Direction.READ])}"
        lines.append(line.strip(" <"))
    return lines


INFERRED = {
    "a procedure's statements": ("EXEC load 1", ["DELETE x", "INSERT x < a"]),
    "an ODBC call": ("{CALL dbo.load(?)}", ["DELETE x", "INSERT x < a"]),
    "a call in its place among others": (
        "INSERT b SELECT * FROM x; EXEC @rc = dbo.load 1; INSERT c SELECT * FROM x",
        ["DELETE x", "INSERT x < a"],
    ),
    "a call inside, in its place": (
        "EXEC outer",
        ["INSERT b < a", "DELETE x", "INSERT x < a", "INSERT c"],
    ),
    "not those of a trigger that it creates": ("EXEC creates", ["DELETE b"]),
    "calls in a circle end": ("EXEC round", ["INSERT c < b", "INSERT b < a"]),
    "in the database that it uses": ("EXEC far", ["INSERT Finance.dbo.entries < a"]),
    "in its own database": ("EXEC away", ["INSERT Finance.dbo.e < Finance.dbo.f"]),
    "its own schema first": ("EXEC etl.load", ["DELETE Shop.etl.done"]),
    "dbo elsewhere": ("EXEC finish", ["DELETE done"]),
    "after USE": ("USE Finance; EXEC book", ["INSERT Finance.dbo.e < Finance.dbo.f"]),
    "both branches": ("EXEC branches", ["INSERT b < a", "INSERT c < a"]),
    "what INSERT … EXEC takes in": ("INSERT b EXEC list", ["a"]),
    "no tables, no statement": ("EXEC nothing", []),
    "nobody knows it": ("EXEC elsewhere", []),
    "one on another server": ("EXEC erp.Shop.dbo.load 1", []),
    "what is only defined is not called": ("CREATE PROC p AS EXEC load 1", []),
}


@for_each("claim", INFERRED)
def test_inferred(claim: str) -> None:
    text, expected = INFERRED[claim]
    statements = inferred(text)
    assert written(statements) == expected
    assert {statement.evidence for statement in statements} <= {Evidence.INFERRED}


def test_statements_name_their_procedure() -> None:
    statements = inferred("EXEC outer")
    assert [statement.procedure for statement in statements] == [
        "Shop.dbo.outer",
        "Shop.dbo.load",
        "Shop.dbo.load",
        "Shop.dbo.outer",
    ]


def test_a_table_variable_is_its_procedure_s_own() -> None:
    statements = inferred("EXEC held; EXEC held_too")
    variables = [
        access.dataset
        for statement in statements
        for _, access in statement.accesses()
        if access.kind is Kind.TEMPORARY
    ]
    assert [variable.short for variable in variables] == ["@t", "@t"]
    assert len({*variables}) == 2
    (edge,) = statements[0].edges
    assert edge.to_dataset == variables[0]


def test_one_order_goes_through_both() -> None:
    text = resolved("INSERT b SELECT * FROM x; EXEC load 1; INSERT c EXEC list")
    assert written([*text.statements, *text.inferred]) == [
        *("INSERT b < x", "DELETE x", "INSERT x < a", "a", "INSERT c"),
    ]
    assert {statement.evidence for statement in text.statements} == {Evidence.OBSERVED}


def test_equal_calls_are_counted() -> None:
    statements = inferred("EXEC load 1; EXEC load 2; EXEC load 3")
    assert [statement.times for statement in statements] == [3, 3]


def test_calls_are_followed_to_an_end() -> None:
    assert written(inferred("EXEC deep0")) == [f"DELETE t{at}" for at in range(7, -1, -1)]
    (row,) = inferred("EXEC wide0")
    assert row.times < 4000


def test_columns_of_the_snapshot_spell_out_a_star_by_position() -> None:
    (statement,) = resolved("INSERT INTO x SELECT * FROM a").statements
    assert {(edge.from_column, edge.to_column) for edge in statement.edges} == {
        ("i", "k"),
        ("n", "m"),
    }
    assert statement.shape.outcome is Outcome.PARSED
    (written_to,) = statement.writes
    assert written_to.columns == (Column("k", "int"), Column("m", "money"))


def test_a_table_of_one_name_in_another_database_has_other_columns() -> None:
    here, there = resolved("SELECT * INTO n FROM a; USE Finance; SELECT * INTO n FROM a").statements
    assert {edge.from_column for edge in here.edges} == {"i", "n"}
    assert {edge.from_column for edge in there.edges} == {"*"}


def test_types_that_a_statement_gives_are_newer_than_the_snapshot() -> None:
    (made,) = resolved("CREATE TABLE x (k bigint)").statements
    assert made.writes[0].columns == (Column("k", "bigint"),)
