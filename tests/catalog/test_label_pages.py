"""The pages of tags and owners."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt_graft.catalog.label_pages import Label, listed_labels
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


def label(name: str, uses: int = 1) -> Label:
    """A label with a number of uses."""
    return Label(name, f"tags/{name}/", (), tuple(f"task_{n}" for n in range(uses)))


def names(labels: list[Label], *hidden: str) -> tuple[list[str], dict[str, list[str]]]:
    """The names of single labels, and those of each group."""
    found = listed_labels(labels, hidden)
    groups = {group.prefix: [one.name for one in group.labels] for group in found.groups}
    return [one.name for one in found.single], groups


def test_those_used_most_come_first() -> None:
    assert names([label("a"), label("c", 3), label("b", 3)])[0] == ["b", "c", "a"]


def test_many_of_one_prefix_are_a_group() -> None:
    tasks = [label(f"task:{n}") for n in "wxyz"]
    expected = ["task:w", "task:x", "task:y", "task:z"]
    assert names([*tasks, label("daily")]) == (["daily"], {"task": expected})


@pytest.mark.parametrize(
    "labels", [["task:a", "task:b", "task:c"], [":a", ":b", ":c", ":d"], ["a", "b", "c", "d"]]
)
def test_few_of_one_prefix_and_those_without_one_stand_by_themselves(labels: list[str]) -> None:
    assert names([label(one) for one in labels]) == (labels, {})


def test_patterns_hide_labels() -> None:
    labels = [label(one) for one in ("task:a", "tmp", "Tmp", "tmp2", "a[b]")]
    assert names(labels, "task:*", "tmp")[0] == ["Tmp", "a[b]", "tmp2"]


def test_all_of_them_are_counted() -> None:
    labels = listed_labels([*(label(f"task:{n}") for n in range(200)), label("daily")])
    assert (len(labels), bool(listed_labels([]))) == (201, False)


def test_anchors_of_groups_differ_and_hold_no_syntax() -> None:
    prefixes = ["Team", "team", 'a"><b', "Größe"]
    labels = listed_labels([label(f"{prefix}:{n}") for prefix in prefixes for n in range(4)])
    anchors = {group.anchor for group in labels.groups}
    assert len(anchors) == len(prefixes)
    assert all(set(anchor) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.") for anchor in anchors)
