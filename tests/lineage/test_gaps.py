"""Gaps of parsing, grouped by reason with one example each."""

from dataclasses import replace

from dbt_graft.lineage.gaps import followed_shapes, gaps
from dbt_graft.lineage.records import Outcome, Shape

PARTIAL, FAILED = Outcome.PARTIAL, Outcome.FAILED


def shape(number: int, outcome: Outcome, reason: str | None, text: str = "SELECT ?") -> Shape:
    return Shape(f"1-{number}", "tsql", text, "sqlglot", outcome, reason)


def test_failures_come_first_and_what_is_frequent_before_what_is_rare() -> None:
    found = gaps(
        [
            shape(1, PARTIAL, "no columns"),
            shape(2, PARTIAL, "no columns"),
            shape(3, PARTIAL, "other tables"),
            shape(4, FAILED, "took longer than 30 s"),
            shape(5, FAILED, "crashed the parser"),
            shape(6, FAILED, "crashed the parser"),
            shape(7, Outcome.PARSED, None),
        ]
    )
    assert [(gap.outcome, gap.reason, gap.shapes) for gap in found] == [
        (FAILED, "crashed the parser", 2),
        (FAILED, "took longer than 30 s", 1),
        (PARTIAL, "no columns", 2),
        (PARTIAL, "other tables", 1),
    ]


def test_the_example_is_the_shortest_whatever_the_order() -> None:
    texts = ["SELECT a, b FROM t", "SELECT c", "SELECT b", "SELECT a FROM t"]
    shapes = [shape(n, FAILED, "why", text) for n, text in enumerate(texts)]
    assert [gap.example for gap in gaps(shapes)] == ["SELECT b"]
    assert gaps(shapes) == gaps(reversed(shapes))


def test_a_reason_that_is_missing_is_the_outcome() -> None:
    found = gaps([shape(1, FAILED, None), shape(2, PARTIAL, None)])
    assert [gap.reason for gap in found] == ["could not be parsed", "parsed in part"]


def test_where_all_is_parsed_there_is_no_gap() -> None:
    assert gaps([shape(1, Outcome.PARSED, None)]) == ()


def test_only_what_was_parsed_whole_has_all_its_columns() -> None:
    shapes = [shape(1, Outcome.PARSED, None), shape(2, PARTIAL, "why"), shape(3, FAILED, "why")]
    shapes.append(replace(shape(4, Outcome.PARSED, None), parser="openlineage"))
    shapes.append(replace(shape(5, Outcome.PARSED, None), parser="plan"))
    assert followed_shapes(shapes) == {"1-1", "1-5"}
