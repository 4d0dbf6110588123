from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
    read_snapshot,
    write_snapshot,
)
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Column
from tests.cases import for_each

SHOP = SnapshotDatabase(
    relations={
        "dbo.Orders": SnapshotRelation(
            Kind.TABLE, (Column("Id", "int"), Column("Amount", "money"))
        ),
        "dbo.OpenOrders": SnapshotRelation(Kind.VIEW, (Column("Id", "int"),)),
        "Größen.Maße": SnapshotRelation(Kind.TABLE),
    },
    synonyms={"dbo.Ledger": "[Finance].[dbo].[Entries]"},
    modules={"dbo.Load": Module(ModuleKind.PROCEDURE, "CREATE PROCEDURE dbo.Load AS SELECT ?")},
    data_sources={"Lake": "https://acc.blob.core.windows.net/lake"},
)
SNAPSHOT = Snapshot(
    "CRM", datetime(2026, 11, 21, 2, 15, tzinfo=UTC), {"Shop": SHOP, "Archive": SnapshotDatabase()}
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_snapshot(SNAPSHOT, tmp_path / "new/snapshot.json")
    assert read_snapshot(tmp_path / "new/snapshot.json") == SNAPSHOT


def test_columns_keep_their_order(tmp_path: Path) -> None:
    columns = tuple(Column(name, "int") for name in ("z", "a", "M"))
    written = {"Shop": SnapshotDatabase({"dbo.t": SnapshotRelation(Kind.TABLE, columns)})}
    write_snapshot(Snapshot("CRM", SNAPSHOT.taken_at, written), tmp_path / "s.json")
    assert (
        read_snapshot(tmp_path / "s.json").databases["Shop"].relations["dbo.t"].columns == columns
    )


def test_the_order_in_which_things_were_found_does_not_show(tmp_path: Path) -> None:
    turned = SnapshotDatabase(
        dict(reversed(SHOP.relations.items())),
        SHOP.synonyms,
        dict(reversed(SHOP.modules.items())),
        SHOP.data_sources,
    )
    write_snapshot(SNAPSHOT, tmp_path / "a.json")
    write_snapshot(
        Snapshot("CRM", SNAPSHOT.taken_at, {"Archive": SnapshotDatabase(), "Shop": turned}),
        tmp_path / "b.json",
    )
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_column_is_one_line(tmp_path: Path) -> None:
    write_snapshot(SNAPSHOT, tmp_path / "s.json")
    lines = (tmp_path / "s.json").read_text().splitlines()
    assert [line.strip() for line in lines].count('"Amount": "money"') == 1


def test_names_are_found_whatever_their_case() -> None:
    shop = SNAPSHOT.database("SHOP")
    assert shop is not None
    assert shop.relation("DBO.ORDERS") == SHOP.relations["dbo.Orders"]
    assert shop.relation("GRÖSSEN.MASSE") == SHOP.relations["Größen.Maße"]
    assert shop.synonym("dbo.LEDGER") == "[Finance].[dbo].[Entries]"
    assert shop.module("Dbo.load") == SHOP.modules["dbo.Load"]
    assert shop.data_source("lake") == SHOP.data_sources["Lake"]


def test_what_is_not_there_is_none() -> None:
    assert SNAPSHOT.database("Sho") is None
    assert (SHOP.relation("Orders"), SHOP.synonym("dbo.Orders"), SHOP.module("")) == (None,) * 3


def test_a_snapshot_that_is_replaced_leaves_nothing_beside(tmp_path: Path) -> None:
    for _ in range(2):
        write_snapshot(SNAPSHOT, tmp_path / "s.json")
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def test_a_place_that_cannot_be_written_is_an_error_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "s.json").mkdir()
    with pytest.raises(GraftError, match="cannot be written"):
        write_snapshot(SNAPSHOT, tmp_path / "s.json")
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


GOOD: dict[str, Any] = {
    "format": "dbt-graft sqlserver snapshot",
    "version": 1,
    "server": "CRM",
    "taken_at": "2026-11-21T02:15:00+00:00",
    "databases": {},
}


def shop(**parts: Any) -> dict[str, Any]:
    return {"databases": {"Shop": {"relations": {}, "synonyms": {}, "modules": {}, **parts}}}


@for_each(
    "change, problem",
    [
        ({"format": "v12"}, "not a snapshot"),
        ({"version": 2}, "version is not 1"),
        ({"version": None}, "version is not 1"),
        ({"server": None}, "`server` should be text"),
        ({"taken_at": 5}, "`taken_at` should be text"),
        ({"taken_at": "yesterday"}, "`taken_at` should be a time"),
        ({"taken_at": "2026-11-21T02:15:00"}, "time zone"),
        ({"databases": []}, "`databases` should be an object"),
        ({"databases": {"Shop": None}}, "`databases > Shop` should be an object"),
        ({"databases": {"Shop": {}}}, "`databases > Shop > relations` should be an object"),
        (shop(relations={"dbo.t": []}), "relations > dbo.t` should be an object"),
        (shop(relations={"dbo.t": {"kind": "PATH"}}), "kind` should be TABLE or VIEW"),
        (shop(relations={"dbo.t": {"kind": []}}), "kind` should be TABLE or VIEW"),
        (shop(relations={"dbo.t": {"kind": "TABLE"}}), "columns` should be an object"),
        (shop(relations={"dbo.t": {"kind": "VIEW", "columns": {"a": 1}}}), "a` should be text"),
        (shop(synonyms={"dbo.s": None}), "synonyms > dbo.s` should be text"),
        (shop(modules={"dbo.p": {"kind": "TABLE", "text": ""}}), "should be one of VIEW"),
        (shop(modules={"dbo.p": {"kind": "VIEW"}}), "dbo.p > text` should be text"),
    ],
)
def test_a_file_of_another_structure_is_named(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(GraftError) as error:
        read_snapshot(path)
    assert problem in error.value.problem
    assert (error.value.place, "graft logs sqlserver-snapshot" in error.value.remedy) == (
        str(path),
        True,
    )


@for_each("content", [b"", b"[]", b'{"format"', b"\xff\xfe{", b"[" * 5000, b"null"])
def test_a_file_that_is_no_snapshot_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(GraftError):
        read_snapshot(tmp_path / "s.json")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="cannot be read"):
        read_snapshot(tmp_path / "s.json")
