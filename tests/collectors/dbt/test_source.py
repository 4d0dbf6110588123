"""dbt's results reach the store once each, and what was collected stays."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.collectors.dbt.source import results_source, target_source
from dbt_graft.collectors.source import LogSource, to_read_again
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import NodeResult, Status
from tests.collectors.dbt.artifacts import Document, dump, result, run_results, sources

MODEL, SOURCE = "model.shop.orders", "source.shop.raw.orders"
MANIFEST = {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}


def run(number: int, *results: Document) -> Document:
    """An invocation that began in a minute of its own."""
    document = run_results(*(results or [result(MODEL, timing=[])]), invocation=f"i{number}")
    document["metadata"]["invocation_started_at"] = f"2026-11-20T05:{number:02}:00Z"
    return document


def collect(place: Path, source: LogSource | None) -> int:
    """Collect, and return the number of new files."""
    assert source
    assert source.read
    positions = store.positions(str(place))
    new = len(source.new_logs(positions))
    store.commit(str(place), source.read(positions), positions)
    return new


def results(place: Path) -> list[NodeResult]:
    return [*store.read(str(place), results=True).node_results]


def test_the_target_folder_is_overwritten_and_the_store_keeps_what_was(tmp_path: Path) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    target.mkdir()
    assert target_source(target) is None
    for number in (1, 2, 2):
        (target / "run_results.json").write_bytes(dump(run(number)))
        collect(place, target_source(target))
    assert [one.invocation_id for one in results(place)] == ["i2", "i1"]
    assert collect(place, target_source(target)) == 0


def test_docs_generate_overwrites_the_results_of_a_run_and_takes_nothing(tmp_path: Path) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    target.mkdir()
    for document in (run(1), run_results(result(MODEL), invocation="g", which="generate")):
        (target / "run_results.json").write_bytes(dump(document))
        collect(place, target_source(target))
    assert [one.invocation_id for one in results(place)] == ["i1"]


@pytest.mark.parametrize("path", ["", "/*.json*", "/**/run_*"])
def test_past_files_are_found_at_any_depth_and_packed(tmp_path: Path, path: str) -> None:
    runs, place = tmp_path / "runs", tmp_path / "store"
    (runs / "2026/11").mkdir(parents=True)
    files = {"run_1.json": dump(run(1)), "run_2.json.gz": gzip.compress(dump(run(2)))}
    for name, content in files.items():
        (runs / name).write_bytes(content)
    (runs / "2026/11/run_3.json").write_bytes(dump(run(3)))
    (runs / "manifest.json").write_bytes(dump(MANIFEST))
    collect(place, results_source(f"{runs}{path}", f"runs{path}"))
    found = {one.invocation_id for one in results(place)}
    assert found == {"i1", "i2", "i3"} if path != "/*.json*" else {"i1", "i2"} <= found
    assert store.read(str(place)).rejects == ()
    assert collect(place, results_source(f"{runs}{path}", f"runs{path}")) == 0


def test_a_run_and_a_freshness_check_of_one_invocation_are_both_there(tmp_path: Path) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    target.mkdir()
    (target / "run_results.json").write_bytes(dump(run(1)))
    check = {"unique_id": SOURCE, "status": "pass"}
    (target / "sources.json").write_bytes(dump(sources(check, invocation="i1")))
    collect(place, target_source(target))
    assert [one.node_id for one in results(place)] == [MODEL, SOURCE]


def test_an_invocation_in_two_places_is_shown_once(tmp_path: Path) -> None:
    place = tmp_path / "store"
    for name in ("target", "runs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run_results.json").write_bytes(dump(run(1)))
    collect(place, target_source(tmp_path / "target"))
    collect(place, results_source(str(tmp_path / "runs"), "runs"))
    assert len(results(place)) == 1


AT = datetime(2026, 11, 20, 5, tzinfo=UTC)


def write_results(target: Path, *invocations: str, freshness: bool = False) -> None:
    """Write the results of invocations into an index, as dbt 2 does."""
    (target / "index").mkdir(parents=True, exist_ok=True)
    timing = '[{"name": "execute", "started_at": "2026-11-20T05:00:00.123456789Z"}]'
    rows = [
        {
            "unique_id": MODEL,
            "invocation_id": name,
            "status": "success",
            "execution_time": 2.5,
            "timing": timing,
            "adapter_response": '{"rows_affected":7}',
            "created_at": AT,
        }
        for name in invocations
    ]
    commands = [{"invocation_id": name, "command": "build"} for name in invocations]
    checks = [{"unique_id": SOURCE, "invocation_id": "f", "status": "warn", "max_loaded_at": AT}]
    checks[0] |= {"snapshotted_at": AT, "warn_after_count": 12, "warn_after_period": "hour"}
    tables = {"dbt_rt.run_results": rows, "dbt_rt.invocations": commands}
    if freshness:
        tables["dbt.source_freshness"] = checks
    for name, listed in tables.items():
        pq.write_table(pa.Table.from_pylist(listed), target / f"index/{name}.parquet")


@pytest.mark.parametrize("is_target", [True, False])
def test_an_index_has_the_results_of_its_invocations(tmp_path: Path, is_target: bool) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    write_results(target, "a", "b", freshness=True)
    source = target_source(target) if is_target else results_source(str(target), "runs")
    assert collect(place, source) == 2
    by_id = {one.invocation_id: one for one in results(place)}
    assert set(by_id) == {"a", "b", "f"}
    ran, checked = by_id["a"], by_id["f"]
    assert (ran.node_id, ran.command, ran.status, ran.rows) == (MODEL, "build", Status.OK, 7)
    assert ran.ended_at
    assert ran.started_at
    assert (ran.ended_at - ran.started_at).total_seconds() == 2.5
    assert (checked.word, checked.max_loaded_at) == ("warn", AT)
    assert checked.criteria == "warn after 12 hours"


@pytest.mark.parametrize("index_first", [True, False])
def test_an_invocation_in_an_index_and_in_a_file_is_the_files(
    tmp_path: Path, index_first: bool
) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    write_results(target, "i1")
    if index_first:
        collect(place, target_source(target))
    (target / "run_results.json").write_bytes(dump(run(1, result(MODEL, "error"))))
    collect(place, target_source(target))
    assert [one.status for one in results(place)] == [Status.FAILED]
    write_results(target, "i1", "i2")
    collect(place, target_source(target))
    assert {one.invocation_id: one.status for one in results(place)} == {
        "i1": Status.FAILED,
        "i2": Status.OK,
    }


def test_what_failed_before_it_ran_is_no_result_of_an_unknown_command(tmp_path: Path) -> None:
    """dbt writes the errors of a compile too, and the table of commands later."""
    target, place = tmp_path / "target", tmp_path / "store"
    write_results(target, "a", "b")
    path = target / "index/dbt_rt.run_results.parquet"
    rows = pq.read_table(path).to_pylist()
    rows[0] |= {"status": "error", "execution_time": 0.0}
    pq.write_table(pa.Table.from_pylist(rows), path)
    commands = target / "index/dbt_rt.invocations.parquet"
    pq.write_table(pq.read_table(commands).slice(1), commands)
    collect(place, target_source(target))
    assert [one.invocation_id for one in results(place)] == ["b"]


def test_a_damaged_index_is_read_again(tmp_path: Path) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    write_results(target, "a")
    path = target / "index/dbt_rt.run_results.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    collect(place, target_source(target))
    [reject] = store.read(str(place)).rejects
    assert reject.origin == "dbt:target/index/dbt_rt.run_results.parquet"
    write_results(target, "a")
    collect(place, target_source(target))
    assert [one.invocation_id for one in results(place)] == ["a"]


def test_results_that_dbt_adds_to_a_file_replace_those_before(tmp_path: Path) -> None:
    target, place = tmp_path / "target", tmp_path / "store"
    target.mkdir()
    for more in ([], [result("model.shop.b")]):
        (target / "run_results.json").write_bytes(dump(run(1, result(MODEL, "error"), *more)))
        collect(place, target_source(target))
    assert [one.node_id for one in results(place)] == ["model.shop.b", MODEL]


def test_half_a_file_is_read_again_when_it_is_complete(tmp_path: Path) -> None:
    runs, place = tmp_path / "runs", tmp_path / "store"
    runs.mkdir()
    whole = dump(run(1))
    (runs / "a.json").write_bytes(whole[:200])
    (runs / "b.json").write_bytes(dump(run(2)))
    (runs / "c.json.gz").write_bytes(gzip.compress(whole)[:40])
    source = results_source(str(runs), "runs/")
    assert source.read
    [part] = source.read({})
    assert [(one.origin, one.reason) for one in part.pending] == [
        ("dbt:runs/a.json", "this is not JSON, or is cut short"),
        ("dbt:runs/c.json.gz", "the file cannot be read"),
    ]
    assert collect(place, source) == 3
    assert len(store.read(str(place)).rejects) == 2
    assert [one.invocation_id for one in results(place)] == ["i2"]

    (runs / "a.json").write_bytes(whole)
    assert collect(place, source) == 2
    assert [one.invocation_id for one in results(place)] == ["i2", "i1"]
    assert [reject.origin for reject in store.read(str(place)).rejects] == ["dbt:runs/c.json.gz"]


@pytest.mark.parametrize("content", [{"rows": []}, [], {"metadata": {}, "results": {}}])
def test_a_file_of_something_else_is_a_reject_and_is_not_read_again(
    tmp_path: Path, content: object
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.json").write_text(json.dumps(content))
    source, place = results_source(str(tmp_path / "runs"), "runs"), tmp_path / "store"
    assert collect(place, source) == 1
    [reject] = store.read(str(place)).rejects
    assert reject.reason == "this is neither a run_results.json nor a sources.json of dbt"
    assert collect(place, source) == 0


def test_logs_are_read_again_on_request(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.json").write_bytes(dump(run(1)))
    source, place = results_source(str(tmp_path / "runs"), "runs"), tmp_path / "store"
    collect(place, source)
    positions = store.positions(str(place))
    assert source.read
    store.commit(
        str(place), source.read(to_read_again(positions, positions.__contains__)), positions
    )
    assert [one.status for one in results(place)] == [Status.OK]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="there is nothing at this path"):
        results_source(str(tmp_path / "runs"), "runs").new_logs({})


def test_many_files_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_graft.collectors.dbt.source._ROWS", 10)
    (tmp_path / "runs").mkdir()
    for number in range(30):
        (tmp_path / f"runs/{number}.json").write_bytes(dump(run(number)))
    source = results_source(str(tmp_path / "runs"), "runs")
    assert source.read
    assert len([*source.read({})]) == 3
    collect(tmp_path / "store", source)
    assert len(results(tmp_path / "store")) == 30
