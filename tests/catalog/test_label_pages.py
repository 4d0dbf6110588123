"""The pages of tags and owners."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.catalog.html_reader import section, text

PageHtml = Callable[[str], str]


@pytest.mark.parametrize(
    ("path", "heading", "texts"),
    [
        ("tags/nightly/", "Tasks", ["land_shop_files"]),
        ("tags/nightly/", "Datasets", ["raw.orders", "analytics.orders"]),
        ("owners/finance/", "Tasks", ["revenue_dashboard"]),
    ],
)
def test_a_section_lists(page: PageHtml, path: str, heading: str, texts: list[str]) -> None:
    shown = section(page(path), heading)
    assert [part for part in texts if part not in shown] == []


@pytest.mark.parametrize(
    ("path", "labels"),
    [("tags/", ["hourly", "marts", "nightly"]), ("owners/", ["analytics", "data-platform"])],
)
def test_the_list_has_every_label(page: PageHtml, path: str, labels: list[str]) -> None:
    shown = text(page(path))
    assert [label for label in labels if label not in shown] == []
