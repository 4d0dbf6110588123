"""From names as statements write them to full names of datasets, and what is left out."""

import pytest

from dbt_graft.collectors.sqlserver.resolution.lookup import NameResolver
from dbt_graft.collectors.sqlserver.resolution.names import dataset_id
from dbt_graft.collectors.sqlserver.resolution.procedures import ProcedureExpander
from dbt_graft.collectors.sqlserver.resolution.resolve import resolve_statements
from dbt_graft.collectors.sqlserver.resolution.statement import Row
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Direction

SERVER = "mssql://sql01:1433"


def statements(text: str, database: str, server: str) -> list[Row]:
    bodies = ProcedureExpander(NameResolver(server), parse)
    return resolve_statements(parse(text, Dialect.TSQL), database, bodies)["statements"]


@pytest.mark.parametrize(
    ("name", "database", "expected"),
    [
        (("t",), "Shop", "mssql://sql01:1433/Shop.dbo.t"),
        (("s", "t"), "Shop", "mssql://sql01:1433/Shop.s.t"),
        (("Crm", "", "t"), "Shop", "mssql://sql01:1433/Crm.dbo.t"),
        (("Crm", "s", "t"), "Shop", "mssql://sql01:1433/Crm.s.t"),
        (("sql02", "Crm", "s", "t"), "Shop", "mssql://sql02/Crm.s.t"),
        (("sql02", "", "s", "t"), "Shop", "mssql://sql02/s.t"),
        (("t",), "", "mssql://sql01:1433/dbo.t"),
        (("sys", "tables"), "Shop", None),
        (("Shop", "INFORMATION_SCHEMA", "COLUMNS"), "Crm", None),
        (("master", "", "spt_values"), "Shop", None),
        (("t",), "msdb", None),
        (("sysobjects",), "Shop", None),
    ],
)
def test_a_name_in_full(name: tuple[str, ...], database: str, expected: str | None) -> None:
    found = dataset_id(TableAccess(name, Direction.READ, "SELECT"), SERVER, database)
    assert (str(found) if found else None) == expected


def test_a_temporary_table_belongs_to_the_server_not_to_a_database() -> None:
    table = TableAccess(("#t",), Direction.READ, "SELECT", Kind.TEMPORARY)
    assert str(dataset_id(table, SERVER, "Shop")) == "mssql://sql01:1433/#t"


def names(text: str, database: str = "Shop") -> list[str]:
    found = statements(text, database, SERVER)
    return [access["name"] for one in found for access in one["accesses"]]


def test_the_event_names_the_database_until_the_text_does() -> None:
    assert names("SELECT * FROM a; USE Crm; SELECT * FROM b") == ["Shop.dbo.a", "Crm.dbo.b"]


def test_statements_without_datasets_are_left_out() -> None:
    assert statements("SET NOCOUNT ON; SELECT name FROM sys.tables; EXEC p", "Shop", SERVER) == []


def test_equal_statements_of_a_text_come_once_with_their_number() -> None:
    (one,) = statements("DELETE FROM t WHERE a = 1; DELETE FROM t WHERE a = 2", "Shop", SERVER)
    assert (one["times"], one["alone"]) == (2, False)
    (one,) = statements("SET NOCOUNT ON; DELETE FROM t WHERE a = 1", "Shop", SERVER)
    assert (one["times"], one["alone"]) == (1, True)
