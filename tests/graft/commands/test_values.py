from __future__ import annotations

from datetime import timedelta

import click
import pytest

from dbt_graft.graft.commands.values import Duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("90s", timedelta(seconds=90)),
        ("10m", timedelta(minutes=10)),
        (" 1.5H ", timedelta(minutes=90)),
        ("7 d", timedelta(days=7)),
        ("1w", timedelta(days=7)),
    ],
)
def test_durations_are_numbers_with_a_unit(text: str, duration: timedelta) -> None:
    assert Duration().convert(text, None, None) == duration


@pytest.mark.parametrize("text", ["", "10", "-1m", "m", "1mo", "1e3s", "٣m", "9m9m"])
def test_anything_else_is_an_error_with_examples(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write 90s, 10m, 26h or 7d"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize("text", ["9999999d", "12345678901234 D", "0.1234s"])
def test_a_duration_of_too_many_digits_is_told_the_limit(text: str) -> None:
    with pytest.raises(click.BadParameter, match="at most six, and three after a point"):
        Duration().convert(text, None, None)
