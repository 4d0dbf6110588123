"""Names in statements, resolved with a snapshot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
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
ORDERS = SnapshotRelation(Kind.TABLE, (Column("id", "int"), Column("amount", "money")))
SNAPSHOT = Snapshot(
    "CRM01",
    datetime(2026, 11, 21, tzinfo=UTC),
    {
        "Shop": SnapshotDatabase(
            relations={"dbo.Orders": ORDERS, "dbo.Active": SnapshotRelation(Kind.VIEW)},
            synonyms={
                "dbo.o": "[dbo].[Orders]",
                "dbo.oo": "o",
                "dbo.ooo": "CRM01.Shop.dbo.oo",
                "dbo.ledger": "[Finance].[dbo].[Entries]",
                "dbo.far": "[erp].[Erp].[dbo].[items]",
                "dbo.a": "dbo.b",
                "dbo.b": "dbo.a",
                "dbo.objects": "sys.objects",
                "dbo.broken": "[",
                "dbo.run": "dbo.load",
            },
            modules={"dbo.load": Module(ModuleKind.PROCEDURE, "CREATE PROC dbo.load AS SELECT ?")},
        ),
        "Finance": SnapshotDatabase(
            relations={"dbo.Entries": SnapshotRelation(Kind.TABLE, (Column("n", "int"),))}
        ),
    },
)


@for_each(
    "sql, name, kind, alias",
    [
        ("SELECT 1 FROM orders", "Shop.dbo.orders", Kind.TABLE, None),
        ("SELECT 1 FROM Shop..Active", "Shop.dbo.Active", Kind.VIEW, None),
        ("SELECT 1 FROM CRM01.Shop.dbo.Orders", "Shop.dbo.Orders", Kind.TABLE, None),
        ("SELECT 1 FROM dbo.o", "Shop.dbo.Orders", Kind.TABLE, "Shop.dbo.o"),
        ("SELECT 1 FROM OO", "Shop.dbo.Orders", Kind.TABLE, "Shop.dbo.OO"),
        ("SELECT 1 FROM ooo", "Shop.dbo.Orders", Kind.TABLE, "Shop.dbo.ooo"),
        ("INSERT INTO ledger VALUES (1)", "Finance.dbo.Entries", Kind.TABLE, "Shop.dbo.ledger"),
        ("SELECT 1 FROM a", "Shop.dbo.a", Kind.TABLE, None),
        ("SELECT 1 FROM broken", "Shop.dbo.broken", Kind.TABLE, None),
        ("SELECT 1 FROM Unknown.dbo.o", "Unknown.dbo.o", Kind.TABLE, None),
        ("DROP SYNONYM dbo.o", "Shop.dbo.o", Kind.TABLE, None),
        ("SELECT 1 FROM #o", "#o", Kind.TEMPORARY, None),
    ],
)
def test_a_name_is_the_dataset_that_it_stands_for(
    sql: str, name: str, kind: Kind, alias: str | None
) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    found = NameResolver(SERVER, SNAPSHOT).access(shape.accesses[0], "Shop")
    assert found is not None
    assert (found.dataset.name, found.kind) == (name, kind)
    assert found.alias == (DatasetId(SERVER, alias) if alias else None)
    assert found.dataset.namespace == SERVER


def test_a_synonym_of_a_linked_server_s_table_keeps_that_server() -> None:
    (shape,) = parse("SELECT 1 FROM dbo.far", Dialect.TSQL)
    found = NameResolver(SERVER, SNAPSHOT).access(shape.accesses[0], "Shop")
    assert found is not None
    assert str(found.dataset) == "mssql://erp/Erp.dbo.items"
    assert str(found.alias) == f"{SERVER}/Shop.dbo.far"


def test_a_synonym_of_the_system_s_catalog_is_no_dataset() -> None:
    (shape,) = parse("SELECT 1 FROM dbo.objects", Dialect.TSQL)
    assert NameResolver(SERVER, SNAPSHOT).access(shape.accesses[0], "Shop") is None


@for_each(
    "name, columns",
    [
        (("ORDERS",), ["id", "amount"]),
        (("oo",), ["id", "amount"]),
        (("finance", "", "entries"), ["n"]),
        (("far",), []),
        (("#orders",), []),
        (("@orders",), []),
        (("other",), []),
    ],
)
def test_columns(name: tuple[str, ...], columns: list[str]) -> None:
    assert list(NameResolver(SERVER, SNAPSHOT).columns("Shop", name)) == columns


@pytest.mark.parametrize(
    ("name", "place"),
    [(("load",), "dbo.load"), (("Run",), "dbo.load"), (("Orders",), None), (("x",), None)],
)
def test_procedures(name: tuple[str, ...], place: str | None) -> None:
    found = NameResolver(SERVER, SNAPSHOT).procedure(name, "Shop")
    assert (found[0].in_schema if found else None) == place


def test_without_a_snapshot_names_are_all_that_is_known() -> None:
    (shape,) = parse("SELECT 1 FROM dbo.o", Dialect.TSQL)
    found = NameResolver(SERVER).access(shape.accesses[0], "Shop")
    assert found is not None
    assert (str(found.dataset), found.columns) == (f"{SERVER}/Shop.dbo.o", ())
