"""The lineage file as Airflow reads it: one entry by its line, whatever the names are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.exporters.airflow_lineage import lines
from graft_airflow.document import LineageDocument, match
from graft_airflow.errors import LineageFileError
from tests.cases import for_each
from tests.graft_airflow.lineage_file import document, text

EMPTY: dict[str, Any] = {
    "version": 1,
    "as_of": None,
    "jobs": {},
    "models": {},
    "tasks": {},
    "datasets": {},
}


def written(content: dict[str, Any]) -> bytes:
    return "".join(f"{line}\n" for line in lines(content)).encode()


@pytest.mark.parametrize(
    "content",
    [text(), json.dumps(document()).encode(), json.dumps(document(), indent=2).encode()],
    ids=["a line an entry", "on one line", "as jq writes it"],
)
def test_every_layout_says_the_same(content: bytes) -> None:
    found = LineageDocument(content)
    assert found.as_of == "2026-11-22T05:30:00Z"
    assert found.task("load_orders") == document()["tasks"]["load_orders"]
    assert found.task("nobody") is None
    assert found.task_of_job("shop.ml.score") == "score_customers"
    assert found.datasets() == document()["datasets"]


NAMES = st.text(max_size=12) | st.sampled_from(
    [
        "tasks",
        "datasets",
        "version",
        '"',
        "\\",
        "\n",
        "}",
        '":{',
        "a\n}",
        "\x7f",
        "\u2028",
        "\ud800",
    ]
)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, max_size=2), max_size=5), NAMES)
def test_any_name_is_found_by_its_line(tasks: dict[str, Any], other: str) -> None:
    found = LineageDocument(written({**EMPTY, "tasks": tasks, "models": {other: "x"}}))
    for name, content in tasks.items():
        assert found.task(name) == content
    assert (found.task(other) is not None) == (other in tasks)
    assert found.model(other) == "x"


@for_each(
    "content, problem",
    [
        (b"", "no valid JSON"),
        (b"\xff\xfe\x00", "no valid JSON"),
        (b"[]", "no JSON object"),
        (b"[" * 100_000, "no valid JSON"),
        (b"{}", "names no version"),
        (b'{"version": true}', "names no version"),
        (b'{"version": 2}', "has version 2, and this package reads up to 1"),
        (text()[:-9], "no valid JSON"),
        (text()[: len(text()) // 2], "no valid JSON"),
        (text().replace(b'"version":1', b'"version":7'), "has version 7"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_with_a_remedy(content: bytes, problem: str) -> None:
    with pytest.raises(LineageFileError, match=problem) as error:
        LineageDocument(content)
    assert error.value.remedy


def test_a_damaged_line_costs_its_own_task_alone() -> None:
    damaged = text().replace(b'"load_orders":{"last_at"', b'"load_orders":{last_at')
    found = LineageDocument(damaged)
    assert found.task("score_customers")
    with pytest.raises(LineageFileError, match="no valid JSON"):
        found.task("load_orders")


@for_each("tasks", [[], "x", {"load": []}, {"load": None}, {"load": 3}, None])
def test_a_value_of_another_kind_is_no_task(tasks: Any) -> None:
    for content in (json.dumps({**EMPTY, "tasks": tasks}).encode(),):
        assert LineageDocument(content).task("load") is None


TASK = {"inputs": [], "outputs": []}
SHOP = {
    **EMPTY,
    "jobs": {"shop.ml.score": "score_customers", "shop.gone": "gone"},
    "models": {"orders": "model.shop.orders", "raw.x": "model.shop.x"},
    "tasks": {
        "load": {**TASK, "own": "load"},
        "raw.load": {**TASK, "own": "raw.load"},
        "clean": {**TASK, "own": "clean"},
        "score_customers": {**TASK, "jobs": ["shop.ml.score"]},
        "model.shop.orders": TASK,
    },
}


@for_each(
    "dag, task_id, named, expected",
    [
        ("shop", "ml.score", "", ("score_customers", "job")),
        ("shop", "ml.score", "load", ("load", "params")),
        ("shop", "ml.score", "nobody", None),
        ("shop", "load", "", ("load", "task_id")),
        ("shop", "raw.load", "", ("raw.load", "task_id")),
        ("shop", "raw.deep.clean", "", ("clean", "task_id without group")),
        ("shop", "gone", "", None),
        ("other", "score_customers", "", None),
        ("other", "marts.orders", "", ("model.shop.orders", "dbt model")),
        ("shop", "LOAD", "", None),
        ("", "", "", None),
    ],
)
def test_a_task_is_found_by_the_first_rule_that_has_one(
    dag: str, task_id: str, named: str, expected: tuple[str, str] | None
) -> None:
    found = match(LineageDocument(written(SHOP)), dag, task_id, named)
    assert (found and (found.name, found.rule)) == expected
