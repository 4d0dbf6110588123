"""Links between pages: the shortest way, and nothing else of the page changes."""

from __future__ import annotations

from dbt_graft.catalog.links import shorten_links
from tests.cases import for_each


@for_each(
    "path, link, short",
    [
        ("a/b/c/", "../../../a/b/d/index.html#x", "../d/index.html#x"),
        ("a/b/c/", "../../../a/b/c/index.html", "../c/index.html"),
        ("a/b/c/", "../../../a/index.html", "../../index.html"),
        ("a/b/c/", "../../../ab/index.html", "../../../ab/index.html"),
        ("a/b/c/", "../../../tasks/load/index.html", "../../../tasks/load/index.html"),
        ("tasks/", "../datasets/index.html", "../datasets/index.html"),
        ("", "datasets/index.html", "datasets/index.html"),
    ],
)
def test_a_link_takes_the_shortest_way(path: str, link: str, short: str) -> None:
    assert shorten_links(f'<a href="{link}">{link}</a>', path) == f'<a href="{short}">{link}</a>'
