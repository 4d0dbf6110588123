"""The statements of a text on a server: which are left out, and which are one."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.resolve import (
    ProcedureExpander,
    SentText,
    resolve_statements,
)
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
)
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Outcome
from tests.cases import for_each

LAKE = SnapshotDatabase(
    data_sources={"lake": "https://acc.blob.core.windows.net/raw/in/"},
    modules={
        "dbo.filled": Module(ModuleKind.PROCEDURE, "CREATE PROC dbo.filled AS DELETE FROM t"),
    },
)
_DYNAMIC = "dynamic SQL not resolved"
# A variable of which the text does not tell what it holds.
TABLE = "DECLARE @t sysname; SELECT @t = name FROM sys.tables;"
SNAPSHOT = Snapshot("CRM", datetime(2026, 11, 21, tzinfo=UTC), {"Shop": LAKE})


def statements(text: str, snapshot: Snapshot | None = None) -> tuple[ResolvedStatement, ...]:
    expander = ProcedureExpander(NameResolver("mssql://sql01:1433", snapshot), parse)
    sent = SentText(text, "Shop")
    return resolve_statements(sent, parse(text, Dialect.TSQL), expander).statements


def names(text: str) -> list[str]:
    return [access.dataset.name for statement in statements(text) for access in statement.reads]


def test_the_event_names_the_database_until_the_text_does() -> None:
    assert names("SELECT * FROM a; USE Crm; SELECT * FROM b") == ["Shop.dbo.a", "Crm.dbo.b"]


def test_statements_without_datasets_are_left_out() -> None:
    assert statements("SET NOCOUNT ON; SELECT name FROM sys.tables; EXEC sp_who") == ()


@for_each(
    "text, reason",
    [
        ("EXEC p 5", "what the procedure p does is not known"),
        ("EXEC @rc = dbo.sp_load", "what the procedure dbo.sp_load does is not known"),
        ("DECLARE @s nvarchar(9); SELECT @s = t.s FROM sys.t; EXEC (@s)", _DYNAMIC),
        ("EXEC sp_executesql @s", _DYNAMIC),
        ("EXEC filled", ""),
        ("EXEC sp_getapplock 'a'", ""),
        # As people name theirs.
        ("EXEC sp_load_orders", "what the procedure sp_load_orders does is not known"),
        ("EXEC sp_generate_merge 't'", "what the procedure sp_generate_merge does is not known"),
        ("EXEC dbo.sp_rename 'a', 'b'", ""),
        ("EXEC sp_OACreate 'x', @o OUT", ""),
        ("EXEC master.dbo.xp_cmdshell 'bcp a out b'", _DYNAMIC),
        ("EXEC sys.sp_describe_first_result_set N'SELECT 1'", ""),
        ("EXEC msdb.dbo.sp_start_job N'load'", ""),
        ("EXEC sp_executesql N'SELECT 1 AS a'", ""),
        ("GRANT EXECUTE ON p TO r", ""),
    ],
)
def test_what_a_call_hides_is_a_gap(text: str, reason: str) -> None:
    hidden = [statement for statement in statements(text, SNAPSHOT) if statement.hides]
    assert [statement.shape.reason for statement in hidden] == ([reason] if reason else [])


@for_each(
    "text, expected",
    [
        ("INSERT t EXEC p 5", [("EXEC p", {"p"})]),
        (
            "CREATE TABLE #t (i int); INSERT #t EXEC Crm.dbo.Pull 'x'",
            [("EXEC Crm.dbo.Pull", {"pull"})],
        ),
        ("INSERT t EXEC filled", []),
        ("INSERT t EXEC sp_who", []),
        ("EXEC dbo.P 5; EXEC q", [("EXEC dbo.P ?", {"p"}), ("EXEC q", {"q"})]),
        ("EXEC sp_executesql @s", [("EXEC sp_executesql @s", set())]),
    ],
)
def test_a_call_beside_datasets_is_a_statement_of_its_own(
    text: str, expected: list[tuple[str, set[str]]]
) -> None:
    hidden = [statement for statement in statements(text, SNAPSHOT) if statement.hides]
    assert [(call.shape.text, call.inside) for call in hidden] == expected


@for_each(
    "text, reason",
    [
        (f"{TABLE} EXEC ('SELECT * FROM ' + @t)", "no table found after FROM"),
        (f"{TABLE} EXEC ('TRUNCATE TABLE ' + @t)", "no table found after TABLE"),
        (f"{TABLE} EXEC ('SELECT a FROM t WHERE b = ' + @t)", None),
        ("SELECT dbo.f(1)", "what the function dbo.f reads is not known"),
        ("PRINT 'x'; SET NOCOUNT ON; SELECT name FROM sys.tables; SELECT GETDATE()", None),
        ("GRANT SELECT ON t TO r; DENY EXECUTE ON p TO r", None),
        # Each database has its catalog, wherever that is.
        (f"{TABLE} EXEC ('USE ' + @t + '; SELECT name FROM sys.columns')", None),
        (
            f"{TABLE} EXEC ('USE ' + @t + '; SELECT name FROM orders')",
            "the database is not known that a USE chose, or that it left",
        ),
    ],
)
def test_a_statement_that_names_no_dataset_and_may_touch_one_counts(
    text: str, reason: str | None
) -> None:
    unknown = [each for each in statements(text) if not (each.reads or each.writes)]
    assert [each.shape.reason for each in unknown] == ([reason] if reason else [])


def test_the_rows_of_a_text_are_not_those_of_functions() -> None:
    written, function = statements("DELETE FROM t WHERE a = 1; SELECT dbo.f(1)")
    assert (written.alone, function.hides) == (True, False)


def test_the_rows_of_a_text_are_those_of_what_a_call_fills() -> None:
    written, call = statements("INSERT t EXEC p")
    assert (written.alone, call.alone) == (True, False)


def test_rows_of_a_text_that_calls_what_nobody_knows_are_not_those_of_its_statement() -> None:
    written, _ = statements("DELETE FROM t WHERE a = 1; EXEC p")
    assert not written.alone


def test_equal_statements_of_a_text_come_once_with_their_number() -> None:
    (statement,) = statements("DELETE FROM t WHERE a = 1; DELETE FROM t WHERE a = 2")
    assert (statement.times, statement.alone) == (2, False)
    (statement,) = statements("SET NOCOUNT ON; DELETE FROM t WHERE a = 1")
    assert (statement.times, statement.alone) == (1, True)


def test_a_file_lies_where_the_snapshot_has_its_data_source() -> None:
    text = "INSERT t (a) SELECT r.b FROM OPENROWSET(BULK 'x.parquet', DATA_SOURCE = 'Lake') AS r"
    (statement,) = statements(text, SNAPSHOT)
    file = DatasetId("abfss://raw@acc.dfs.core.windows.net", "/in/x.parquet")
    assert [access.dataset for access in statement.reads] == [file]
    assert [(edge.from_dataset, edge.from_column) for edge in statement.edges] == [(file, "b")]
    assert statement.shape.reason is None


@for_each("snapshot", [None, SNAPSHOT])
def test_a_file_below_a_data_source_that_is_not_known_is_a_gap(snapshot: Snapshot | None) -> None:
    text = "BULK INSERT t FROM 'x.csv' WITH (DATA_SOURCE = 'pond')"
    (statement,) = statements(text, snapshot)
    assert statement.reads == ()
    assert statement.shape.outcome is Outcome.PARTIAL
    assert statement.shape.reason == "no snapshot says where the data source pond is"
