"""Several columns under one name."""

from __future__ import annotations

from dbt_graft.collectors.python_code.values.selections import (
    UNSURE,
    both,
    complement,
    either,
    has,
    is_selection,
    like,
    listed,
    names_of,
    names_without,
    with_text,
)
from dbt_graft.lineage.records import ANY_COLUMN
from tests.cases import for_each

_NAMES = ("id", "amount", "amount_eur", "note|s", "7")


@for_each(
    "selection, expected",
    [
        (ANY_COLUMN, "id amount amount_eur note|s 7"),
        (listed(["id", "note|s"]), "id note|s"),
        (complement(listed(["id"])), "amount amount_eur note|s 7"),
        (complement(ANY_COLUMN), ""),
        (like("^am.*$"), "amount amount_eur"),
        (complement(like("^am.*$")), "id note|s 7"),
        (with_text(["am", "note|"]), "amount amount_eur note|s"),
        (with_text(["_eur", "d"], ".*", r"\Z"), "id amount_eur"),
        (both(like("^am.*$"), with_text(["r"], ".*", r"\Z")), "amount_eur"),
        (both(like("^am.*$"), complement(listed(["amount"]))), "amount_eur"),
        (both(complement(listed(["id"])), complement(listed(["7"]))), "amount amount_eur note|s"),
        (either(listed(["id"]), like("^7$")), "id 7"),
        (either(listed(["id"]), complement(listed(["id", "7"]))), "id amount amount_eur note|s"),
        # It may be any.
        (UNSURE, "id amount amount_eur note|s 7"),
        (complement(UNSURE), "id amount amount_eur note|s 7"),
        (either(UNSURE, listed(["id"])), "id amount amount_eur note|s 7"),
        (like("^(a+)+$"), "id amount amount_eur note|s 7"),
        (like("^[$"), "id amount amount_eur note|s 7"),
    ],
)
def test_the_columns_of_a_selection(selection: str, expected: str) -> None:
    assert is_selection(selection)
    assert " ".join(name for name in _NAMES if has(selection, name)) == expected


@for_each(
    "selection, names, without",
    [
        (listed(["a", "b"]), ["a", "b"], None),
        (both(listed(["a", "b"]), complement(listed(["b"]))), ["a"], None),
        (either(listed(["a"]), listed(["b", "a"])), ["a", "b"], None),
        (ANY_COLUMN, None, []),
        (complement(listed(["a", "b"])), None, ["a", "b"]),
        (both(ANY_COLUMN, complement(listed(["a"]))), None, ["a"]),
        (like("^a$"), None, None),
        (UNSURE, None, None),
    ],
)
def test_names_that_are_listed_are_known_without_a_frame(
    selection: str, names: list[str] | None, without: list[str] | None
) -> None:
    assert (names_of(selection), names_without(selection)) == (names, without)
