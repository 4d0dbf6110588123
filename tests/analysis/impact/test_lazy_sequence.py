"""A lazy sequence is like the tuple of its elements, and makes those only that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dbt_graft.analysis.impact.lazy_sequence import LazySequence
from tests.cases import for_each

SQUARES = (9, 1, 4)


@for_each(
    "ask",
    [
        len,
        tuple,
        list,
        bool,
        repr,
        hash,
        lambda some: some[0],
        lambda some: some[-1],
        lambda some: some[1:],
        lambda some: some[:0],
        lambda some: 4 in some,
        lambda some: some == SQUARES,
        lambda some: some == (9, 1),
        lambda some: some == {9, 1, 4},
        lambda some: [*reversed(some)],
    ],
)
def test_it_answers_as_a_tuple(ask: Callable[[Sequence[int]], object]) -> None:
    assert ask(LazySequence([3, 1, 2], lambda one: one * one)) == ask(SQUARES)


def test_only_what_is_asked_for_is_made() -> None:
    made: list[int] = []
    sequence = LazySequence(range(1000), lambda one: made.append(one) or one)  # type: ignore[func-returns-value]
    assert (len(sequence), sequence[7], next(iter(sequence))) == (1000, 7, 0)
    assert made == [7, 0]
