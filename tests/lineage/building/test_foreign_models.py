"""Models of other dbt projects, in events, are tasks; those of our own project are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.openlineage.event import read_event
from dbt_graft.collectors.openlineage.jobs import job_of
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.settings import LineageSettings
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    Document,
    columns,
    dataset,
    event,
    flows,
    parent,
    records_in,
)

IN, OUT = "spark raw.orders", "spark marts.orders"
EDGE = {"inputFields": [{"namespace": "spark", "name": "raw.orders", "field": "id"}]}


def built(model: str = "model.other.orders", job: str = "db.dw.other.orders.build.run") -> Document:
    return event(
        "COMPLETE",
        job,
        2,
        by="dbt",
        inputs=[IN],
        outputs=[dataset(OUT, {"columnLineage": {"fields": {"id": EDGE}}})],
        job_facets={"dbt_node": {"unique_id": model}},
        run_facets={"dbt_run": {"invocation_id": "i-1"}, **parent(1, "dbt-run-other")},
    )


def lineage(
    folder: Path, *events: Document, projects: tuple[str, ...] | None = ("shop",)
) -> Lineage:
    command = event("COMPLETE", "dbt-run-other", 1, by="dbt")
    return build(
        records_in(folder, [command, *events]), settings=LineageSettings(projects=projects)
    )


def test_a_model_of_another_project_is_a_task_with_reads_writes_and_columns(tmp_path: Path) -> None:
    found = lineage(tmp_path, built())
    name = "db.dw.other.orders.build.run"
    assert flows(found) == [f"{name}: spark/raw.orders -> spark/marts.orders"]
    assert columns(found) == ["marts.orders.id <- raw.orders.id TRANSFORMATION"]
    assert [edge.task for edge in found.column_edges] == [name]
    [task] = found.tasks.values()
    assert (task.name, task.engines, len(task.runs)) == (name, ("dbt",), 1)


@pytest.mark.parametrize("kind", ["seed", "snapshot"])
def test_seeds_and_snapshots_too(tmp_path: Path, kind: str) -> None:
    assert len(lineage(tmp_path, built(f"{kind}.other.orders")).tasks) == 1


@pytest.mark.parametrize(
    ("one", "projects"),
    [
        (built("model.shop.orders"), ("shop",)),
        (built(), ("shop", "other")),
        # Who does not know the manifest takes all for dbt's.
        (built(), None),
        (built("test.other.not_null"), ("shop",)),
        (built(job="db.dw.other.orders.build.test"), ("shop",)),
    ],
)
def test_models_of_our_own_and_tests_are_no_tasks(
    tmp_path: Path, one: Document, projects: tuple[str, ...] | None
) -> None:
    found = lineage(tmp_path, one, projects=projects)
    assert (dict(found.tasks), found.flows, found.column_edges) == ({}, (), ())


def test_both_side_by_side(tmp_path: Path) -> None:
    document = built("model.shop.customers", "db.dw.shop.customers.build.run")
    document["run"]["runId"] = document["run"]["runId"].replace("2", "3")
    found = lineage(tmp_path, built(), document)
    assert [*found.tasks] == ["db.dw.other.orders.build.run"]
    assert len(found.dbt.column_edges) == 1


def test_what_airflow_runs_with_dbt_has_its_run_of_airflow(tmp_path: Path) -> None:
    document = built(job="shop_dag.orders.run")
    document["producer"] = event(by="airflow")["producer"]
    found = lineage(tmp_path, document)
    task = found.tasks["shop_dag.orders.run"]
    assert [run.run_id for run in task.runs] == [document["run"]["runId"]]
    assert flows(found) == ["shop_dag.orders.run: spark/raw.orders -> spark/marts.orders"]


@for_each(
    "name, kind, model",
    [
        ("db.dw.other.orders", "MODEL", "model.other.orders"),
        ("dw.other.orders", "MODEL", "model.other.orders"),
        ("db.dw.other.orders.build.run", "MODEL", "model.other.orders"),
        ("db.dw.other.orders.v2", "MODEL", "model.other.orders.v2"),
        ("db.dw.other.orders.snapshot", "SNAPSHOT", "snapshot.other.orders"),
        ("db.dw.other.orders.build.snapshot", "SNAPSHOT", "snapshot.other.orders"),
        ("db.dw.other.run", "MODEL", "model.other.run"),
        ("dbt-run-other", "JOB", ""),
        ("db.dw.other.orders.build.test", "TEST", ""),
    ],
)
def test_a_job_of_an_older_dbt_ol_has_the_node_in_its_name(
    name: str, kind: str, model: str
) -> None:
    document = event(job=name, by="dbt", job_facets={"jobType": {"jobType": kind}})
    assert job_of(read_event(document)).node_id == model


def test_such_a_job_is_a_task_where_the_project_is_another_one(tmp_path: Path) -> None:
    facets = {"jobType": {"jobType": "MODEL"}}
    document = event(
        job="dw.other.orders",
        by="dbt",
        namespace="local://host",
        inputs=[IN],
        outputs=[OUT],
        job_facets=facets,
    )
    found = lineage(tmp_path, document, projects=())
    assert flows(found) == ["dw.other.orders: spark/raw.orders -> spark/marts.orders"]
    assert flows(lineage(tmp_path, document, projects=("other",))) == []
