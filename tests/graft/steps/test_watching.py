"""Inputs of a build: what they are, and when they have changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.graft.project.config import load
from dbt_graft.graft.steps import watching
from dbt_graft.graft.steps.watching import Inputs, changed_files, inputs, next_files

GRAFT = """
dbt: {target_dir: out}
collect:
  - sqlserver: {path: xe/, server: "mssql://sql01:1433", snapshot: snapshot.json}
  - spark: {path: "s3a://logs/spark"}
  - spark: {path: "events/app-*"}
  - declared: {path: lineage.yml}
  - dbt: {path: everything/}
tasks: {load: {path: load.py}}
docs: {favicon: icon.svg}
store: everything/store
site: {out: everything/site}
"""


@pytest.fixture
def found(tmp_path: Path) -> Inputs:
    (tmp_path / "graft.yml").write_text(GRAFT)
    return inputs(load(tmp_path / "graft.yml"), tmp_path / "graft.yml", tmp_path / "templates")


def put(path: Path, text: str = "a") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_inputs_are_what_graft_yml_names(found: Inputs, tmp_path: Path) -> None:
    expected = {
        *("graft.yml", "out/manifest.json", "out/catalog.json", "out/run_results.json"),
        *("xe/day/a.xel", "snapshot.json", "events/app-1", "lineage.yml", "load.py", "icon.svg"),
        *("everything/results.json", "templates/a.html.j2"),
        *("out/index.html", "out/index/dbt.nodes.parquet"),
    }
    others = {
        *("out/graph.gpickle", "out/compiled/a.sql", "events/other", "models/a.sql"),
        *("everything/store/batches/a", "everything/site/index.html", ".graft/artifacts/a"),
    }
    for name in {*expected, *others} - {"graft.yml"}:
        put(tmp_path / name)
    assert {str(file.relative_to(tmp_path)) for file in found.files()} == expected


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda folder: put(folder / "lineage.yml", "other"), ["lineage.yml"]),
        (lambda folder: put(folder / "xe/new.xel"), ["xe/new.xel"]),
        (lambda folder: (folder / "xe/a.xel").unlink(), ["xe/a.xel"]),
        (lambda folder: put(folder / "out/manifest.json"), ["out/manifest.json"]),
        (
            lambda folder: (put(folder / "new"), (folder / "new").replace(folder / "lineage.yml")),
            ["lineage.yml"],
        ),
    ],
)
def test_a_change_ends_the_wait(
    change: Callable[[Path], object], changed: list[str], found: Inputs, tmp_path: Path
) -> None:
    put(tmp_path / "lineage.yml", "before")
    put(tmp_path / "xe/a.xel")
    before = found.files()
    timer = threading.Timer(0.5, change, [tmp_path])
    timer.start()
    now = next_files(found, before)
    assert changed_files(before, now) == [tmp_path / name for name in changed]


def test_a_change_during_a_build_is_not_missed(
    found: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = found.files()
    put(tmp_path / "lineage.yml")  # while nobody waits
    monkeypatch.setattr(watching, "_wait", pytest.fail)
    assert changed_files(before, next_files(found, before)) == [tmp_path / "lineage.yml"]


def test_a_file_that_is_being_written_is_waited_for(
    found: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = iter(["a", "ab", "abc", "abc"])

    def pause(seconds: float) -> None:
        if text := next(texts, ""):
            put(tmp_path / "lineage.yml", text)
            os.utime(tmp_path / "lineage.yml", (0, 0))

    monkeypatch.setattr(watching.time, "sleep", pause)
    before = found.files()
    put(tmp_path / "lineage.yml", "")
    next_files(found, before)
    assert (tmp_path / "lineage.yml").read_text() == "abc"
    assert next(texts, "") == ""


def test_inputs_are_looked_at_where_the_system_cannot_watch(
    found: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("too many folders")

    monkeypatch.setattr(watching, "watch", refuse)
    monkeypatch.setattr(watching, "_LOOK", 10)
    threading.Timer(0.3, put, [tmp_path / "lineage.yml"]).start()
    assert next_files(found, found.files())
