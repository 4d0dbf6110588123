"""Views of runs of DAGs, on events of a real Airflow 2."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.exporters.data.sql import answer
from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.described import DescribedLineage
from tests.collectors.openlineage.events import records, results_of
from tests.conftest import ROOT

EVENTS = ROOT / "tests/collectors/openlineage/airflow/runs-2.11.ndjson"


@pytest.fixture(scope="module")
def data() -> ViewData:
    return ViewData(DescribedLineage(build(records(results_of(EVENTS)))))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "select dag, date, status, tasks, failed, not_reached from dag_runs order by 1, 2",
            [
                ("orders", "2026-10-03", "failed", 4, ["part[1]"], ["after"]),
                ("orders", "2026-11-25", "ok", 6, [], []),
                ("report", "2026-10-03", "ok", 1, [], []),
                ("report", "2026-11-25", "ok", 1, [], []),
            ],
        ),
        (
            "select name, task, dag_tasks.status, attempt "
            "from dag_tasks join dag_runs using (dag, dag_run) "
            "where dag = 'orders' and date = '2026-10-03' order by dag_tasks.started_at",
            [
                ("wait", "wait", "ok", 1),
                ("load", "load", "ok", 1),
                ("part[0]", "part", "ok", 1),
                ("part[1]", "part", "failed", 1),
            ],
        ),
    ],
)
def test_a_run_of_a_dag_and_its_tasks(
    data: ViewData, query: str, expected: list[tuple[Any, ...]]
) -> None:
    with answer(data, query) as readers:
        assert [tuple(row.values()) for row in readers.read_all().to_pylist()] == expected
