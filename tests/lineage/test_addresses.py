"""Addresses over several builds: none is given up."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.lineage.addresses import Address, present_path, update_addresses
from tests.cases import for_each

MONDAY, TUESDAY, FRIDAY = (datetime(2026, 11, day, tzinfo=UTC) for day in (16, 17, 20))
ORDERS, SALES = "datasets/spark/raw/orders/", "datasets/spark/raw/sales/"


def test_what_is_new_has_the_date_of_its_first_build() -> None:
    first = update_addresses((), {ORDERS: "raw.orders"}, {}, MONDAY)
    assert first == (Address(ORDERS, "raw.orders", MONDAY),)
    assert update_addresses(first, {ORDERS: "raw.orders"}, {}, TUESDAY) == first


def test_what_is_gone_stays_with_its_title_and_the_date_when_it_was_missed_first() -> None:
    known = (Address(ORDERS, "raw.orders", MONDAY),)
    gone = update_addresses(known, {}, {}, TUESDAY)
    assert gone == (Address(ORDERS, "raw.orders", MONDAY, True, TUESDAY),)
    assert update_addresses(gone, {}, {}, FRIDAY) == gone


def test_what_comes_back_has_its_page_again() -> None:
    gone = (Address(ORDERS, "raw.orders", MONDAY, True, TUESDAY),)
    assert update_addresses(gone, {ORDERS: "raw.orders"}, {}, FRIDAY) == (
        Address(ORDERS, "raw.orders", MONDAY),
    )


def test_a_move_is_remembered_when_its_reason_is_gone() -> None:
    known = (Address(ORDERS, "raw.orders", MONDAY),)
    moved = update_addresses(known, {SALES: "raw.sales"}, {ORDERS: SALES}, TUESDAY)
    assert moved == (
        Address(ORDERS, "raw.orders", MONDAY, True, TUESDAY, SALES),
        Address(SALES, "raw.sales", TUESDAY),
    )
    assert update_addresses(moved, {SALES: "raw.sales"}, {}, FRIDAY) == moved


def test_a_former_name_that_was_never_published_leads_on_too() -> None:
    assert update_addresses((), {SALES: "raw.sales"}, {ORDERS: SALES}, MONDAY) == (
        Address(ORDERS, "raw.sales", MONDAY, True, MONDAY, SALES),
        Address(SALES, "raw.sales", MONDAY),
    )


@for_each(
    "moves, expected",
    [
        ({"a": "b"}, "b"),
        ({"a": "x", "x": "y", "y": "b"}, "b"),
        ({"a": "x", "x": ""}, ""),
        ({"a": "x", "x": "a"}, ""),
        ({"a": "nowhere"}, ""),
        ({"a": ""}, ""),
    ],
)
def test_an_address_leads_to_the_end_of_its_moves(moves: dict[str, str], expected: str) -> None:
    addresses = {"b": Address("b", "b")}
    for path, target in moves.items():
        addresses[path] = Address(path, path, is_gone=True, moved_to=target)
    assert present_path(addresses["a"], addresses) == expected
