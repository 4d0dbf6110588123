"""From names as statements write them to full names of datasets, and what is left out."""

import pytest

from dbt_graft.collectors.sqlserver.names import dataset_id
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Direction

SERVER = "mssql://sql01:1433"


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
