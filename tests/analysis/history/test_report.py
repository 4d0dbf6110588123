"""The answer of `graft diff`: a row for each change, by kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.analysis.answer import Table
from dbt_graft.analysis.history.changes import Change, ChangeKind
from dbt_graft.analysis.history.diff import Difference
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.analysis.history.report import DiffTimes, differences_answer
from dbt_graft.lineage.dataset import DatasetId

AT = datetime(2024, 3, 1, tzinfo=UTC)
TIMES = DiffTimes(AT, AT, "1 Mar 2024", "now")
A, B = (DatasetId("spark", f"shop.{name}") for name in "ab")


@pytest.mark.parametrize(("change", "row"), [
    (Change(ChangeKind.OTHER_TASKS, A, B, "", "load", "load, mart"),
     ("~", "spark/shop.a -> spark/shop.b: load -> load, mart", "")),
    (Change(ChangeKind.RENAMED_DATASET, A, B), ("~", "spark/shop.a -> spark/shop.b", "")),
    (Change(ChangeKind.OTHER_TYPE, A, None, "n", "int", "bigint"),
     ("~", "spark/shop.a.n: int -> bigint", "")),
    (Change(ChangeKind.GONE_COLUMN, A, None, "n"), ("-", "spark/shop.a.n", "")),
    (Change(ChangeKind.NEW_TASK, name="load"), ("+", "load", "")),
])  # fmt: skip
def test_each_kind_of_change_has_its_row(change: Change, row: tuple[str, str, str]) -> None:
    (table,) = differences_answer(TIMES, GoneRule(), [Difference(change)]).tables
    assert isinstance(table, Table)
    assert table.rows == [row]


def test_no_differences_are_said_in_words_and_as_an_empty_list() -> None:
    answer = differences_answer(TIMES, GoneRule(), [])
    assert (answer.verdict, answer.tables, answer.grade) == ("no differences", [], "")
    assert answer.data["differences"] == []
