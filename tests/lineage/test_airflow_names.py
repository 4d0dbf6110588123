"""Names of runs of Airflow: which texts are one, and which run they name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.lineage.airflow_names import parent_id, split_run, task_try
from dbt_graft.lineage.openlineage import airflow_task_run_id
from tests.cases import for_each

RUN = "01a2008d-7400-7462-bff7-4315a3a27104"
NIGHT = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("date", "index"),
    [("2026-11-22T00:00:00Z", ""), ("2026-11-22T01:00:00+01:00", ""), (str(NIGHT), "/7")],
)
def test_a_try_has_the_run_id_that_airflow_makes(date: str, index: str) -> None:
    found = task_try(f"shop/raw.load_orders/1/{date}{index}")
    assert found
    assert found.job_name == "shop.raw.load_orders"
    expected = airflow_task_run_id(
        *("airflow", "shop", "raw.load_orders", 1, int(index[1:]) if index else -1, NIGHT)
    )
    assert found.run_id("airflow") == expected
    # The run in tests/airflow, as Airflow itself named it.
    assert index or str(expected) == RUN


@for_each(
    "name",
    [
        "",
        "shop/load/1/2026-11-22",
        "shop/load/1/2026-11-22T00:00:00",
        "shop/load/1/2026-13-22T00:00:00Z",
        "shop/load/first/2026-11-22T00:00:00Z",
        "shop/load/manual__2026-11-22T00:00:00Z",
        "shop/load/1/2026-11-22T00:00:00Z/7/8",
    ],
)
def test_other_texts_are_no_try(name: str) -> None:
    assert task_try(name) is None


@pytest.mark.parametrize(
    ("name", "job"),
    [
        (f"airflow/shop.load/{RUN}", ("airflow", "shop.load")),
        (f"kube://a/shop.load/{RUN}", ("kube://a", "shop.load")),
        (f"airflow/shop/{RUN}", None),
        (f"shop.load/{RUN}", None),
        ("airflow/shop.load/1", None),
    ],
)
def test_a_parent_id_has_the_job_of_a_task(name: str, job: tuple[str, str] | None) -> None:
    parent = parent_id(name)
    assert (parent and tuple(parent.job)) == job
    assert parent is None or str(parent.run_id) == RUN


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (f"load::{RUN}", ("load", RUN)),
        (f" a::b::x/s.load/{RUN} ", ("a::b", f"x/s.load/{RUN}")),
        ("a::b", ("a::b", None)),
        (f"::{RUN}", (f"::{RUN}", None)),
        (RUN, (RUN, None)),
    ],
)
def test_a_name_is_split_where_a_run_follows(name: str, parts: tuple[str, str | None]) -> None:
    assert split_run(name) == parts
