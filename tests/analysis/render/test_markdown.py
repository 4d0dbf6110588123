"""Markdown in comments: nothing of a log or of people is markup."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.render.markdown import markdown_table, markdown_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("raw.order_items", r"raw.order\_items"),
        ("a|b", r"a\|b"),
        ("<img src=x>", "&#60;img src=x&#62;"),
        ("@everyone", "&#64;everyone"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_text_is_no_markup(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


def test_a_table_counts_what_it_leaves_out() -> None:
    rows = [(str(number), "x") for number in range(3)]
    assert [*markdown_table(("n", ""), rows[:2], 3)] == [
        "| n |  |",
        "|---|---|",
        "| 0 | x |",
        "| 1 | x |",
        "",
        "… and 1 more.",
        "",
    ]
    assert [*markdown_table(("n",), [], 0)] == []
