"""Spark is started for sources that need it, and for no other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.analysis.finding import Severity
from dbt_graft.collectors.engines import session
from dbt_graft.collectors.store import door as store
from dbt_graft.graft.commands.doctor import examine
from dbt_graft.graft.project.config import Config, load
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.steps import collecting
from tests.collectors.dbt.artifacts import dump, result, run_results
from tests.collectors.openlineage.events import event

DECLARED = "version: 1\ntasks:\n  load:\n    flows: [{from: [sftp/a], to: [spark/raw.a]}]\n"


class SparkStartedError(Exception):
    """A session was asked for."""


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def session(*settings: object, **more: object) -> Iterator[None]:
        raise SparkStartedError
        yield

    monkeypatch.setattr(collecting, "session", session)


def project(folder: Path, collect: str) -> Config:
    """A project with declared lineage, the results of a run, and past ones."""
    (folder / "target").mkdir()
    (folder / "target/run_results.json").write_bytes(dump(run_results(result("model.shop.a"))))
    (folder / "runs").mkdir()
    past = run_results(result("model.shop.b"), invocation="i0")
    (folder / "runs/past.json").write_bytes(dump(past))
    (folder / "lineage.yml").write_text(DECLARED)
    (folder / "graft.yml").write_text(f"collect: [{collect}]\nstore: store\n")
    return load(folder / "graft.yml")


def test_declared_lineage_and_dbt_need_none(tmp_path: Path) -> None:
    config = project(tmp_path, "{declared: {path: lineage.yml}}, {dbt: {path: runs/}}")
    found = collecting.collect(config, Progress(quiet=True))
    assert (found.new_logs, found.unreadable) == (3, ())
    records = store.read(config.path(config.store), results=True)
    assert {one.node_id for one in records.node_results} == {"model.shop.a", "model.shop.b"}
    assert {access.task for access in records.accesses} == {"load"}
    assert not (tmp_path / ".graft").exists(), "no log of Spark"
    assert len(store.batches(config.path(config.store))) == 1
    assert collecting.collect(config, Progress(quiet=True)).new_logs == 0


def test_the_target_folder_is_read_without_being_listed(tmp_path: Path) -> None:
    config = project(tmp_path, "")
    assert collecting.collect(config, Progress(quiet=True)).new_logs == 1
    assert set(store.positions(config.path(config.store))) == {
        "dbt:target/run_results.json",
        "dbt:target#i1",
    }


def test_another_source_needs_it(tmp_path: Path) -> None:
    config = project(tmp_path, "{spark: {path: logs}}, {dbt: {path: runs/}}")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/app-1").write_text('{"Event":"SparkListenerApplicationStart"}\n')
    with pytest.raises(SparkStartedError):
        collecting.collect(config, Progress(quiet=True))
    assert store.batches(config.path(config.store)) == ()


def test_a_file_that_is_not_complete_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    config = project(tmp_path, "{dbt: {path: runs/}}")
    (tmp_path / "runs/half.json").write_text('{"metadata": {')
    found = collecting.collect(config, Progress(quiet=True))
    assert [one.origin for one in found.unreadable] == ["dbt:runs/half.json"]
    assert found.new_logs == 2


def test_a_folder_that_cannot_be_listed_is_reported_and_read_by_the_next_collect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    config = project(tmp_path, "{dbt: {path: runs/}}")
    closed = tmp_path / "runs/a\n\x1b[31mb"
    closed.mkdir()
    (closed / "c.json").write_bytes(dump(run_results(result("model.shop.c"), invocation="i2")))
    scandir = os.scandir

    def scan(path: str) -> Any:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    with monkeypatch.context() as as_another_account:
        as_another_account.setattr(os, "scandir", scan)
        for new in (2, 0):
            found = collecting.collect(config, Progress())
            assert found.new_logs == new
            assert [(one.origin, one.reason) for one in found.unreadable] == [
                ("dbt:runs/a\n\x1b[31mb", "this folder cannot be listed: Permission denied")
            ]
            warning = "warning  dbt:runs/a [31mb: this folder cannot be listed: Permission denied\n"
            assert warning in capfd.readouterr().err
        findings = {
            finding.subject: finding.severity for finding in examine(tmp_path / "graft.yml")
        }
        assert findings["dbt:runs/a\n\x1b[31mb"] is Severity.WARNING
    found = collecting.collect(config, Progress(quiet=True))
    assert (found.new_logs, found.unreadable) == (1, ())
    results = store.read(config.path(config.store), results=True).node_results
    assert {one.node_id for one in results} == {f"model.shop.{name}" for name in "abc"}


def test_logs_are_read_once_whatever_they_are_called(tmp_path: Path) -> None:
    config = project(tmp_path, "{dbt: {path: runs/}}")
    names = ["a\nb", "a'b\"c`d", "🪵", "a..b..", "ä" * 125, "a\t\x1b[31m", "a%2F?*#[1]{2}", "a@7"]
    for number, name in enumerate(names):
        run = run_results(result(f"model.shop.m{number}"), invocation=f"n{number}")
        (tmp_path / f"runs/{name}.json").write_bytes(dump(run))
    assert collecting.collect(config, Progress(quiet=True)).unreadable == ()
    positions = store.positions(config.path(config.store))
    assert positions.keys() > {f"dbt:runs/{name}.json" for name in names}
    results = store.read(config.path(config.store), results=True).node_results
    assert len(results) == len(names) + 2
    assert collecting.collect(config, Progress(quiet=True)).new_logs == 0


def test_a_link_back_is_reported_and_nothing_is_read_twice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = project(tmp_path, "{dbt: {path: runs/}}")
    (tmp_path / "runs/self").symlink_to(".")
    found = collecting.collect(config, Progress())
    assert (found.new_logs, found.unreadable) == (2, ())
    assert "dbt:runs/self: the link leads back to a folder above it" in capfd.readouterr().err


def test_doctor_says_which_files_are_new(tmp_path: Path) -> None:
    config = project(tmp_path, "{dbt: {path: runs/}}")
    collecting.collect(config, Progress(quiet=True))
    past = run_results(result("model.shop.b"), invocation="i2")
    (tmp_path / "runs/more.json").write_text(json.dumps(past))
    findings = {finding.subject: finding.problem for finding in examine(tmp_path / "graft.yml")}
    assert findings["dbt:runs/"].startswith("2 files, 1 of them new or changed")
    assert findings["dbt:target"].startswith("1 file, 0 of them new or changed; 1 event collected")


def test_a_collect_is_well_if_folding_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fold_store(place: str, **options: object) -> bool:
        raise OSError("no space left")

    monkeypatch.setattr(store, "fold_store", fold_store)
    config = project(tmp_path, "{declared: {path: lineage.yml}}")
    assert collecting.collect(config, Progress()).new_logs == 2
    assert "were not folded (no space left)" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("settings", "missing", "on_spark"),
    [
        ("", "", True),
        ("", "PySpark", False),
        ("", "Java", False),
        ("engine: local", "", False),
        ("engine: spark", "PySpark", True),
        ('spark: {master: "spark://master:7077"}', "Java", True),
    ],
)
def test_spark_reads_logs_where_it_is_asked_for_or_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, missing: str, *, on_spark: bool
) -> None:
    monkeypatch.setattr(session, "missing_for_spark", lambda: missing)
    (tmp_path / "graft.yml").write_text(settings)
    assert load(tmp_path / "graft.yml").reads_on_spark == on_spark


@pytest.mark.parametrize(
    ("settings", "missing", "size", "note"),
    [
        ("", "", 10_000, "; faster with `engine: local` in graft.yml"),
        ("", "", 2_000_000_000, ""),
        ("", "", 0, ""),
        ("engine: spark", "", 10_000, ""),
        ('spark: {master: "spark://master:7077"}', "", 10_000, ""),
        ("", "Java", 0, ""),
        (
            "",
            "Java",
            1,
            "; read without Spark, as there is no Java: enough for some GB of logs a night",
        ),
        ("engine: local", "Java", 1, ""),
    ],
)
def test_a_collect_notes_the_engine_that_nobody_chose(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    missing: str,
    size: int,
    note: str,
) -> None:
    for module in (session, collecting):
        monkeypatch.setattr(module, "missing_for_spark", lambda: missing)
    (tmp_path / "graft.yml").write_text(settings)
    assert collecting.engine_note(load(tmp_path / "graft.yml"), size) == note


def test_logs_are_read_without_spark_and_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for module in (session, collecting):
        monkeypatch.setattr(module, "missing_for_spark", lambda: "PySpark")
    written = event(inputs=["spark raw.a"], outputs=["spark raw.b"])
    (tmp_path / "events.ndjson").write_text(json.dumps(written))
    (tmp_path / "graft.yml").write_text("collect: [{openlineage: {path: events.ndjson}}]")
    config = load(tmp_path / "graft.yml")
    assert collecting.collect(config, Progress()).new_logs == 1
    assert "read without Spark, as there is no PySpark" in " ".join(capfd.readouterr().err.split())
    accesses = store.read(config.path(config.store)).accesses
    assert {str(access.dataset) for access in accesses} == {"spark/raw.a", "spark/raw.b"}
