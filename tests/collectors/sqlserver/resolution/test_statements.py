"""The statements of a text on a server: which are left out, and which are one."""

from __future__ import annotations

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.procedures import ProcedureExpander
from dbt_graft.collectors.sqlserver.resolution.resolve import SentText, resolve_statements
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect


def statements(text: str) -> tuple[ResolvedStatement, ...]:
    expander = ProcedureExpander(NameResolver("mssql://sql01:1433"), parse)
    sent = SentText(text, "Shop")
    return resolve_statements(sent, parse(text, Dialect.TSQL), expander).statements


def names(text: str) -> list[str]:
    return [access.dataset.name for one in statements(text) for access in one.reads]


def test_the_event_names_the_database_until_the_text_does() -> None:
    assert names("SELECT * FROM a; USE Crm; SELECT * FROM b") == ["Shop.dbo.a", "Crm.dbo.b"]


def test_statements_without_datasets_are_left_out() -> None:
    assert statements("SET NOCOUNT ON; SELECT name FROM sys.tables; EXEC p") == ()


def test_equal_statements_of_a_text_come_once_with_their_number() -> None:
    (one,) = statements("DELETE FROM t WHERE a = 1; DELETE FROM t WHERE a = 2")
    assert (one.times, one.alone) == (2, False)
    (one,) = statements("SET NOCOUNT ON; DELETE FROM t WHERE a = 1")
    assert (one.times, one.alone) == (1, True)
