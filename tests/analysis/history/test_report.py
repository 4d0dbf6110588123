"""Differences as text and Markdown: what names of logs cannot do to them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.analysis.history.changes import Change, ChangeKind
from dbt_graft.analysis.history.diff import Difference
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.analysis.history.report import (
    DiffTimes,
    differences_json,
    differences_markdown,
    differences_text,
)
from dbt_graft.lineage.dataset import DatasetId

AT = datetime(2024, 3, 1, tzinfo=UTC)
TIMES = DiffTimes(AT, AT, "1 Mar 2024", "now")
A, B = (DatasetId("spark", f"shop.{name}") for name in "ab")


@pytest.mark.parametrize(("change", "line"), [
    (Change(ChangeKind.OTHER_TASKS, A, B, "", "load", "load, mart"),
     "  ~ spark/shop.a -> spark/shop.b: load -> load, mart"),
    (Change(ChangeKind.RENAMED_DATASET, A, B), "  ~ spark/shop.a -> spark/shop.b"),
    (Change(ChangeKind.OTHER_TYPE, A, None, "n", "int", "bigint"),
     "  ~ spark/shop.a.n: int -> bigint"),
    (Change(ChangeKind.GONE_COLUMN, A, None, "n"), "  - spark/shop.a.n"),
    (Change(ChangeKind.NEW_TASK, name="load"), "  + load"),
])  # fmt: skip
def test_each_kind_of_change_has_its_line(change: Change, line: str) -> None:
    *_, last = differences_text(TIMES, [Difference(change)])
    assert last == line


@pytest.mark.parametrize(("name", "shown"), [
    ("plain", "`plain`"),
    ("a`b", "`` a`b ``"),
    ("``", "``` `` ```"),
    ("<script>", "`<script>`"),
    ("two\nlines", "`two lines`"),
])  # fmt: skip
def test_names_stay_code_in_markdown(name: str, shown: str) -> None:
    found = Difference(Change(ChangeKind.NEW_TASK, name=name))
    assert f"- {shown}" in list(differences_markdown(TIMES, [found]))


def test_reasons_are_escaped_in_markdown() -> None:
    found = Difference(Change(ChangeKind.GONE_TASK, name="x"), AT, "a_b *ran* <b>")
    assert "- `x`: 2024-03-01, a\\_b \\*ran\\* \\<b\\>" in list(
        differences_markdown(TIMES, [found])
    )


def test_no_differences_are_said_in_words_and_as_an_empty_list() -> None:
    assert list(differences_text(TIMES, [])) == ["no differences from 1 Mar 2024 to now"]
    assert "No differences." in list(differences_markdown(TIMES, []))
    assert differences_json(TIMES, GoneRule(), [])["differences"] == []
