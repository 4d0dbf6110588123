"""Labels: cut in the middle, measured, and different where names are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.catalog.label import NAME_SIZE, NOTE_SIZE, LabelParts, labels, text_width
from tests.cases import for_each

ROOM = 124.0


def _label(name: str, *notes: str, room: float = ROOM) -> tuple[str, str]:
    (label,) = labels([(LabelParts(name, notes, name), room)])
    return label.name, label.note


@for_each(
    "name, room, shown",
    [
        ("orders", ROOM, "orders"),
        ("very_long_name_with_suffix", ROOM, "very_long…th_suffix"),
        ("very_long_name_with_suffix", 400, "very_long_name_with_suffix"),
        ("VERY_LONG_NAME_WITH_SUFFIX", ROOM, "VERY_LO…_SUFFIX"),
        ("illilliillilliillilliil", ROOM, "illilliillilliillilliil"),
        ("", ROOM, ""),
        ("orders", 1, "o…"),
    ],
)
def test_a_name_is_cut_in_the_middle(name: str, room: float, shown: str) -> None:
    assert _label(name, room=room)[0] == shown


@pytest.mark.parametrize(
    ("notes", "shown"),
    [
        (("raw", "Spark", "view"), "raw · Spark · view"),
        (("analytics", "SQL Server", "promoted source"), "analytics · SQL Server"),
        (("a_schema_with_a_name", "SQL Server"), "a_schema_with_a_name"),
        (("a_schema_with_a_very_long_name", "Spark"), "a_schema_…long_name"),
        ((), ""),
    ],
)
def test_the_small_line_has_the_schema_first(notes: tuple[str, ...], shown: str) -> None:
    assert _label("orders", *notes)[1] == shown


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=6))
def test_no_line_is_wider_than_its_room(texts: list[tuple[str, str]]) -> None:
    boxes = [(LabelParts(name, (note, "Spark"), f"{name} {note}"), ROOM) for name, note in texts]
    for label in labels(boxes):
        assert text_width(label.name, NAME_SIZE) <= ROOM
        assert text_width(label.note, NOTE_SIZE) <= ROOM


@pytest.mark.parametrize("same", ["prefix_" * 6, ""])
def test_names_that_differ_in_the_middle_show_where(same: str) -> None:
    names = [f"{same}2023{'_suffix' * 6}", f"{same}2024{'_suffix' * 6}"]
    found = labels([(LabelParts(name, ("raw",), name), ROOM) for name in names])
    assert "2023" in found[0].name
    assert "2024" in found[1].name


def test_upper_case_is_wider() -> None:
    assert text_width("ORDERS", NAME_SIZE) > 1.1 * text_width("orders", NAME_SIZE)
    assert text_width("名", NAME_SIZE) > NAME_SIZE
    assert text_width("e\u0301", NAME_SIZE) == text_width("e", NAME_SIZE)
