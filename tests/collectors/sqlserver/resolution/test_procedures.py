"""What calls do by the texts of their procedures, beside what texts say themselves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.collectors.sqlserver.resolution.lookup import NameResolver
from dbt_graft.collectors.sqlserver.resolution.procedures import ProcedureExpander
from dbt_graft.collectors.sqlserver.resolution.resolve import resolve_statements
from dbt_graft.collectors.sqlserver.resolution.statement import Row
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


def meaning(text: str, database: str = "Shop") -> dict[str, list[Row]]:
    bodies = ProcedureExpander(NameResolver(SERVER, SNAPSHOT), parse)

    def columns(used: str | None, table: tuple[str, ...]) -> object:
        return bodies.lookup.columns(used or database, table)

    return resolve_statements(parse(text, Dialect.TSQL, columns), database, bodies)  # type: ignore[arg-type]


def written(rows: list[Row]) -> list[str]:
    """`INSERT x < a`, in order."""
    lines = []
    for row in sorted(rows, key=lambda row: int(row["ordinal"])):
        used = {"read": [], "write": []}  # type: dict[str, list[str]]
        for access in row["accesses"]:
            name = access["name"].removeprefix("Shop.dbo.")
            used[access["direction"]].append(
                f"{access['operation']} {name}" if access["direction"] == "write" else name
            )
        lines.append(f"{' '.join(used['write'])} < {' '.join(used['read'])}".strip(" <"))
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


@pytest.mark.parametrize("claim", INFERRED)
def test_inferred(claim: str) -> None:
    text, expected = INFERRED[claim]
    found = meaning(text)["inferred"]
    assert written(found) == expected
    assert {row["evidence"] for row in found} <= {"inferred"}


def test_statements_tell_their_procedure() -> None:
    found = meaning("EXEC outer")["inferred"]
    assert [row["procedure"] for row in found] == [
        "Shop.dbo.outer",
        "Shop.dbo.load",
        "Shop.dbo.load",
        "Shop.dbo.outer",
    ]


def test_a_table_variable_is_its_procedure_s_own() -> None:
    found = meaning("EXEC held; EXEC held_too")["inferred"]
    variables = [
        DatasetId(access["namespace"], access["name"])
        for row in found
        for access in row["accesses"]
        if access["kind"] == "TEMPORARY"
    ]
    assert [variable.short for variable in variables] == ["@t", "@t"]
    assert len({*variables}) == 2
    (edge,) = found[0]["column_edges"]
    assert edge["to_name"] == variables[0].name


def test_one_order_goes_through_both() -> None:
    found = meaning("INSERT b SELECT * FROM x; EXEC load 1; INSERT c EXEC list")
    assert written([*found["statements"], *found["inferred"]]) == [
        *("INSERT b < x", "DELETE x", "INSERT x < a", "a", "INSERT c"),
    ]
    assert {row["evidence"] for row in found["statements"]} == {"observed"}


def test_equal_calls_are_counted() -> None:
    found = meaning("EXEC load 1; EXEC load 2; EXEC load 3")["inferred"]
    assert [row["times"] for row in found] == [3, 3]


def test_calls_are_followed_to_an_end() -> None:
    assert written(meaning("EXEC deep0")["inferred"]) == [
        f"DELETE t{at}" for at in range(7, -1, -1)
    ]
    (row,) = meaning("EXEC wide0")["inferred"]
    assert row["times"] < 4000


def test_columns_of_the_snapshot_spell_out_a_star_by_position() -> None:
    (statement,) = meaning("INSERT INTO x SELECT * FROM a")["statements"]
    assert {(edge["from_column"], edge["to_column"]) for edge in statement["column_edges"]} == {
        ("i", "k"),
        ("n", "m"),
    }
    assert statement["outcome"] == "parsed"
    written_to = next(one for one in statement["accesses"] if one["direction"] == "write")
    assert written_to["columns"] == [
        {"name": "k", "type": "int"},
        {"name": "m", "type": "money"},
    ]


def test_a_table_of_one_name_in_another_database_has_other_columns() -> None:
    here, there = meaning("SELECT * INTO n FROM a; USE Finance; SELECT * INTO n FROM a")[
        "statements"
    ]
    assert {edge["from_column"] for edge in here["column_edges"]} == {"i", "n"}
    assert {edge["from_column"] for edge in there["column_edges"]} == {"*"}


def test_types_that_a_statement_gives_are_newer_than_the_snapshot() -> None:
    (made,) = meaning("CREATE TABLE x (k bigint)")["statements"]
    assert made["accesses"][0]["columns"] == [{"name": "k", "type": "bigint"}]
