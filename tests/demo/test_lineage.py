"""The demo's lineage is what was worked out by hand: no edge missing, none extra."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.store import door as store
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.records import ColumnEdge, Direction, EdgeType

pytestmark = pytest.mark.demo

Expected = dict[str, Any]


@pytest.fixture(scope="module")
def grafted(root: Path) -> Grafted:
    """The demo's store on the demo's artifacts."""
    config = load(root / "dbt_project/graft.yml")
    if not store.read(config.path(config.store)).accesses:
        pytest.skip("the demo's store is empty: run `make docs` first")
    return Project(config).grafted(LineageView(results=False), inspect=True)


def test_every_edge_and_none_extra(grafted: Grafted, complete: Expected) -> None:
    flows = {(str(f.source), str(f.target), f.task) for f in grafted.lineage.flows}
    assert flows == {(edge["from"], edge["to"], edge["by"]) for edge in complete["edges"]}


def test_every_column_edge_and_none_extra(grafted: Grafted, complete: Expected) -> None:
    edges = {
        (
            *(str(e.from_dataset), str(e.to_dataset), e.task),
            *(e.to_column, e.from_column, str(e.subtype), str(e.evidence)),
        )
        for e in grafted.lineage.column_edges
    }
    assert edges == {
        (
            *(edge["from"], edge["to"], edge["by"]),
            *(column, source, how, edge.get("evidence", "observed")),
        )
        for edge in complete["columns"]
        for column, sources in edge["columns"].items()
        for source, ways in sources.items()
        for how in ways.split()
    }


def test_columns_of_the_dashboard_by_where_they_come_from(
    grafted: Grafted, complete: Expected
) -> None:
    shown = set(complete["consumers"]["exposure.shop.revenue_dashboard"])
    for start, columns in complete["dashboard"].items():
        values = _reached(grafted.lineage.column_edges, start, {EdgeType.DIRECT})
        anything = _reached(grafted.lineage.column_edges, start, set(EdgeType))
        found = [
            sorted(column for column in reached if column.rpartition(".")[0] in shown)
            for reached in (values, anything - values)
        ]
        assert found == [sorted(columns["values"]), sorted(columns["decided"])], start


def _reached(edges: Iterable[ColumnEdge], start: str, types: set[EdgeType]) -> set[str]:
    """The columns downstream of one by edges of some types; `*` is an end."""
    downstream: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.type in types:
            target = f"{edge.to_dataset}.{edge.to_column}"
            downstream[f"{edge.from_dataset}.{edge.from_column}"].add(target)
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for column in downstream[waiting.pop()] - found:
            found.add(column)
            if not column.endswith(".*"):
                waiting.append(column)
    return found


def test_every_dataset_and_what_it_is_to_dbt(grafted: Grafted, complete: Expected) -> None:
    roles = {
        str(dataset): grafted.descriptions[dataset].role
        if dataset in grafted.descriptions
        else None
        for dataset in grafted.lineage.datasets
    }
    assert roles == complete["datasets"]


def test_every_python_task_with_what_it_read_and_wrote(
    grafted: Grafted, complete: Expected
) -> None:
    found = {
        name: (
            *task.engines,
            str(task.runs[0].status),
            sorted(map(str, task.reads)),
            sorted(map(str, task.writes)),
        )
        for name, task in grafted.lineage.tasks.items()
    }
    assert found == {
        name: (task["engine"], task["status"], sorted(task["reads"]), sorted(task["writes"]))
        for name, task in complete["tasks"].items()
    }


def test_rows_are_those_that_the_tasks_wrote(grafted: Grafted, complete: Expected) -> None:
    for name, task in complete["tasks"].items():
        if task["engine"] == "spark":
            written = {
                str(usage.dataset): usage.rows
                for usage in grafted.lineage.tasks[name].usages
                if usage.direction is Direction.WRITE and not usage.failed and usage.moves_data
            }
            assert written == {**task.get("rows", {}), **task.get("earlier_rows", {})}, name


def test_what_failed_is_listed_as_failed(grafted: Grafted, complete: Expected) -> None:
    for name, task in complete["tasks"].items():
        failed = task.get("failed", {})
        usages = [usage for usage in grafted.lineage.tasks[name].usages if usage.failed]
        for direction, key in ((Direction.READ, "reads"), (Direction.WRITE, "writes")):
            tried = sorted(str(usage.dataset) for usage in usages if usage.direction is direction)
            assert tried == sorted(failed.get(key, [])), name


def test_every_consumer(grafted: Grafted, complete: Expected) -> None:
    consumers = {
        consumer.node_id: sorted(map(str, consumer.reads)) for consumer in grafted.consumers
    }
    assert consumers == {name: sorted(reads) for name, reads in complete["consumers"].items()}


def test_the_order_in_which_everything_can_run(grafted: Grafted, complete: Expected) -> None:
    assert grafted.lineage.task_graph().cycles() == []
    levels = grafted.lineage.task_graph().levels()
    assert levels == [sorted(level) for level in complete["levels"]]


def test_the_grafted_artifacts_have_no_defect(grafted: Grafted) -> None:
    assert grafted.report.defects == ()
    assert grafted.report.cycles == ()


def test_dbt_s_sql_and_the_log_of_its_runs_agree_and_it_writes_nothing_a_second_time(
    grafted: Grafted,
) -> None:
    assert grafted.report.column_differences == ()
    assert grafted.report.second_writers == ()
