"""Items by key: order, missing keys, no items."""

from __future__ import annotations

from dbt_graft.lineage.grouping import Grouped


def test_each_key_has_its_items_in_their_order() -> None:
    words = ("stock", "orders", "size", "items", "sales", "order")
    found = Grouped(words, (word[0] for word in words))
    assert {key: list(found[key]) for key in found} == {
        "s": ["stock", "size", "sales"],
        "o": ["orders", "order"],
        "i": ["items"],
    }
    assert ("o" in found, "x" in found, list(found.get("x", ())), len(found)) == (
        True,
        False,
        [],
        3,
    )


def test_no_items_have_no_keys() -> None:
    assert dict(Grouped((), ())) == {}
