"""`graft check --only freshness`: up to when each source is collected, without reading a log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.analysis.checks.freshness import SourceFreshness
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.records import Records, Reject, Run, Status
from tests.graft.commands.answers import read_answer

NOW = datetime.now(UTC)
CONFIG = """
collect:
  - spark: {path: events/}
  - sqlserver: {path: logs/, server: "mssql://crm:1433"}
  - sqlserver: {connection: env:CRM, session: graft, server: "mssql://live:1433"}
  - declared: {path: lineage.yml}
store: store
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Spark's log is collected and behind, SQL Server's waits, the rest has no times."""
    (tmp_path / "graft.yml").write_text(CONFIG)
    (tmp_path / "lineage.yml").write_text("version: 1\ntasks: {}\n")
    for folder in ("events", "logs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "logs/a.xel").write_bytes(b"never read")
    (tmp_path / "logs/b.xel").write_bytes(b"never read")
    write(tmp_path, "events/app-1", NOW - timedelta(hours=30))
    write(tmp_path, "events/app-1", NOW - timedelta(hours=27), Reject("events/app-1", "7", "odd"))
    return tmp_path


def write(folder: Path, origin: str, at: datetime, *rejects: Reject) -> None:
    run = Run("1", "load", "spark", at - timedelta(hours=1), at, Status.OK, origin=origin)
    commit(str(folder / "store"), [tables(Records(runs=(run,), rejects=rejects), {origin: "5"})])


def since(at: datetime) -> float:
    """Seconds from a time to now, which may be long after this file was imported."""
    return (datetime.now(UTC) - at).total_seconds()


def check(folder: Path, *options: str) -> Result:
    command = ["check", "--only", "freshness", "-c", str(folder / "graft.yml"), *options]
    return CliRunner().invoke(main, command)


def sources(folder: Path, *options: str) -> dict[str, Any]:
    data = read_answer(check(folder, "--json", *options).stdout)["data"]["freshness"]
    return {source["source"]: source for source in data["sources"]}


def test_each_source_has_its_newest_event_its_age_and_what_waits(project: Path) -> None:
    found = sources(project)
    spark = found["events/"]
    newest = NOW - timedelta(hours=27)
    assert spark["last_event"] == newest.isoformat(timespec="seconds").replace("+00:00", "Z")
    assert spark["behind_seconds"] == pytest.approx(since(newest), abs=300)
    assert (spark["kind"], spark["logs"], spark["waiting"], spark["rejects"]) == ("spark", 1, 0, 1)
    assert (found["logs/"]["waiting"], found["logs/"]["last_event"]) == (2, None)
    assert found["mssql://live:1433/graft"]["waiting"] is None
    assert found["declared:lineage.yml"]["behind_seconds"] is None


def test_the_text_has_a_line_for_each_source(project: Path) -> None:
    done = check(project, "--max-age", "26h")
    head, _, title, names, *lines = done.stdout.splitlines()
    assert head.startswith("sources: last collect 2")
    assert (title, names.split()[0]) == ("sources (4)", "source")
    assert [line.split()[0] for line in lines[:4]] == [*sources(project)]
    assert "27 hours (late)" in lines[0]
    assert "not asked" in lines[2]
    assert "  events/: its newest event is 27 hours old" in lines


@pytest.mark.parametrize(
    ("options", "exit_code", "late"),
    [
        ((), 0, []),
        (("--max-age", "28h", "--source", "events/"), 0, []),
        (("--max-age", "26h", "--source", "events/"), 3, ["events/"]),
        (("--max-age", "26h", "--source", "declared:lineage.yml"), 0, []),
        (("--max-age", "28h"), 3, ["logs/", "mssql://live:1433/graft"]),
    ],
)
def test_the_exit_code_says_whether_a_source_is_too_old(
    project: Path, options: tuple[str, ...], exit_code: int, late: list[str]
) -> None:
    assert check(project, *options, "--fail-on", "warning").exit_code == exit_code
    assert [name for name, source in sources(project, *options).items() if source["late"]] == late


def test_a_file_of_events_is_one_log_however_often_it_grew(project: Path) -> None:
    (project / "graft.yml").write_text("collect: [openlineage: {path: ol/}]\nstore: store\n")
    (project / "ol").mkdir()
    (project / "ol/new.jsonl").write_bytes(b"never read")
    for part, hours in (("", 9), ("@100", 5), ("@100#dbt", 4), ("@70000", 3)):
        write(project, f"ol/events.jsonl{part}", NOW - timedelta(hours=hours))
    [source] = sources(project, "--max-age", "4h").values()
    assert (source["kind"], source["logs"], source["waiting"]) == ("openlineage", 1, 1)
    assert source["behind_seconds"] == pytest.approx(since(NOW - timedelta(hours=3)), abs=300)
    assert source["late"] is False


def test_a_source_that_cannot_be_reached_is_shown_beside_the_others(project: Path) -> None:
    (project / "events").rmdir()
    found = sources(project)
    assert found["events/"]["problem"]
    assert found["events/"]["last_event"]
    assert found["logs/"]["waiting"] == 2
    assert "warning: SOURCE_UNREACHABLE (1)\n  events/: " in check(project).stdout


@pytest.mark.parametrize(
    ("options", "exit_code", "text"),
    [
        (("--source", "nobody"), 1, "there is no source 'nobody'"),
        (("--max-age", "soon"), 2, "write 90s, 10m, 26h or 7d"),
    ],
)
def test_wrong_arguments_are_errors(
    project: Path, options: tuple[str, ...], exit_code: int, text: str
) -> None:
    done = check(project, *options)
    assert (done.exit_code, text in done.stderr) == (exit_code, True)


def test_before_the_first_collect_all_waits(project: Path) -> None:
    (project / "store").rename(project / "elsewhere")
    (project / "events/app-1").write_bytes(b"never read")
    assert "sources: last collect never" in check(project).stdout
    assert sources(project)["events/"]["waiting"] == 1
    assert not (project / "store").exists(), "nothing is written"


def test_a_damaged_store_is_an_error(project: Path) -> None:
    next((project / "store/runs").rglob("*.parquet")).unlink()
    done = check(project)
    assert done.exit_code == 1
    assert "is damaged" in done.stderr


def test_no_source_and_a_clock_ahead(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("site: {name: Shop}\n")
    assert check(tmp_path).stdout == "sources: none: add one below `collect` in graft.yml\n"
    ahead = SourceFreshness("x", "spark", last_event=NOW + timedelta(hours=2))
    assert ahead.age(NOW) == timedelta(0)
    assert not ahead.is_late(NOW, timedelta(0))


def test_a_clock_that_is_days_ahead_hides_nothing(project: Path) -> None:
    write(project, "events/app-1", NOW + timedelta(days=300))
    answer = read_answer(check(project, "--json", "--max-age", "400d").stdout)
    [problem] = [
        finding["problem"] for finding in answer["findings"] if finding["subject"] == "events/"
    ]
    assert problem.endswith("UTC, which is to come")
