"""`--as-of`: what is made of a past state, and where it is written."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.past import past_notice
from dbt_graft.graft.project.view import moment
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status
from tests.cases import for_each
from tests.graft.small_project import small_project

DAY = timedelta(days=1)
START = datetime(2024, 3, 1, 6, tzinfo=UTC)
FILES, ORDERS, MART = (DatasetId("spark", f"raw.{name}") for name in ("files", "orders", "mart"))


def loaded(task: str, day: int, source: DatasetId, target: DatasetId) -> Records:
    """A run of a task that carries data from one table to another."""
    at, run_id = START + day * DAY, f"{task}-{day}"
    return Records(
        tuple(
            Access(
                *(task, run_id, dataset, Kind.TABLE, side, Operation.INSERT, f"s-{task}"),
                first_at=at,
                last_at=at,
                origin=f"log-{run_id}",
            )
            for dataset, side in ((source, Direction.READ), (target, Direction.WRITE))
        ),
        (Run(run_id, task, "spark", at, at, Status.OK, origin=f"log-{run_id}"),),
    )


def stored(folder: Path, *parts: Records) -> None:
    for part in parts:
        origins = {run.origin: "1" for run in part.runs}
        commit(str(folder / ".graft/store"), [tables(part, origins)])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """`load` ran on 1 March, `build_mart` on 3 March."""
    small_project(tmp_path)
    (tmp_path / "graft.yml").write_text("site: {url: 'https://docs.example.com/'}\n")
    stored(tmp_path, loaded("load", 0, FILES, ORDERS), loaded("build_mart", 2, ORDERS, MART))
    return tmp_path


def graft(folder: Path, command: str, *options: str) -> Result:
    return CliRunner().invoke(main, [command, *options, "-q", "-c", str(folder / "graft.yml")])


def tasks(folder: Path) -> set[str]:
    return set(json.loads((folder / "task_metadata.json").read_bytes()))


def test_artifacts_as_of_a_date_have_the_tasks_of_then(project: Path) -> None:
    for date, expected in (("2024-03-01", {"load"}), ("2024-03-03", {"load", "build_mart"})):
        done = graft(project, "inject", "--as-of", date)
        assert done.exit_code == 0, done.output
        assert tasks(project / f".graft/artifacts-as-of-{date}") == expected
    assert not (project / ".graft/artifacts").exists()


@pytest.mark.slow
def test_the_site_of_a_date_says_so_on_every_page_and_leaves_no_trace(project: Path) -> None:
    assert graft(project, "site").exit_code == 0
    place = str(project / ".graft/store")
    before = store.addresses(place), store.build_history(place)
    files = {file for file in (project / "build/site").rglob("*") if file.is_file()}
    done = graft(project, "site", "--as-of", "2024-03-01")
    assert done.exit_code == 0, done.output

    folder = project / "build/site-as-of-2024-03-01"
    pages = [page for page in folder.rglob("*.html") if page.parts[-2] != "dbt"]
    assert len(pages) > 8
    for page in pages:
        if page.name != "404.html":
            assert "Lineage as of 1 Mar 2024. dbt" in page.read_text("utf-8"), page
    assert not (folder / "tasks/build_mart").exists()
    assert not (folder / "sitemap.xml").exists()
    assert "as of" not in (project / "build/site/index.html").read_text("utf-8")
    assert (store.addresses(place), store.build_history(place)) == before
    assert {file for file in (project / "build/site").rglob("*") if file.is_file()} == files
    # The next build of all is as if there had been none.
    assert "lost" not in graft(project, "inject", "--check").output
    assert graft(project, "site").exit_code == 0


def test_a_site_of_the_past_is_written_where_it_is_asked_for(project: Path) -> None:
    done = graft(project, "site", "--as-of", "2024-03-02", "--out", str(project / "march"))
    assert done.exit_code == 0, done.output
    assert (project / "march/tasks/load/index.html").is_file()
    assert not (project / "build").exists()


@pytest.mark.parametrize(("options", "message"), [
    (["--as-of", "1999-12-31"], "the lineage store has nothing as of 31 Dec 1999"),
    (["--as-of", "soon"], "'soon' is not a time: write 2026-10-01"),
    (["--as-of", "2024-13-01"], "is not a time"),
    (["--as-of", "9999-01-01"], "is in the future"),
    (["--out", "march"], "--out and --target-dir need --as-of; "),
])  # fmt: skip
def test_a_time_that_cannot_be_is_an_error(project: Path, options: list[str], message: str) -> None:
    done = graft(project, "site", *options)
    assert done.exit_code in (1, 2)
    assert message in done.output


def test_the_error_for_a_time_before_the_store_names_its_first(project: Path) -> None:
    done = graft(project, "inject", "--as-of", "2024-02-01")
    assert "it begins 2024-03-01 06:00 UTC: name a later time" in done.output


def test_a_run_that_did_nothing_is_there_before_all_others(project: Path) -> None:
    at = START - 9 * DAY
    stored(project, Records(runs=(Run("r0", "idle", "spark", at, at, Status.OK, origin="log-0"),)))
    done = graft(project, "inject", "--as-of", "2024-02-25")
    assert done.exit_code == 0, done.output
    assert tasks(project / ".graft/artifacts-as-of-2024-02-25") == {"idle"}


def test_dbts_artifacts_of_then_may_be_named(project: Path) -> None:
    (project / "target").rename(project / "kept")
    done = graft(project, "inject", "--as-of", "2024-03-01", "--target-dir", str(project / "kept"))
    assert done.exit_code == 0, done.output
    assert tasks(project / ".graft/artifacts-as-of-2024-03-01") == {"load"}
    assert graft(project, "inject", "--as-of", "2024-03-01").exit_code == 1


@pytest.mark.parametrize("with_artifacts", [True, False])
def test_pages_of_a_terminal_are_those_of_then(project: Path, with_artifacts: bool) -> None:
    if not with_artifacts:
        (project / "target/manifest.json").unlink()
    config = ["-c", str(project / "graft.yml"), "--json"]
    for date, expected in (("2024-03-01", {"load"}), ("2024-03-31", {"load", "build_mart"})):
        done = CliRunner().invoke(main, ["show", "raw.orders", "--as-of", date, *config])
        assert done.exit_code == 0, done.output
        data = json.loads(done.stdout)["data"]
        assert data["dates"]["as_of"][:10] <= date
        assert {use["task"] for side in ("read_by", "written_by") for use in data[side]} == expected
        done = CliRunner().invoke(main, ["show", "raw.mart", "--as-of", date, *config])
        assert done.exit_code == (1 if expected == {"load"} else 0)


NOW = datetime(2024, 3, 15, 12, 30, tzinfo=UTC)


@for_each("text, at, shown, slug", [
    ("now", "2024-03-15T12:30", "now", "2024-03-15T1230"),
    ("2024-03-01", "2024-03-01T23:59:59.999999", "1 Mar 2024", "2024-03-01"),
    ("20240301", "2024-03-01T23:59:59.999999", "1 Mar 2024", "2024-03-01"),
    ("yesterday", "2024-03-14T23:59:59.999999", "14 Mar 2024", "2024-03-14"),
    ("2024-03-01T06:00", "2024-03-01T06:00", "2024-03-01 06:00 UTC", "2024-03-01T0600"),
    ("2024-03-01 06:00+02:00", "2024-03-01T04:00", "2024-03-01 04:00 UTC", "2024-03-01T0400"),
    ("30d", "2024-02-14T12:30", "2024-02-14 12:30 UTC", "2024-02-14T1230"),
    ("2 days ago", "2024-03-13T12:30", "2024-03-13 12:30 UTC", "2024-03-13T1230"),
    ("2 w AGO", "2024-03-01T12:30", "2024-03-01 12:30 UTC", "2024-03-01T1230"),
])  # fmt: skip
def test_times_are_written_in_many_ways(text: str, at: str, shown: str, slug: str) -> None:
    found = moment(text, NOW)
    assert found.at == datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert (found.text, found.slug) == (shown, slug)


@for_each(
    "text", ["", "30", "d", "2024-3-1", "2024-W10", "2024-0301", "99999999d", "x" * 500, "1e9h"]
)
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        moment(text, NOW)


@pytest.mark.parametrize(("made", "words"), [
    ("2024-03-10T06:00:00Z", "of the build of 10 Mar 2024."),
    ("", "of dbt's last build."),
    (None, "of dbt's last build."),
])  # fmt: skip
def test_the_notice_names_the_build_of_dbts_models(made: object, words: str) -> None:
    text = past_notice(moment("2024-03-01", NOW), made)
    assert text == f"Lineage as of 1 Mar 2024. dbt's models are those {words}"
