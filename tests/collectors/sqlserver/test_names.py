"""From names as statements write them to full names of datasets, and what is left out."""

from dbt_graft.collectors.sqlserver.names import full_name
from tests.cases import for_each

SERVER = "mssql://sql01:1433"


@for_each(
    "name, database, expected",
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
    found = full_name(name, database)
    assert (None if found.is_system else str(found.dataset(SERVER))) == expected
