"""The explorer's layout in a browser: that of `catalog/layout.py`, and boxes that stay in place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from dbt_graft.catalog.explorer.opening import SIZES as EXPLORER
from dbt_graft.catalog.layout import Layout, Sizes, layout
from tests.cases import for_each

pytestmark = pytest.mark.browser

_SCRIPTS = (
    "layout",
    "data",
    "state",
    "element",
    "walk",
    "paths",
    "fold",
    "views",
    "place",
    "lines",
)
_LAYOUT = """([nodes, edges, sizes, wanted]) => {
    const widths = wanted && new Map(Object.entries(wanted))
    const found = graft.explore.layout(nodes, edges, sizes, widths)
    return {
        width: found.width, height: found.height,
        corners: Object.fromEntries([...found.corners].map(([id, p]) => [id, [p.x, p.y]])),
        widths: Object.fromEntries(found.widths),
        routes: Object.fromEntries([...found.routes].map(
            ([key, route]) => [key, route.map(p => [p.x, p.y])])),
    }
}"""
_VIEW = """
    const view = (ids, pairs) => ({
        boxes: new Map(ids.map(id => [id, {id, name: id, note: "", shape: "table", wanted: 150}])),
        arrows: pairs.map(([source, target]) => ({source, target, flags: 0, both: false})),
        cut: false, fixed: null, way: null,
    })
    const seen = scene => Object.fromEntries([...scene.view.boxes.keys()].map(
        id => [id, [scene.places.get(id).x, scene.places.get(id).y, scene.places.get(id).width]]))
"""
Edges = list[tuple[str, str]]


@pytest.fixture(scope="module")
def page(browser: Browser, root: Path) -> Iterator[Page]:
    """An empty page with the explorer's scripts."""
    page = browser.new_page()
    for name in _SCRIPTS:
        page.add_script_tag(path=root / "site/scripts/explore" / f"{name}.js")
    yield page
    page.close()


def _graph(seed: int) -> tuple[list[str], Edges]:
    """A graph of any shape: sparse or dense, with cycles and edges to a node itself or not."""
    chance = random.Random(seed)  # noqa: S311
    count = chance.choice([1, 2, 7, 20, 60, 150])
    names = [f"n{at}" for at in range(count)]
    chance.shuffle(names)
    density = chance.choice([0.5, 1, 2, 4])
    edges = [
        (names[a], names[b])
        for a, b in combinations(range(count), 2)
        if chance.random() < density / count
    ]
    if seed % 3 == 0:
        edges += [(b, a) for a, b in edges if chance.random() < 0.2]
        edges += [(name, name) for name in names[::9]]
    chance.shuffle(edges)
    return names, edges + edges[:3]


def _as_json(found: Layout[str]) -> dict[str, Any]:
    return {
        "width": found.width,
        "height": found.height,
        "corners": {id_: [p.x, p.y] for id_, p in found.corners.items()},
        "widths": dict(found.widths),
        "routes": {f"{a} {b}": [[p.x, p.y] for p in r] for (a, b), r in found.routes.items()},
    }


@pytest.mark.parametrize("sizes", [Sizes(), EXPLORER, Sizes(room=600)], ids=["page", "wide", "few"])
@for_each("seed", range(80), quick=20)
def test_a_browser_lays_out_a_graph_as_the_pictures_are(
    page: Page, sizes: Sizes, seed: int
) -> None:
    names, edges = _graph(seed)
    chance = random.Random(seed)  # noqa: S311
    wanted = {name: chance.uniform(60, 400) for name in names} if seed % 2 else None
    expected = _as_json(layout(names, edges, sizes, wanted))
    fields = {name: getattr(sizes, name) for name in Sizes.__slots__}
    assert page.evaluate(_LAYOUT, [names, edges, fields, wanted]) == expected


def test_the_sizes_are_those_of_the_opening_view(page: Page) -> None:
    found = page.evaluate("graft.explore.SIZES")
    assert found == {name: getattr(EXPLORER, name) for name in Sizes.__slots__}


@for_each("seed", range(12))
def test_what_is_there_stays_where_it_is_and_new_boxes_overlap_nothing(
    page: Page, seed: int
) -> None:
    names, edges = _graph(seed + 3)
    first = sorted(names)[: max(1, len(names) // 2)]
    before, after = page.evaluate(
        f"""([some, all, edges]) => {{
            {_VIEW}
            const there = pair => pair.every(id => some.includes(id))
            const old = graft.explore.placed(view(some, edges.filter(there)), null, false)
            const now = graft.explore.placed(view(all, edges), old, false)
            return [seen(old), seen(now)]
        }}""",
        [first, names, [edge for edge in edges if edge[0] != edge[1]]],
    )
    assert after.keys() == set(names)
    assert {id_: after[id_] for id_ in first} == before
    new = [id_ for id_ in names if id_ not in before]
    for id_ in new:
        x, y, width = after[id_]
        for other, (left, top, wide) in after.items():
            apart = x >= left + wide or left >= x + width or abs(y - top) >= 42
            assert other == id_ or apart, (id_, other)


def test_a_box_that_comes_back_is_where_it_was(page: Page) -> None:
    before, after = page.evaluate(
        f"""() => {{
            {_VIEW}
            const edges = [["a", "b"], ["b", "c"], ["b", "d"]]
            const old = graft.explore.placed(view([..."abcd"], edges), null, false)
            const few = [["a", "b"], ["b", "d"]]
            const less = graft.explore.placed(view([..."abd"], few), old, false)
            return [seen(old), seen(graft.explore.placed(view([..."abcd"], edges), less, false))]
        }}"""
    )
    assert after == before


def test_tidying_up_lays_all_out_anew(page: Page) -> None:
    before, after = page.evaluate(
        f"""() => {{
            {_VIEW}
            const edges = [["a", "b"], ["b", "c"], ["x", "b"]]
            const old = graft.explore.placed(view([..."ab"], [["a", "b"]]), null, false)
            const more = graft.explore.placed(view([..."abcx"], edges), old, false)
            const fresh = graft.explore.placed(view([..."abcx"], edges), null, false)
            return [seen(fresh), seen(graft.explore.placed(view([..."abcx"], edges), more, true))]
        }}"""
    )
    assert after == before


@pytest.mark.parametrize("hash_", [
    "#dataset=spark/raw/orders&up=2&down=2&columns=amount",
    "#task=load_orders&up=0&down=20",
    "#dataset=file/a/b&up=2&down=1&open=file/a/b>,<@load&unfold=file/a/b&hide=x/y&path=a/b,c/d"
    "&tasks=0&control=0&inferred=0&deleted=1&fold=owner&owner=Data%20%26%20more%2C%20Ltd&tag=x,y",
    "",
])  # fmt: skip
def test_the_address_keeps_what_is_shown(page: Page, hash_: str) -> None:
    again = "hash => graft.explore.writeState(graft.explore.readState(hash))"
    assert page.evaluate("decodeURIComponent", page.evaluate(again, hash_)) == page.evaluate(
        "decodeURIComponent", hash_
    )
    assert page.evaluate(again, page.evaluate(again, hash_)) == page.evaluate(again, hash_)


@for_each("hash_, name, value", [
    ("#dataset=/datasets/spark/raw/orders/index.html", "start", "spark/raw/orders"),
    ("#dataset=a&up=x&down=-3", "up", 2),
    ("#dataset=a&down=999", "down", 20),
    ("#dataset=%E0%A4%A", "start", "%E0%A4%A"),
    ("#fold=everything", "fold", ""),
    ("#__proto__=x&constructor=y&tasks=maybe", "tasks", True),
])  # fmt: skip
def test_an_address_written_by_hand_is_read_as_far_as_it_goes(
    page: Page, hash_: str, name: str, value: object
) -> None:
    assert page.evaluate("hash => graft.explore.readState(hash)", hash_)[name] == value
