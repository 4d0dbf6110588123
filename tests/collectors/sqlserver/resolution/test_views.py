"""The definitions of views, as tasks that the lineage is built from."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.collectors.sqlserver.resolution.views import view_records
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Evidence, Outcome, Records
from dbt_graft.lineage.settings import LineageSettings, OneNameRules
from tests.cases import for_each

SERVER = "mssql://crm:1433"
VIEWS_APART = LineageSettings(one_name=OneNameRules(pass_through_views=False))
VIEWS = {
    "dbo.v": "CREATE VIEW dbo.v AS SELECT o.id, o.amount FROM dbo.orders o WHERE o.day > ?",
    "dbo.w": "CREATE VIEW w AS SELECT * FROM v JOIN Crm.dbo.people p ON p.id = v.id",
    "dbo.renamed": "CREATE VIEW dbo.old_name AS SELECT id FROM dbo.orders",
    "dbo.aliased": "CREATE VIEW dbo.aliased AS SELECT id FROM dbo.ledger",
    "dbo.remote": "CREATE VIEW dbo.remote AS SELECT id FROM erp.Erp.dbo.items",
    "dbo.cut": "CREATE VIEW dbo.",
    "dbo.unread": "CREATE VIEW dbo.unread AS SELECT id FROM dbo.orders",
}


def relation(kind: Kind, *names: str) -> SnapshotRelation:
    return SnapshotRelation(kind, tuple(Column(name, "int") for name in names))


SNAPSHOT = Snapshot(
    "CRM01",
    datetime(2026, 11, 21, tzinfo=UTC),
    {
        "Shop": SnapshotDatabase(
            relations={
                "dbo.orders": relation(Kind.TABLE, "id", "amount", "day"),
                "own.orders": relation(Kind.TABLE, "id"),
                "dbo.entries": relation(Kind.TABLE, "id"),
                "dbo.v": relation(Kind.VIEW, "id", "amount"),
                "dbo.w": relation(Kind.VIEW, "id", "amount", "name"),
            },
            synonyms={"dbo.ledger": "[dbo].[entries]"},
            modules={
                **{name: Module(ModuleKind.VIEW, text) for name, text in VIEWS.items()},
                "own.inner": Module(
                    ModuleKind.VIEW, "CREATE VIEW own.inner AS SELECT o.id FROM orders o, entries"
                ),
                "dbo.load": Module(ModuleKind.PROCEDURE, "CREATE PROC dbo.load AS SELECT ?"),
            },
        ),
        "Crm": SnapshotDatabase(relations={"dbo.people": relation(Kind.TABLE, "id", "name")}),
    },
)


def shop(*names: str) -> list[DatasetId]:
    schemas = {"inner": "own"}
    return [DatasetId(SERVER, f"Shop.{schemas.get(name, 'dbo')}.{name}") for name in names]


def records(*names: str) -> Records:
    return view_records(SNAPSHOT, shop(*names), SERVER, "snapshot.json")


def flows(lineage: Lineage) -> set[str]:
    return {f"{flow.source.short} -> {flow.target.short}" for flow in lineage.flows}


@for_each(
    "touched, expected",
    [
        ("v", {"dbo.orders -> dbo.v"}),
        ("V", {"dbo.orders -> dbo.v"}),
        ("w", {"dbo.v -> dbo.w", "dbo.people -> dbo.w", "dbo.orders -> dbo.v"}),
        ("renamed", {"dbo.orders -> dbo.renamed"}),
        ("aliased", {"dbo.entries -> dbo.aliased"}),
        ("remote", {"dbo.items -> dbo.remote"}),
        ("inner", {"own.orders -> own.inner", "dbo.entries -> own.inner"}),
        ("orders", set()),
        ("load", set()),
        ("nowhere", set()),
    ],
)
def test_a_view_comes_from_what_its_definition_reads(touched: str, expected: set[str]) -> None:
    assert {
        edge.casefold() for edge in flows(build(records(touched), settings=VIEWS_APART))
    } == expected


def test_what_other_servers_have_is_not_looked_up() -> None:
    other = DatasetId("mssql://erp:1433", "Shop.dbo.v")
    assert view_records(SNAPSHOT, [other, DatasetId(SERVER, "#t")], SERVER, "x") == Records()


def test_a_view_is_a_definition_and_its_flows_are_declared() -> None:
    lineage = build(records("v"))
    (view,) = lineage.definitions.values()
    assert (view.name, view.kind) == ("mssql://crm:1433/Shop.dbo.v", DefinitionKind.VIEW)
    assert lineage.tasks == {}
    assert {flow.evidence for flow in lineage.flows} == {Evidence.DECLARED}
    (shape,) = lineage.shapes.values()
    assert view.shapes == (shape.shape_id,)
    assert shape.text == VIEWS["dbo.v"]


def test_its_columns_are_spelled_out_by_the_snapshot() -> None:
    lineage = build(records("w"))
    (view,) = shop("w")
    assert [column.name for column in lineage.datasets[view].columns] == ["id", "amount", "name"]
    edges = {
        f"{edge.from_dataset.short}.{edge.from_column} -> {edge.to_column}"
        for edge in lineage.column_edges
        if edge.to_dataset == view and edge.to_column != "*"
    }
    assert edges >= {"dbo.v.amount -> amount", "dbo.people.name -> name"}


def test_the_synonym_by_which_it_reads_is_another_name_of_the_table() -> None:
    entries, ledger = shop("entries", "ledger")
    assert build(records("aliased"), settings=VIEWS_APART).datasets[entries].symlinks == (ledger,)


def test_each_view_is_an_origin_of_its_own() -> None:
    found = records("w")
    assert {access.origin for access in found.accesses} == {
        "snapshot.json#Shop.dbo.v",
        "snapshot.json#Shop.dbo.w",
    }


def test_a_definition_that_cannot_be_read_is_reported() -> None:
    found = records("cut")
    (shape,) = found.shapes.values()
    assert (shape.outcome, shape.reason) == (
        Outcome.FAILED,
        "there is no CREATE VIEW in its definition",
    )
    assert build(found).flows == ()
