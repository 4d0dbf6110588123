"""Age of data: that of the oldest source that is written often enough, by small graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.history.data_age import WriteHistory, data_age
from dbt_graft.lineage.dataset import DatasetId

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = 24


def dataset(name: str) -> DatasetId:
    return DatasetId("db", name)


@pytest.mark.parametrize(
    ("hours", "parents", "most", "age", "source", "unknown"),
    [
        pytest.param(
            {"a": [30], "b": [1]}, {"b": "a"}, DAY, 30, "a", "", id="as old as its source"
        ),
        pytest.param({"b": [1]}, {"b": "a"}, DAY, 1, "b", "a", id="of a source nothing is known"),
        pytest.param({"b": [1]}, {}, DAY, 1, "b", "", id="a source is as old as its write"),
        pytest.param(
            {"a": [1, 30], "b": [2]}, {"b": "a"}, DAY, 2, "b", "", id="newer data is not in it yet"
        ),
        pytest.param(
            {"a": [1, 40], "b": [30], "c": [2]},
            {"c": "b", "b": "a"},
            DAY, 30, "b", "", id="one between that stopped",
        ),
        pytest.param(
            {"a": [200, 900, 1600], "b": [1]}, {"b": "a"}, DAY, 1, "b", "",
            id="a source that is written each month is not old",
        ),
        pytest.param(
            {"a": [30, 54, 78], "b": [1]}, {"b": "a"}, DAY, 30, "a", "",
            id="one that is written each day is",
        ),
        pytest.param(
            {"a": [30], "b": [2], "c": [1]}, {"c": "ab"}, DAY, 30, "a", "", id="the oldest of two"
        ),
        pytest.param(
            {"a": [30], "view": [500]}, {"view": "a"}, DAY, 30, "a", "",
            id="a view holds what is behind it",
        ),
        pytest.param(
            {"a": [3], "c": [1]}, {"c": "b", "b": "a"}, DAY, 3, "a", "b",
            id="what is not known between is no newer than its source",
        ),
        pytest.param({}, {"b": "a"}, DAY, None, "b", "ab", id="nothing is known"),
        pytest.param({"a": [9]}, {"b": "a"}, DAY, 9, "a", "b", id="of itself no write is known"),
        pytest.param(
            {"a": [30, 54, 78], "b": [1, 25, 49]}, {"b": "a"}, None, 30, "a", "",
            id="nobody says what is old: a source is written as often",
        ),
        pytest.param(
            {"a": [200, 900, 1600], "b": [1, 25, 49]}, {"b": "a"}, None, 1, "b", "",
            id="nobody says what is old: a source is written each month",
        ),
        pytest.param(
            {"a": [200, 900, 1600], "b": [1]}, {"b": "a"}, None, 200, "a", "",
            id="nobody says what is old, and how often it is written is not known",
        ),
        pytest.param({"a": [1], "b": [1]}, {"a": "b", "b": "a"}, DAY, 1, "b", "", id="a circle"),
    ],
)  # fmt: skip
def test_data_is_as_old_as_the_oldest_source(
    hours: Mapping[str, Sequence[int]],
    parents: Mapping[str, str],
    most: int | None,
    age: int | None,
    source: str,
    unknown: str,
) -> None:
    finished = {
        dataset(name): sorted(NOW - timedelta(hours=ago) for ago in agos)
        for name, agos in hours.items()
    }
    history = WriteHistory(
        finished,
        lambda child: [dataset(parent) for parent in parents.get(child.name, "")],
        {dataset("view")},
    )
    asked = next(name for name in ("view", "c", "b") if name in {*parents, *hours})
    found_age = data_age(history, dataset(asked), timedelta(hours=most) if most else None, NOW)
    assert found_age.at == (None if age is None else NOW - timedelta(hours=age))
    assert found_age.source == dataset(source)
    assert [name.name for name in found_age.unknown] == [*unknown]
