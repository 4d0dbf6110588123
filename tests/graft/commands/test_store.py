"""`graft store`: what people and programs see."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import arrow_tables, compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.tables import FORMAT
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.commands.store_info import size
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.records import Records, Run, Status

CONFIG = """
collect:
  - spark: {path: events/}
  - sqlserver: {path: logs/, server: "mssql://crm:1433"}
  - sqlserver: {connection: env:CRM, session: graft, server: "mssql://live:1433"}
store: store
"""
ORIGINS = [
    "events/app-1",
    "events/app-2025-1",
    "events/app-2025-2",
    "logs/a.xel",
    "mssql://live:1433/graft@1",
    "gone/x",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a log of each source in its store, and one of a source that is gone."""
    (tmp_path / "graft.yml").write_text(CONFIG)
    for origin in ORIGINS:
        run = Run(f"run of {origin}", "load", "spark", origin=origin)
        rows = arrow_tables.tables(Records(runs=(run,)), {origin: "5"})
        store.commit(str(tmp_path / "store"), [rows])
    return tmp_path


def graft(folder: Path, *command: str, typed: str | None = None) -> Result:
    arguments = ["store", *command, "-c", str(folder / "graft.yml")]
    return CliRunner().invoke(main, arguments, input=typed)


def answer(folder: Path, *command: str) -> Any:
    return json.loads(graft(folder, *command, "--json").stdout)["data"]


def origins(folder: Path) -> list[str]:
    return sorted(store.positions(str(folder / "store")))


def test_info_counts_batches_files_rows_and_logs_by_source(project: Path) -> None:
    found = answer(project, "info")
    assert (found["batches"], found["format"], found["last_sequence"]) == (6, FORMAT, 6)
    assert found["tables"]["runs"]["rows"] == 6
    assert {source["source"]: len(source["logs"]) for source in found["sources"]} == {
        "events/": 3,
        "logs/": 1,
        "mssql://live:1433/graft": 1,
        None: 1,
    }
    lines = graft(project, "info").stdout.splitlines()
    assert lines[2] == "batches  6"
    assert [line for line in lines if line.startswith("in no source of graft.yml  1 ")]


def test_info_of_no_store(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text(CONFIG)
    assert "nothing was collected yet" in graft(tmp_path, "info").stdout
    assert answer(tmp_path, "info")["batches"] == 0
    assert graft(tmp_path, "backup", str(tmp_path / "b")).exit_code == 1
    assert not (tmp_path / "store").exists()


def doctor(project: Path) -> Result:
    arguments = ["doctor", "--store", "--config", str(project / "graft.yml")]
    return CliRunner().invoke(main, arguments)


def test_doctor_names_each_damaged_file_and_what_to_do(project: Path) -> None:
    assert "6 batches with 12 files read to their end" in doctor(project).stdout
    [first, second, *_] = sorted((project / "store/runs").rglob("*.parquet"))
    first.write_bytes(first.read_bytes()[:-9])
    second.unlink()
    done = doctor(project)
    assert done.exit_code == 3
    for path in (first, second):
        assert f"{path.parent.name}/{path.name}" in done.stdout
    assert "graft collect --again" in done.stdout


def test_doctor_reads_addresses_and_builds_too(project: Path) -> None:
    (project / "store/addresses.parquet").write_bytes(b"PAR1")
    assert "addresses.parquet: the addresses of the published pages cannot be read" in (
        doctor(project).stdout
    )


def test_secrets_of_earlier_versions_are_counted_and_taken_out(project: Path) -> None:
    place = str(project / "store")
    store.write_addresses(place, [Address("datasets/x/", "x?token=hunter2")])
    done = doctor(project)
    assert "1 address of pages" in done.stdout
    assert "do: graft store clean" in done.stdout
    cleaned = graft(project, "clean")
    assert cleaned.exit_code == 0
    assert "hunter2" not in done.output + cleaned.output
    assert "STORE_SECRETS" not in doctor(project).stdout
    assert answer(project, "clean") == {"texts": 0, "batches": 0, "addresses": 0, "files": 0}
    assert graft(project, "clean").stdout == "no secrets were found\n"
    assert origins(project) == sorted(ORIGINS)


def test_compact_merges_what_is_due(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nothing was due" in graft(project, "compact").stdout
    monkeypatch.setattr(compaction, "FAN_OUT", 4)
    assert answer(project, "compact") == {
        "merged": 4,
        "made": 1,
        "deleted": 0,
        "waiting": 4,
        "batches": 3,
    }
    assert graft(project, "compact", "--now").stdout == (
        "nothing was due; 3 batches to open; 4 merged batches deleted, 0 wait\n"
    )
    assert origins(project) == sorted(ORIGINS)


def test_purge_folds_runs_that_are_older_than_keep_says(project: Path) -> None:
    at = datetime.now(UTC)
    for days in range(0, 100, 10):
        run = Run(
            f"run-{days}",
            *("hourly", "spark", at - timedelta(days=days), at - timedelta(days=days), Status.OK),
            origin=f"events/app-{days}",
        )
        rows = arrow_tables.tables(Records(runs=(run,)), {run.origin: "5"})
        store.commit(str(project / "store"), [rows])
    (project / "graft.yml").write_text(f"{CONFIG}keep: {{runs: 35d, statements: 7d}}\n")
    would = answer(project, "purge", "--dry-run")
    assert (would["closed_logs"], would["runs"], would["staying_runs"]) == (6, 6, 1)
    assert not would["done"]
    assert answer(project, "info")["closed_logs"] == 0
    shown = graft(project, "purge").stdout
    assert "6 logs are closed: of 6 runs before" in shown
    assert "0 statements not used since" in shown
    info = answer(project, "info")
    assert (info["closed_logs"], info["purged_before"][:10]) == (
        6,
        f"{at - timedelta(days=35):%Y-%m-%d}",
    )
    assert "no log holds only runs before" in graft(project, "purge").stdout


def test_purge_needs_rules(project: Path) -> None:
    done = graft(project, "purge")
    assert done.exit_code == 2
    assert "graft.yml: has no `keep`" in done.stderr
    assert "keep: {runs: 400d, statements: 90d}" in done.stderr


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("events/", ORIGINS[:3]),
        ("events", ORIGINS[:3]),
        ("events/app-1", ORIGINS[:1]),
        ("events/app-2025*", ORIGINS[1:3]),
        ("mssql://crm:1433", ORIGINS[3:4]),
        ("mssql://live:1433", ORIGINS[4:5]),
        ("gone/x", ORIGINS[5:]),
        ("*", ORIGINS),
    ],
)
def test_forget_takes_a_source_a_server_a_log_or_a_pattern(
    project: Path, name: str, gone: list[str]
) -> None:
    shown = answer(project, "forget", name)
    assert (shown["removed"], shown["origins"]) == (False, sorted(gone))
    assert origins(project) == sorted(ORIGINS)
    done = graft(project, "forget", name, "--yes")
    assert done.exit_code == 0
    assert f"{len(gone)} runs" in done.stdout
    assert origins(project) == sorted({*ORIGINS} - {*gone})


def test_forget_asks_and_refuses_what_it_does_not_know(project: Path) -> None:
    done = graft(project, "forget", "events/", typed="")
    assert done.exit_code == 1
    assert "nothing was removed" in done.stderr
    done = graft(project, "forget", "nobody", "--yes")
    assert done.exit_code == 1
    assert "nothing in the store came from 'nobody'" in done.stderr
    assert graft(project, "forget").exit_code == 2
    assert origins(project) == sorted(ORIGINS)


def test_backup_says_what_it_copied(project: Path) -> None:
    target = str(project / "backup")
    assert answer(project, "backup", target)["batches"] == 6
    assert graft(project, "backup", target).stdout == (
        f"{target}: 6 batches; 0 files with 0 bytes copied now\n"
    )
    assert store.read(target) == store.read(str(project / "store"))


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 bytes"), (999, "999 bytes"), (4_200_000, "4.2 MB")]
)
def test_sizes_are_short(number: int, text: str) -> None:
    assert size(number) == text
