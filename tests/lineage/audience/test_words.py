"""Text that names what is hidden."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dbt_graft.lineage.audience.words import hidden_words, without
from dbt_graft.lineage.dataset import DatasetId

CUSTOMERS, PAY, SHOPS = (
    DatasetId("spark", name) for name in ("raw.customers", "hr.pay", "raw.shops")
)
WORDS = hidden_words(
    {CUSTOMERS: {"email", "country", "e-mail address"}, PAY: {"id", "amount"}},
    {PAY},
    # Other tables have a country and an id.
    {"country", "id", "raw.shops", "raw", "shops"},
)


@pytest.mark.parametrize(
    ("text", "near", "expected"),
    [
        ("select email from raw.customers", (), True),
        ("select EMAIL", (), True),
        ("select email_count", (), False),
        ("join hr.pay", (), True),
        ("payments", (), False),
        # A name that is visible elsewhere is hidden where it is about that table.
        ("select country", (), False),
        ("select country", (CUSTOMERS,), True),
        ("select country", (SHOPS,), False),
        ("the `e-mail address` of all", (), True),
        ("the address of an e-mail", (), False),
        ("", (CUSTOMERS, PAY), False),
    ],
)
def test_text_that_names_it(text: str, near: tuple[DatasetId, ...], *, expected: bool) -> None:
    assert WORDS.mentions(near)(text) is expected


@pytest.mark.parametrize(
    ("name", "near", "expected"),
    [
        ("not_null_customers_email", (), True),
        ("test.shop.not_null_customers_email.5c9bf9911d", (), True),
        ("not_null_shops_country", (SHOPS,), False),
        ("not_null_customers_country", (CUSTOMERS,), True),
        ("not_null_customers_emails", (), False),
    ],
)
def test_names_that_are_put_together(
    name: str, near: tuple[DatasetId, ...], *, expected: bool
) -> None:
    assert WORDS.parts(near)(name) is expected


@dataclass(frozen=True)
class Note:
    name: str
    text: str
    more: tuple[str, ...] = ()
    count: int = 0


def test_a_record_keeps_its_key_and_what_names_nothing() -> None:
    note = Note("email", "an email", ("a country", "hr.pay"), 3)
    assert without(note, WORDS.mentions()) == Note("email", "", ("a country", ""), 3)
    clean = Note("a", "b")
    assert without(clean, WORDS.mentions()) is clean
