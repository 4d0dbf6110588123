"""A damaged lineage store: the rest is published, loudly, and nothing is forgotten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import arrow_tables
from dbt_graft.collectors.store import door as store
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Records
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)
from tests.notation import access

# ruff: noqa: F811 (a fixture of another module)
DAMAGES = ["cut", "flipped", "missing"]


def graft(folder: Path, *command: str) -> Result:
    return CliRunner().invoke(main, [*command, "-c", str(folder / "graft.yml")])


def add(folder: Path, task: str, table: str) -> Path:
    """Commit a log in which a task writes a table; the file of its accesses."""
    origin = f"log of {task}"
    written = access("INSERT", DatasetId("mssql", table), task=task, origin=origin)
    place = str(folder / ".graft/store")
    store.commit(place, [arrow_tables.tables(Records((written,)), {origin: "1"})])
    newest = store.batches(place)[-1]
    [path] = [file.path for file in newest.files if file.table == "accesses"]
    return folder / ".graft/store" / path


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    path.unlink()
    if how == "cut":
        path.write_bytes(content[:-40])
    if how == "flipped":
        path.write_bytes(content[:4] + b"\xff" * (len(content) - 40) + content[-36:])


@pytest.mark.parametrize("how", DAMAGES)
def test_inject_publishes_the_rest_names_the_file_and_ends_with_1(
    folder: Path, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = add(folder, "load_refunds", "Shop.raw.refunds")
    assert graft(folder, "inject").exit_code == 0
    damage(path, how)
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["inject", "--json", "-c", str(folder / "graft.yml")])
    assert ended.value.code == 1
    output, errors = capfd.readouterr()
    summary = json.loads(output)["data"]
    [named] = summary["damaged"]
    assert named.startswith(f"accesses/{path.parent.name}/{path.name} ")
    assert summary["tasks"] == 3
    assert f"{named}; the rest of the store is published" in errors
    text = graft(folder, "inject", "-q").stdout
    assert "damaged   the lineage store; the rest was published" in text
    assert "`graft doctor --store` says what to do" in text


@pytest.mark.parametrize("how", DAMAGES)
def test_checks_need_all_of_the_store(folder: Path, how: str) -> None:
    path = add(folder, "load_refunds", "Shop.raw.refunds")
    damage(path, how)
    done = graft(folder, "check")
    assert done.exit_code == 1
    assert path.name in done.stderr


def test_a_store_that_is_damaged_as_a_whole_is_not_published(folder: Path) -> None:
    assert graft(folder, "inject").exit_code == 0
    for path in (folder / ".graft/store").glob("*/*/*.parquet"):
        path.write_bytes(b"")
    done = graft(folder, "inject")
    assert done.exit_code == 1
    assert "--allow-empty" in done.stderr


def test_a_newer_store_is_an_error_and_no_damage(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(folder, "load_refunds", "Shop.raw.refunds")
    from dbt_graft.collectors.store import batch_records

    monkeypatch.setattr(batch_records, "FORMAT", 2)
    batch_records._read.clear()
    done = graft(folder, "inject")
    assert done.exit_code == 1
    assert "newer dbt-graft" in done.stderr


@pytest.mark.slow
def test_the_site_names_what_is_missing_and_the_next_whole_build_has_it_again(
    folder: Path,
) -> None:
    path = add(folder, "load_refunds", "Shop.raw.refunds")
    assert graft(folder, "site", "-q").exit_code == 0
    site, content = folder / "build/site", path.read_bytes()
    before = {one: one.read_bytes() for one in site.rglob("*.html")}
    addresses = (folder / ".graft/store/addresses.parquet").read_bytes()
    history = store.build_history(str(folder / ".graft/store"))

    os.truncate(path, 10)
    done = graft(folder, "build", "-q")
    assert done.exit_code == 1, done.output
    assert "nothing was collected" in done.output or "rest was published" in done.output
    assert path.name in (site / "gaps/index.html").read_text("utf-8")
    assert "load_refunds" not in (site / "tasks/index.html").read_text("utf-8")
    assert (folder / ".graft/store/addresses.parquet").read_bytes() == addresses
    assert store.build_history(str(folder / ".graft/store")) == history

    path.write_bytes(content)
    assert graft(folder, "site", "-q").exit_code == 0
    assert before.keys() <= {*site.rglob("*.html")}
    assert "load_refunds" in (site / "tasks/index.html").read_text("utf-8")
