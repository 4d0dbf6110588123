"""From events to flows: how producers tell of the use of tables, in any order and any files."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbt_graft.lineage.records import Status
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    FLOW,
    IN,
    OUT,
    Document,
    change,
    dataset,
    event,
    flows,
    lineage,
    parent,
)

SUBSET = {
    "outputCondition": {"type": "partition", "partitions": [{"dimensions": {"ds": "2026-10-05"}}]}
}
COLUMNS_OF_B = {
    "columnLineage": {
        "fields": {"id": {"inputFields": [{"namespace": "spark", "name": "raw.b", "field": "id"}]}}
    }
}


def entries(*flows: str) -> Document:
    """The facet `lineage` of a job: `raw.c <- raw.a, JOB other`; `JOB` is the event's own."""
    targets = (flow.split(" <- ") for flow in flows)
    listed = [{**entity(name), "inputs": [*map(entity, of.split(", "))]} for name, of in targets]
    return {"lineage": {"entries": listed}}


def entity(text: str) -> Document:
    """A dataset or a job in the facet `lineage`."""
    is_job, name = text.startswith("JOB"), text.removeprefix("JOB").strip()
    identity = {"namespace": "spark", "name": name} if name else {}
    return {"type": "JOB" if is_job else "DATASET", **identity}


# How a table is used -> the flows.
FLOWS: dict[str, tuple[list[Document], list[str]]] = {
    "inputs go into outputs": ([event(inputs=[IN], outputs=[OUT])], [FLOW]),
    "the end may lack what the start said": (
        [event("START", inputs=[IN], outputs=[OUT]), event(at="2026-11-22T08:01:00Z")],
        [FLOW],
    ),
    "inputs at the start, outputs at the end": (
        [event("START", inputs=[IN]), event(at="2026-11-22T08:01:00Z", outputs=[OUT])],
        [FLOW],
    ),
    "the end knows more than the start": (
        [
            event("START", inputs=["spark raw.a"], outputs=["spark raw.c"]),
            event(
                at="2026-11-22T08:01:00Z",
                inputs=["spark raw.a", "spark raw.b"],
                outputs=["spark raw.c"],
            ),
        ],
        [
            "load_orders: spark/raw.a -> spark/raw.c",
            "load_orders: spark/raw.b -> spark/raw.c",
        ],
    ),
    "what the columns of the only output come from is an input": (
        [event(inputs=["spark raw.a"], outputs=[dataset("spark raw.c", COLUMNS_OF_B)])],
        ["load_orders: spark/raw.a -> spark/raw.c", "load_orders: spark/raw.b -> spark/raw.c"],
    ),
    "of two outputs the other one does not come from it": (
        [event(inputs=["spark raw.a"], outputs=[dataset("spark raw.c", COLUMNS_OF_B), OUT])],
        ["load_orders: spark/raw.a -> spark/raw.c", "load_orders: spark/raw.a -> spark/raw.orders"],
    ),
    "a table whose columns come from itself is no input": (
        [event(inputs=["spark raw.a"], outputs=[dataset("spark raw.b", COLUMNS_OF_B)])],
        ["load_orders: spark/raw.a -> spark/raw.b"],
    ),
    "what two events connect is not mixed": (
        [
            event("START", inputs=["spark raw.a"], outputs=["spark raw.b"]),
            event(at="2026-11-22T08:01:00Z", inputs=["spark raw.c"], outputs=["spark raw.d"]),
        ],
        ["load_orders: spark/raw.a -> spark/raw.b", "load_orders: spark/raw.c -> spark/raw.d"],
    ),
    "nothing of a failed run": ([event("FAIL", inputs=[IN], outputs=[OUT])], []),
    "what a failed run counted rows of may have been written": (
        [
            event(
                "FAIL",
                inputs=[IN],
                outputs=[
                    dataset("spark raw.orders", outputStatistics={"rowCount": 5}),
                    "spark raw.b",
                ],
            )
        ],
        [FLOW],
    ),
    "graft names of a failed run what had succeeded": (
        [event("START", by="graft"), event("FAIL", by="graft", inputs=[IN], outputs=[OUT])],
        [f"shop.{FLOW}"],
    ),
    "what failed is not done because graft names something else": (
        [
            event("START", by="graft", inputs=["spark raw.a"], outputs=["spark raw.b"]),
            event("FAIL", by="graft", inputs=[IN], outputs=[OUT]),
        ],
        [f"shop.{FLOW}"],
    ),
    "a path without a host stays one": (
        [event(inputs=["dbfs /mnt/raw/2000"], outputs=["hdfs /mart"])],
        ["load_orders: dbfs/mnt/raw/2000 -> hdfs/mart"],
    ),
    "a namespace that begins as a store does is none": (
        [event(inputs=["gsheets /book/sheet"], outputs=["s3tables a.b"])],
        ["load_orders: gsheets//book/sheet -> s3tables/a.b"],
    ),
    "nothing of an aborted run": (
        [event("START", inputs=[IN], outputs=[OUT]), event("ABORT", at="2026-11-22T08:01:00Z")],
        [],
    ),
    "a run without an end is lineage": ([event("START", inputs=[IN], outputs=[OUT])], [FLOW]),
    "a job declares": (
        [event("", inputs=[IN], outputs=[OUT])],
        [f"{FLOW} (declared)"],
    ),
    "a run makes of what was declared what was observed": (
        [event("", inputs=[IN], outputs=[OUT]), event(inputs=[IN], outputs=[OUT])],
        [FLOW],
    ),
    "a rename is followed": (
        [
            event("COMPLETE", "a.load_orders", 1, inputs=[IN], outputs=["spark raw.new"]),
            event(
                "COMPLETE",
                "a.load_orders",
                2,
                at="2026-11-22T09:00:00Z",
                outputs=[dataset(OUT, change("RENAME", "spark raw.new"))],
            ),
        ],
        [FLOW],
    ),
    "a table that is only created has no input": (
        [event(outputs=[dataset(OUT, change("CREATE"))])],
        [],
    ),
    "a table created with inputs has them": (
        [event(inputs=[IN], outputs=[dataset(OUT, change("CREATE"))])],
        [FLOW],
    ),
    "what is dropped or emptied gets no data": (
        [
            event(
                inputs=[IN],
                outputs=[
                    dataset("spark raw.gone", change("DROP")),
                    dataset("spark raw.empty", change("TRUNCATE")),
                    dataset(OUT, change("OVERWRITE")),
                ],
            )
        ],
        [FLOW],
    ),
    "the facet lineage names the inputs of each output": (
        [
            event(
                inputs=["spark raw.a", "spark raw.b"],
                outputs=["spark raw.c", "spark raw.d"],
                job_facets=entries("raw.c <- raw.a", "raw.d <- raw.b"),
            )
        ],
        ["load_orders: spark/raw.a -> spark/raw.c", "load_orders: spark/raw.b -> spark/raw.d"],
    ),
    "also where an event before it lists them": (
        [
            event("START", inputs=["spark raw.a", "spark raw.b"], outputs=["spark raw.c"]),
            event(
                at="2026-11-22T08:01:00Z",
                inputs=["spark raw.a", "spark raw.b"],
                outputs=["spark raw.c"],
                job_facets=entries("raw.c <- raw.a"),
            ),
        ],
        ["load_orders: spark/raw.a -> spark/raw.c"],
    ),
    "what it does not name is not connected": (
        [
            event(
                inputs=["spark raw.a", "spark raw.b"],
                outputs=[dataset("spark raw.c", COLUMNS_OF_B), "spark raw.d"],
                job_facets=entries("raw.c <- raw.a"),
            )
        ],
        ["load_orders: spark/raw.a -> spark/raw.c"],
    ),
    "a job in it is no dataset": (
        [
            event(
                outputs=[OUT], job_facets=entries("raw.orders <- raw.a, JOB other", "raw.b <- JOB")
            )
        ],
        ["load_orders: spark/raw.a -> spark/raw.orders"],
    ),
    "also that of a dataset": (
        [
            event(
                inputs=["spark raw.a", "spark raw.b"],
                outputs=[
                    "spark raw.c",
                    dataset(
                        "spark raw.d",
                        {
                            "lineage": {
                                "inputs": [
                                    {"type": "DATASET", "namespace": "spark", "name": "raw.b"}
                                ]
                            }
                        },
                    ),
                ],
            )
        ],
        [
            "load_orders: spark/raw.a -> spark/raw.c",
            "load_orders: spark/raw.b -> spark/raw.c",
            "load_orders: spark/raw.b -> spark/raw.d",
        ],
    ),
    "an application of Spark with the date of its run is one task": (
        [
            event(job=f"load_orders_{day}.x", run=day, by="spark", inputs=[IN], outputs=[OUT])
            for day in (20261121, 20261122)
        ],
        [FLOW],
    ),
    "inlets and outlets of Airflow are declared": (
        [
            event(
                job="dag.raw.load_orders",
                by="airflow",
                inputs=[IN],
                outputs=[OUT],
                run_facets={"unknownSourceAttribute": {"unknownItems": []}},
            )
        ],
        [f"{FLOW} (declared)"],
    ),
    "an outlet with the dates that it is about is declared": (
        [
            event(
                job="dag.raw.load_orders",
                by="airflow",
                inputs=[IN],
                outputs=[dataset(OUT, subset=SUBSET)],
                run_facets={"unknownSourceAttribute": {"unknownItems": []}},
            )
        ],
        [f"{FLOW} (declared)"],
    ),
    "what an extractor of Airflow finds is observed": (
        [
            event(
                job="dag.raw.load_orders",
                by="airflow",
                inputs=[IN],
                outputs=[dataset(OUT, {"schema": {"fields": [{"name": "id"}]}})],
                run_facets={"unknownSourceAttribute": {"unknownItems": []}},
            )
        ],
        [FLOW],
    ),
    "the actions of a Spark application are one task": (
        [
            event("START", "load_orders", 1, by="spark"),
            event(
                job="load_orders.execute_insert_into_hadoop_fs_relation_command.raw_orders",
                run=2,
                by="spark",
                inputs=[IN],
                outputs=[
                    dataset(
                        "s3a://lake raw/orders",
                        {
                            "symlinks": {
                                "identifiers": [
                                    {"namespace": "spark", "name": "raw.orders", "type": "TABLE"}
                                ]
                            },
                            "version": {"datasetVersion": "7"},
                        },
                    )
                ],
                run_facets=parent(1, "load_orders"),
            ),
        ],
        [FLOW],
    ),
    "a job of Flink is a task": (
        [event("RUNNING", "load_orders", by="flink", inputs=["kafka://k:9092 o"], outputs=[OUT])],
        ["load_orders: kafka://k:9092/o -> spark/raw.orders"],
    ),
    "a statement of Hive is a task by its operation and table": (
        [event(job="query.raw.orders", by="hive", inputs=[IN], outputs=[OUT])],
        [FLOW.replace("load_orders", "query.raw.orders")],
    ),
    "two jobs that use one run id are two tasks": (
        [
            event(job="etl.load_orders", inputs=[IN], outputs=[OUT]),
            event(job="etl.load_more", inputs=["spark raw.a"], outputs=["spark raw.b"]),
        ],
        ["load_more: spark/raw.a -> spark/raw.b", FLOW],
    ),
    "an action of Spark that names its table at its end": (
        [
            event("START", "load_orders.insert", by="spark", inputs=[IN]),
            event(
                "COMPLETE",
                "load_orders.insert.raw_orders",
                at="2026-11-22T08:01:00Z",
                by="spark",
                outputs=[OUT],
            ),
        ],
        [FLOW],
    ),
    "a script is a task of its name": (
        [event(job="etl/load_orders.py", inputs=[IN], outputs=[OUT])],
        [FLOW],
    ),
    "a version at the end of a job's name is a part of it": (
        [event(job="load_orders 1.2", inputs=[IN], outputs=[OUT])],
        [FLOW.replace("load_orders", "load_orders 1.2")],
    ),
    "a query of Trino is of its source": (
        [
            event(
                job="20231206_122834_00000_abcde",
                by="trino",
                inputs=["trino://t:8080 hive.raw.a"],
                outputs=["trino://t:8080 hive.raw.b"],
                run_facets={"trino_query_context": {"source": "load_orders"}},
            )
        ],
        ["load_orders: trino://t:8080/hive.raw.a -> trino://t:8080/hive.raw.b"],
    ),
}


@for_each("claim", FLOWS)
def test_flows(claim: str, tmp_path: Path) -> None:
    events, expected = FLOWS[claim]
    assert flows(lineage(tmp_path, events)) == expected


def shared_out(events: list[Document]) -> list[list[list[Document]]]:
    """Events in other orders, twice, and over several files."""
    backwards = events[::-1]
    alone = [[document] for document in events]
    shuffled = random.Random(7).sample(events * 2, len(events) * 2)  # noqa: S311
    return [[backwards], [events * 2], alone, alone[::-1], [shuffled, events], [events[:1], events]]


@for_each("claim", FLOWS)
def test_order_repetition_and_files_make_no_difference(claim: str, tmp_path: Path) -> None:
    events, _ = FLOWS[claim]
    expected = _without_origins(lineage(tmp_path, events))
    for files in shared_out(events):
        assert _without_origins(lineage(tmp_path, *files)) == expected


def _without_origins(found: Any) -> Any:
    tasks = {
        name: replace(task, runs=tuple(replace(run, origin="") for run in task.runs))
        for name, task in found.tasks.items()
    }
    edges = tuple(dict.fromkeys(replace(edge, origin="") for edge in found.column_edges))
    datasets = {name: replace(one, origin="") for name, one in found.datasets.items()}
    history = replace(found.history, orchestrator_runs={})
    return replace(found, tasks=tasks, column_edges=edges, datasets=datasets, history=history)


def test_many_runs_need_no_more_memory_than_few(tmp_path: Path) -> None:
    # More runs than a worker holds: START and COMPLETE of each lie far apart.
    starts = [event("START", run=n, inputs=[IN]) for n in range(6_000)]
    ends = [event(run=n, at="2026-11-22T08:01:00Z", outputs=[OUT]) for n in range(6_000)]
    found = lineage(tmp_path, list(itertools.chain(starts, ends)))
    assert flows(found) == [FLOW]
    assert len(found.tasks["load_orders"].runs) == 6_000
    assert {run.status for run in found.tasks["load_orders"].runs} == {Status.OK}
