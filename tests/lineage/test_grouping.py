"""Items by key: order, missing keys, no items."""

from __future__ import annotations

from dbt_graft.lineage.grouping import Grouped


def test_each_key_has_its_items_in_their_order() -> None:
    words = ("stock", "orders", "size", "items", "sales", "order")
    grouped = Grouped(words, (word[0] for word in words))
    assert {key: list(grouped[key]) for key in grouped} == {
        "s": ["stock", "size", "sales"],
        "o": ["orders", "order"],
        "i": ["items"],
    }
    assert ("o" in grouped, "x" in grouped, list(grouped.get("x", ())), len(grouped)) == (
        True,
        False,
        [],
        3,
    )


def test_no_items_have_no_keys() -> None:
    assert dict(Grouped((), ())) == {}
