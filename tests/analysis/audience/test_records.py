"""Records without text and names of what is hidden."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from dbt_graft.analysis.audience.records import Pseudonyms, blank_text, rename_keys
from dbt_graft.analysis.audience.words import hidden_words
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Status

PAY, CUSTOMERS = DatasetId("spark", "hr.pay"), DatasetId("spark", "raw.customers")
WORDS = hidden_words(
    {CUSTOMERS: {"email", "order_day"}}, {PAY}, {"raw", "customers", "raw.order-day"}
)


@dataclass(frozen=True)
class Note:
    name: str
    text: str
    more: tuple[str, ...] = ()
    count: int = 0
    ids: dict[str, str] = field(default_factory=dict)
    about: DatasetId = CUSTOMERS
    status: Status = Status.OK


def test_a_record_keeps_its_key_and_what_names_nothing() -> None:
    note = Note("email", "an email", ("a country", "hr.pay"), 3)
    assert blank_text(note, WORDS.mentions()) == Note("email", "", ("a country",), 3)
    clean = Note("a", "b")
    assert blank_text(clean, WORDS.mentions()) is clean


def test_keys_have_the_same_other_name_everywhere() -> None:
    names = Pseudonyms(WORDS)
    note = Note("load_pay", "x", ("load_pay", "load"), ids={"load_pay": "run of load_pay"})
    again = rename_keys(note, names)
    (other,) = again.ids
    assert again == Note(other, "x", (other, "load"), ids={other: f"run of {other}"})
    assert names("load_pay") == other
    assert "pay" not in f"{again}"


def test_a_record_without_hidden_names_is_itself() -> None:
    note = Note("load", "x", ("load",), ids={"a": "b"})
    assert rename_keys(note, Pseudonyms(WORDS)) is note


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("model.shop.pay", "model.shop.left_out_1"),
        ("jobs/Pay/email.py", "jobs/left_out_1/left_out_2.py"),
        ("e%6Dail", "left_out_1"),
        ("customers", "customers"),
        # Something visible is called so.
        ("raw.Order-Day", "raw.Order-Day"),
        ("load-order-day", "left_out_1"),
    ],
)
def test_only_the_words_that_name_it_are_replaced(key: str, expected: str) -> None:
    assert Pseudonyms(WORDS)(key) == expected


def test_digests_of_hidden_text_are_replaced_too_and_numbered_apart() -> None:
    names = Pseudonyms(WORDS)
    names.hide(["5c9bf9911d", "0a9bf9911e"])
    assert names("5c9bf9911d") == "left_out_text_00000000"
    assert names("email") == "left_out_1"
