"""Declared lineage reaches the store, marked as declared, and leaves it with its file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.analysis.finding import Finding
from dbt_graft.collectors.declared.collect import (
    collect,
    declared_records,
    documents,
    task_infos,
)
from dbt_graft.collectors.declared.listing import ChangedFile, changed_files
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Evidence, Subtype

LOAD = """\
version: 1
tasks:
  load_orders:
    owner: Data platform
    flows:
      - {from: [sftp/orders], to: [spark/raw.orders],
         columns: {spark/raw.orders: {amount: [{column: sftp/orders.amt, how: AGGREGATION}]}}}
      - {from: [sftp/rates], to: [spark/raw.rates]}
"""
USE = """\
version: 1
consumers:
  revenue: {type: dashboard, reads: [spark/raw.orders]}
"""


@pytest.fixture
def files(tmp_path: Path) -> LogPath:
    folder = tmp_path / "lineage"
    folder.mkdir()
    (folder / "load.yml").write_text(LOAD)
    (folder / "use.yml").write_text(USE)
    return LogPath(str(folder / "*.yml"), "lineage/*.yml")


def _positions(found: list[ChangedFile]) -> dict[str, tuple[str, int]]:
    return {file.origin: (file.position, 0) for file in found}


def test_files_are_new_once_and_again_when_they_change(files: LogPath) -> None:
    found = changed_files(files, {})
    assert [file.origin for file in found] == [
        "declared:lineage/*.yml#load.yml",
        "declared:lineage/*.yml#use.yml",
    ]
    assert changed_files(files, _positions(found)) == []

    use = Path(files.path).parent / "use.yml"
    use.write_text(USE.replace("dashboard", "ml"))
    assert [file.origin for file in changed_files(files, _positions(found))] == [found[1].origin]


def test_a_file_that_is_gone_is_new_once(files: LogPath) -> None:
    found = changed_files(files, {})
    (Path(files.path).parent / "use.yml").unlink()
    (gone,) = changed_files(files, _positions(found))

    assert (gone.origin, gone.path) == (found[1].origin, None)
    assert changed_files(files, {**_positions(found), **_positions([gone])}) == []


@pytest.mark.parametrize("path", ["", "/load.yml", "/*.yml", "/**/*.yml"])
def test_a_path_is_a_folder_a_file_or_a_pattern(files: LogPath, path: str) -> None:
    folder = Path(files.path).parent
    found = documents(LogPath(f"{folder}{path}", f"lineage{path}"))
    assert folder / "load.yml" in found


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/none.yml", "no such file"),
        ("/*.json", "no such file"),
        ("s3a://b/x.yml", "read from a URL"),
    ],
)
def test_a_path_without_files_is_an_error(files: LogPath, path: str, expected: str) -> None:
    whole = path if "://" in path else f"{Path(files.path).parent}{path}"
    with pytest.raises(GraftError, match=expected):
        changed_files(LogPath(whole, path), {})


def test_the_faults_of_all_files_are_reported_at_once(files: LogPath) -> None:
    for name in ("load.yml", "use.yml"):
        (Path(files.path).parent / name).write_text("version: 1\nwhatever: 2\n")
    with pytest.raises(GraftError) as caught:
        documents(files)
    assert "load.yml:2: " in str(caught.value)
    assert "use.yml:2: " in str(caught.value)


def test_entries_of_tasks_and_consumers_are_records(files: LogPath) -> None:
    infos = task_infos(documents(files))
    assert (infos["load_orders"].owner, infos["revenue"].type) == ("Data platform", "dashboard")


def test_it_goes_into_the_store_and_out_of_it(files: LogPath, tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    store.commit(place, collect(changed_files(files, {})))
    lineage = build(store.read(place))

    flows = {(str(f.source), str(f.target), f.task, f.evidence) for f in lineage.flows}
    assert flows == {
        ("sftp/orders", "spark/raw.orders", "load_orders", Evidence.DECLARED),
        ("sftp/rates", "spark/raw.rates", "load_orders", Evidence.DECLARED),
    }
    assert {task.engines for task in lineage.tasks.values()} == {("declared",)}
    (edge,) = lineage.column_edges
    assert (edge.to_column, edge.from_column, edge.subtype) == (
        "amount",
        "amt",
        Subtype.AGGREGATION,
    )

    (Path(files.path).parent / "load.yml").unlink()
    store.commit(place, collect(changed_files(files, store.positions(place))))
    assert set(build(store.read(place)).tasks) == {"revenue"}
    assert [*collect(changed_files(files, store.positions(place)))] == []


def test_no_file_is_gone_while_a_folder_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = LogPath(str(tmp_path), "lineage")
    (tmp_path / "use.yml").write_text(USE)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/load.yml").write_text(LOAD)
    positions = _positions(changed_files(files, {}))
    scandir = os.scandir

    def scan(path: str) -> Any:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    reported: list[Finding] = []
    with monkeypatch.context() as as_another_account:
        as_another_account.setattr(os, "scandir", scan)
        assert changed_files(files, positions, reported.append) == []
    assert [(finding.subject, finding.problem) for finding in reported] == [
        ("declared:lineage#sub", "this folder cannot be listed: Permission denied")
    ]
    (tmp_path / "sub/load.yml").unlink()
    assert [file.origin for file in changed_files(files, positions)] == [
        "declared:lineage#sub/load.yml"
    ]


def test_a_namespace_with_a_path_may_be_written_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "lineage.yml"
    path.write_text(
        """\
version: 1
tasks:
  breaches:
    flows:
      - from: [{namespace: "iceberg://prod/enforcement", name: silver.case_event}]
        to: ["iceberg://prod/enforcement/gold.breach"]
        columns: {"iceberg://prod/enforcement/gold.breach":
                  {id: ["iceberg://prod/enforcement/silver.case_event.id"]}}
consumers:
  report: {reads: [{namespace: "iceberg://prod/enforcement", name: gold.breach}]}
"""
    )
    files = LogPath(str(path), "lineage.yml")
    lineage = build(declared_records(files, documents(files)))
    source, target = (
        DatasetId("iceberg://prod/enforcement", name)
        for name in ("silver.case_event", "gold.breach")
    )
    assert [(flow.source, flow.target) for flow in lineage.flows] == [(source, target)]
    assert [(e.from_dataset, e.to_dataset) for e in lineage.column_edges] == [(source, target)]
    assert {dataset.id.namespace for dataset in lineage.datasets.values()} == {source.namespace}
    assert [*lineage.tasks["report"].reads] == [target]
