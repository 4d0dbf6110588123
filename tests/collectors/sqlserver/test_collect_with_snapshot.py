"""A log collected with a snapshot of the server: columns, synonyms, views, procedures."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.sqlserver.collect import collect
from dbt_graft.collectors.sqlserver.listing import Server
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Column, Records
from dbt_graft.lineage.settings import LineageSettings, OneNameRules
from tests.collectors.sqlserver.runs.test_fold import event
from tests.collectors.sqlserver.xel_writer import write_events

NAMESPACE = "mssql://sql01:1433"
SHOP = SnapshotDatabase(
    relations={
        "dbo.orders": SnapshotRelation(Kind.TABLE, (Column("id", "int"), Column("total", "money"))),
        "dbo.v_orders": SnapshotRelation(
            Kind.VIEW, (Column("id", "int"), Column("total", "money"))
        ),
        "dbo.report": SnapshotRelation(Kind.TABLE, (Column("id", "int"), Column("total", "money"))),
    },
    synonyms={"dbo.s_orders": "[Shop].[dbo].[v_orders]"},
    modules={
        "dbo.v_orders": Module(
            ModuleKind.VIEW, "CREATE VIEW dbo.v_orders AS SELECT id, total FROM dbo.orders"
        ),
        "dbo.refresh": Module(
            ModuleKind.PROCEDURE,
            "CREATE PROCEDURE dbo.refresh AS DELETE FROM dbo.totals; "
            "INSERT INTO dbo.totals SELECT total FROM dbo.report",
        ),
    },
)
SNAPSHOT = Snapshot("SQL01", datetime(2026, 11, 20, tzinfo=UTC), {"Shop": SHOP})
EVENTS = [
    event("batch", "INSERT INTO dbo.report SELECT * FROM dbo.s_orders", 1, session=51),
    event("batch", "EXEC dbo.refresh", 2, session=51),
    event("inside", "DELETE FROM dbo.seen", 3, session=52, object_name="refresh"),
    event("batch", "EXEC dbo.refresh", 4, session=52),
]


@pytest.fixture(scope="module")
def records(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Records:
    folder = tmp_path_factory.mktemp("snapshot")
    write_events(folder / "a.xel", EVENTS)
    server = Server(NAMESPACE, snapshot=SNAPSHOT, snapshot_label="snapshot.json")
    found = collect(engine, LogPath(str(folder / "a.xel"), "a.xel"), server, {})
    assert found is not None
    store.commit(str(folder / "store"), [found])
    return store.read(str(folder / "store"))


def test_flows_go_through_synonyms_and_views_to_their_tables(records: Records) -> None:
    flows = {
        (f.task, f.source.short, f.target.short)
        for f in build(
            records, settings=LineageSettings(one_name=OneNameRules(pass_through_views=False))
        ).flows
    }
    assert {flow for flow in flows if flow[2] != "dbo.totals"} == {
        ("load", "dbo.v_orders", "dbo.report"),
        (f"{NAMESPACE}/Shop.dbo.v_orders", "dbo.orders", "dbo.v_orders"),
    }


def test_a_view_of_a_synonym_of_a_table_passes_the_table_on(records: Records) -> None:
    flows = {(f.task, f.source.short, f.target.short) for f in build(records).flows}
    assert ("load", "dbo.orders", "dbo.report") in flows
    assert not any("dbo.v_orders" in flow for flow in flows)


def test_a_procedure_that_no_event_shows_is_inferred_from_its_text(records: Records) -> None:
    accesses = {
        (access.dataset.short, access.evidence, access.procedure)
        for access in records.accesses
        if access.dataset.short in ("dbo.totals", "dbo.seen")
    }
    assert accesses == {
        ("dbo.totals", "inferred", "Shop.dbo.refresh"),
        ("dbo.seen", "observed", "refresh"),
    }


def test_a_star_is_spelled_out(records: Records) -> None:
    edges = {
        (edge.from_column, edge.to_column)
        for edge in records.column_edges
        if edge.to_dataset.short == "dbo.report"
    }
    assert edges == {("id", "id"), ("total", "total")}


def test_datasets_have_kind_columns_and_other_names(records: Records) -> None:
    views = [dataset for dataset in records.datasets if dataset.id.short == "dbo.v_orders"]
    assert {view.kind for view in views} == {Kind.VIEW}
    assert all(view.columns == (Column("id", "int"), Column("total", "money")) for view in views)
    assert {symlink.short for view in views for symlink in view.symlinks} == {"dbo.s_orders"}
