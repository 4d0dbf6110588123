"""Events come into the store by Spark, once, however they arrive."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from dbt_graft.collectors.engines import spark as spark_engine
from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.openlineage import collect as job
from dbt_graft.collectors.openlineage.collect import collect
from dbt_graft.collectors.openlineage.files import EventFiles
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.checks import Check
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Records, Status
from tests.collectors.openlineage.events import (
    Document,
    columns,
    dataset,
    event,
    flows,
    parent,
    run_id,
)

MODEL = {"dbt_node": {"unique_id": "model.shop.orders"}}
CHECKED = {"dataQualityAssertions": {"assertions": [{"assertion": "unique", "success": True}]}}
COLUMNS = {
    "columnLineage": {
        "fields": {"id": {"inputFields": [{"namespace": "spark", "name": "raw.a", "field": "id"}]}}
    }
}


def events() -> list[Document]:
    """The events of forty runs of two tasks and of a model of dbt."""
    found = []
    for n in range(0, 120, 3):
        at = f"2026-11-{n // 6 + 1:02d}T08:{n % 6}"
        name = "shop.load" if n % 2 else "shop.make"
        above = parent(n, "shop")
        facets = {**COLUMNS, "documentation": {"description": f"Made {n} times."}}
        found += [
            event("START", "shop", n, at=f"{at}0:00Z", by="airflow"),
            event("START", name, n + 1, at=f"{at}1:00Z", inputs=["spark raw.a"], run_facets=above),
            event(
                "FAIL" if n % 5 == 0 else "COMPLETE",
                name,
                n + 1,
                at=f"{at}2:00Z",
                outputs=[dataset("spark raw.b", facets, outputStatistics={"rowCount": n})],
            ),
            event(
                "COMPLETE",
                "shop.orders.build.run",
                n + 2,
                at=f"{at}3:00Z",
                by="dbt",
                outputs=[dataset("spark marts.orders", CHECKED)],
                job_facets=MODEL,
                run_facets={"dbt_run": {"invocation_id": f"i-{n}"}},
            ),
        ]
    return found


def collected(engine: Engine, folder: Path, place: Path) -> store.CommittedBatch | None:
    positions = store.positions(str(place))
    found = collect(engine, EventFiles(str(folder), "events"), positions)
    return store.commit(str(place), [found], positions) if found else None


def shown(place: Path) -> object:
    """All that pages have of the store, without the logs that it came from."""
    found = store.read(str(place), results=True)
    lineage = build(found)
    runs = {
        name: [(r.run_id, r.status, r.started_at, r.ended_at, r.parent_run_id) for r in task.runs]
        for name, task in lineage.tasks.items()
    }
    usages = {name: task.usages for name, task in lineage.tasks.items()}
    nodes = sorted((n.node_id, n.invocation_id, n.word, n.ended_at) for n in found.node_results)
    flowed, edges, dags = flows(lineage), columns(lineage), {*lineage.history.orchestrator_runs}
    return flowed, edges, runs, usages, nodes, dags, lineage.dataset_metadata


def lines(documents: list[Document]) -> str:
    return "".join(f"{json.dumps(document)}\n" for document in documents)


@pytest.fixture(scope="module")
def at_once(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> object:
    """The store after one collect of one file."""
    folder = tmp_path_factory.mktemp("at_once")
    (folder / "events").mkdir()
    (folder / "events" / "all.jsonl").write_text(lines(events()))
    batch = collected(engine, folder / "events", folder / "store")
    assert batch is not None
    assert batch.origins == 1
    return shown(folder / "store")


def test_the_store_has_what_the_events_say(at_once: object, tmp_path: Path) -> None:
    found, edges, runs, _, nodes, dags, metadata = at_once  # type: ignore[misc]
    assert found == ["load: spark/raw.a -> spark/raw.b", "make: spark/raw.a -> spark/raw.b"]
    assert edges == ["raw.b.id <- raw.a.id TRANSFORMATION"] * 2
    assert {name: len(of) for name, of in runs.items()} == {"load": 20, "make": 20}
    assert sum(status is Status.FAILED for of in runs.values() for _, status, *_ in of) == 8
    # Of a model the last thirty, of a check the last.
    check = Check(DatasetId("spark", "marts.orders"), "unique").id
    assert [invocation for name, invocation, *_ in nodes if name == check] == ["i-117"]
    assert len(nodes) == 31
    assert dags == {run_id(n) for n in range(0, 120, 3)}
    assert [(str(name), one.description) for name, one in metadata.items()] == [
        ("spark/raw.b", "Made 117 times.")
    ]


def test_in_two_collects_it_is_the_same(engine: Engine, at_once: object, tmp_path: Path) -> None:
    """A growing file, cut anywhere, and a file beside it with events out of order, and twice."""
    folder, place = tmp_path / "events", tmp_path / "store"
    folder.mkdir()
    text = lines(events())
    growing = folder / "growing.jsonl"
    growing.write_text(text[: len(text) // 3])
    assert collected(engine, folder, place)
    waiting = store.read(str(place)).rejects
    assert [reject.reason for reject in waiting] == [
        "this is not JSON, or is cut short; it is read again when the file has grown"
    ]
    growing.write_text(text[: 2 * len(text) // 3])
    some = random.Random(1).sample(events(), 60)  # noqa: S311
    (folder / "late.json.gz").write_bytes(gzip.compress(json.dumps(some).encode()))
    assert collected(engine, folder, place)
    growing.write_text(text)
    assert collected(engine, folder, place)
    assert shown(place) == at_once
    assert store.read(str(place)).rejects == ()
    assert collected(engine, folder, place) is None


def test_one_event_a_file_and_in_pieces_it_is_the_same(
    engine: Engine, at_once: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, place = tmp_path / "events", tmp_path / "store"
    folder.mkdir()
    for number, document in enumerate(events()[:40]):
        (folder / f"{number}.json").write_text(json.dumps(document, indent=1))
    (folder / "rest.jsonl").write_text(lines(events()[40:]))
    monkeypatch.setattr(job, "_BYTES", 5_000)
    monkeypatch.setattr(spark_engine, "_SMALL", 0)  # as many as stay with Spark
    batch = collected(engine, folder, place)
    assert batch is not None
    assert batch.origins == 41
    assert shown(place) == at_once


def test_a_corrected_file_replaces_what_it_had(engine: Engine, tmp_path: Path) -> None:
    folder, place = tmp_path / "events", tmp_path / "store"
    folder.mkdir()
    file = folder / "a.jsonl"
    wrong = [event(run=n, inputs=["x a"], outputs=["x wrong"]) for n in (1, 2)]
    file.write_text(lines(wrong))
    collected(engine, folder, place)
    of_dbt = dataset("spark raw.b", COLUMNS)
    model = event(by="dbt", run=3, outputs=[of_dbt], job_facets=MODEL)
    file.write_text(f"{lines([*wrong, model])}{{")
    collected(engine, folder, place)
    assert columns(build(store.read(str(place)))) != []
    file.write_text(lines([event(run=1, inputs=["x a"], outputs=["x b"]), {"eventTime": 1}]))
    collected(engine, folder, place)
    records: Records = store.read(str(place))
    assert flows(build(records)) == ["load_orders: x/a -> x/b"]
    assert columns(build(records)) == []
    [reject] = records.rejects
    assert reject.reason.startswith("has neither 'run' nor 'job' nor 'dataset'")
