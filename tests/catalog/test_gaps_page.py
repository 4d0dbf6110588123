"""The page of rejected log records and of statements that were not parsed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.catalog.html_reader import section

PageHtml = Callable[[str], str]


@pytest.mark.parametrize(
    ("heading", "texts"),
    [
        (
            "Rejected log records",
            ["the event is cut off", "event 17", '<event name="rpc_comp'],
        ),
        (
            "Statements not parsed completely",
            ["EXEC sys.sp_something", "is in no log", "not parsed", "parsed in part"],
        ),
        ("Columns of dbt models", ["it is not compiled", "1", "analytics.customers"]),
    ],
)
def test_a_section_lists(page: PageHtml, heading: str, texts: list[str]) -> None:
    shown = section(page("gaps/"), heading)
    assert [part for part in texts if part not in shown] == []
