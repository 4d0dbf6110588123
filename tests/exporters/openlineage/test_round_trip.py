"""Events that are written and read again show the same lineage, once and twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dbt_graft.collectors.store import door as store
from dbt_graft.exporters.openlineage.column_lineage import edges_by_target
from dbt_graft.exporters.openlineage.events import events
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.event_runs import join_events
from dbt_graft.lineage.gaps import open_tasks
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Records
from tests.cases import for_each
from tests.catalog.worlds import world
from tests.collectors.openlineage.events import (
    IN,
    OUT,
    Document,
    change,
    dataset,
    event,
    parent,
    records,
    records_in,
    results_of,
)
from tests.collectors.openlineage.events import lineage as read_again
from tests.collectors.openlineage.test_samples import EXPECTED, sample
from tests.collectors.spark.suite.reading import read
from tests.collectors.spark.test_suite import CHECKED_IN
from tests.exporters.openlineage import shop


def _suite(path: Path) -> Records:
    return read(path).records


def _sample(name: str) -> Records:
    return records(results_of(sample(name)))


# Name -> the records of a store.
STORES: dict[str, Callable[[], Records]] = {
    "shop": shop.records,
    **{f"{path.parent.name} {path.stem}": partial(_suite, path) for path in CHECKED_IN},
    **{name: partial(_sample, name) for name in EXPECTED},
}


_PLACE = {
    "symlinks": {
        "identifiers": [{"namespace": "hive://m:9083", "name": "raw.orders", "type": "TABLE"}]
    }
}
_UNKNOWN_SOURCE = {"unknownSourceAttribute": {"unknownItems": []}}
# Claim -> the events of another producer.
OF_OTHERS: dict[str, list[Document]] = {
    "a step of a pipeline": [event(inputs=[IN], outputs=[OUT])],
    "a DAG that reads and writes": [
        event(
            by="airflow",
            inputs=[IN],
            outputs=[OUT],
            job_facets={"jobType": {"jobType": "DAG"}},
        )
    ],
    "actions of an application of Spark": [
        event("START", "load", 1, by="spark"),
        event(
            job="load.insert.raw_orders",
            run=2,
            by="spark",
            inputs=[IN],
            outputs=[dataset("s3://lake raw/orders", _PLACE)],
            run_facets=parent(1, "load"),
        ),
    ],
    "a version of Delta": [
        event(
            inputs=[IN],
            outputs=[
                dataset(
                    OUT,
                    {"version": {"datasetVersion": "7"}, "storage": {"storageLayer": "delta"}},
                )
            ],
        )
    ],
    "what Airflow's operators declare": [
        event(by="airflow", inputs=[IN], outputs=[OUT], run_facets=_UNKNOWN_SOURCE)
    ],
    "an error": [
        event(outputs=[OUT]),
        event(
            "FAIL",
            run=2,
            at="2026-11-22T09:00:00Z",
            run_facets={"errorMessage": {"message": "[CAST_INVALID] Jane SQLSTATE: 22018"}},
        ),
    ],
    "a table that is dropped and nothing else": [event(outputs=[dataset(OUT, change("DROP"))])],
    "a table that is emptied and nothing else": [event(outputs=[dataset(OUT, change("TRUNCATE"))])],
}


def _details(lineage: Lineage) -> set[str]:
    """Runs, accesses and datasets with what is known of them."""
    runs = (run for task in lineage.tasks.values() for run in task.runs)
    return {
        *(f"{run.run_id} {run.engine} {run.engine_version} {run.job} {run.error}" for run in runs),
        *(
            f"{a.run_id} {a.dataset} {a.direction} {a.operation} {a.evidence} {a.positions}"
            for a in lineage.history.accesses
        ),
        *(f"{d.id} {d.kind} {d.symlinks} {d.dropped_at}" for d in lineage.datasets.values()),
    }


@for_each("claim", OF_OTHERS)
def test_events_of_others_are_the_same_when_they_are_read_again(claim: str, tmp_path: Path) -> None:
    stored = records_in(tmp_path, OF_OTHERS[claim])
    _check_store(tmp_path, stored)
    assert _details(build(_again(tmp_path / "3", stored))) == _details(build(stored))


def shown(lineage: Lineage) -> dict[str, set[str]]:
    """The part that both must have: dbt's own comes from its artifacts, not from events."""
    tasks = [task for task in lineage.tasks.values() if task.reads or task.writes]
    named = edges_by_target(lineage.column_edges)
    return {
        "tasks": {
            f"{task.name}: {', '.join(map(str, task.reads))} -> {', '.join(map(str, task.writes))}"
            for task in tasks
        },
        "flows": {
            f"{flow.task}: {flow.source} -> {flow.target}"
            for flow in lineage.flows
            if flow.task in lineage.tasks
        },
        "datasets": {
            f"{usage.dataset}: {', '.join(f'{c.name} {c.type}' for c in known.columns)}"
            for task in tasks
            for usage in task.usages
            if (known := lineage.datasets.get(usage.dataset))
        },
        "columns": {
            f"{e.task}: {e.to_dataset}.{e.to_column} < {e.from_dataset}.{e.from_column} "
            f"{e.subtype}{' masked' if e.masking else ''}"
            for edges in named.values()
            for e in edges
            if e.task in lineage.tasks
        },
    }


def shown_with_runs(lineage: Lineage) -> dict[str, set[str]]:
    """That, the runs, and what was counted in the last of them."""
    tasks = [task for task in lineage.tasks.values() if task.reads or task.writes]
    return shown(lineage) | {
        "runs": {
            f"{task.name}: {run.started_at or run.ended_at} to {run.ended_at} {run.status}"
            for task in tasks
            for run in task.runs
        },
        "counts": {
            f"{usage.task}: {usage.direction} {usage.dataset} {usage.rows} rows {usage.bytes} bytes"
            for task in tasks
            for usage in task.usages
            if usage.moves_data and not usage.failed and not usage.repeats
        },
        "may touch more": {*open_tasks(lineage)},
    }


def _again(folder: Path, stored: Records) -> Records:
    """The records that are collected of the events of a store."""
    folder.mkdir()
    snapshot = LineageSnapshot(build(stored), shop.COLLECTED, accesses=join_events(stored).accesses)
    return records_in(folder, [exported.event for exported in events(snapshot)])


def _check_store(folder: Path, stored: Records) -> None:
    first, expected = _again(folder / "1", stored), shown_with_runs(build(stored))
    assert first.rejects == ()
    assert shown_with_runs(build(first)) == expected
    assert shown_with_runs(build(_again(folder / "2", first))) == expected


@for_each("name", STORES)
def test_a_store_is_the_same_when_its_events_are_read_again(tmp_path: Path, name: str) -> None:
    _check_store(tmp_path, STORES[name]())


@pytest.mark.demo
def test_the_store_of_the_demo_is_the_same(tmp_path: Path, root: Path) -> None:
    """Of Spark and SQL Server, with temporary tables, views and what scripts hold in memory."""
    folder = root / "build" / "demo" / "store"
    if not folder.is_dir():
        pytest.skip("run `make docs` first")
    _check_store(tmp_path, store.read(str(folder)))


@for_each("seed", range(12))
def test_made_up_lineages_are_the_same_when_they_are_read_again(tmp_path: Path, seed: int) -> None:
    lineage, descriptions, _ = world(seed).lineage()
    written = LineageSnapshot(lineage, shop.COLLECTED, descriptions)
    found = read_again(tmp_path, [exported.event for exported in events(written)])
    assert shown(found) == shown(lineage)


def test_what_dbt_adds_is_in_events_that_are_no_rejects(tmp_path: Path) -> None:
    written = shop.snapshot()
    lineage = read_again(tmp_path, [exported.event for exported in events(written)])
    assert shown(lineage) == shown(written.lineage)
    assert lineage.rejects == ()
