"""Gaps of parsing: by reason with one example each, and by task."""

from dataclasses import replace
from typing import Any

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.code import CodeGap, CodeMatch, CodePlace, TaskCode
from dbt_graft.lineage.gaps import (
    WITHOUT_DATA,
    followed_shapes,
    gaps,
    gaps_of_task,
    may_touch_more,
    open_tasks,
)
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Outcome, Records, Reject, Run, Shape
from tests.cases import for_each
from tests.notation import access, edge, statement, table

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


@for_each(
    "outcome, reason, expected",
    [
        (Outcome.PARSED, None, False),
        (FAILED, "took longer than 30 s", True),
        (FAILED, "columns not resolved: x", True),
        (PARTIAL, None, True),
        (PARTIAL, "dynamic SQL not resolved", True),
        (PARTIAL, "what the procedure p does is not known", True),
        (PARTIAL, "what the function f reads is not known", True),
        (PARTIAL, "tables not confirmed: t", True),
        (PARTIAL, "no snapshot says where the data source Lake is", True),
        (PARTIAL, "columns not resolved: those of a file go by their places", False),
        (PARTIAL, "columns: the plan has an unsupported operator", False),
        (PARTIAL, "columns: the log does not show the query; inputs: the list is cut", True),
        (PARTIAL, "inputs: the list of paths is truncated", True),
        (PARTIAL, "a text in double quotes may be a column or a value, by X", False),
    ],
)
def test_a_statement_may_touch_more_unless_only_columns_are_missing(
    outcome: Outcome, reason: str | None, expected: bool
) -> None:
    assert may_touch_more(shape(1, outcome, reason)) is expected


DYNAMIC = Shape("d", "tsql", "EXEC (@s)", "sqlglot", PARTIAL, "dynamic SQL not resolved")
SAYS = "dynamic SQL not resolved (EXEC (@s))"
RUN = Run("load-1", "load", "sqlserver", origin="log")
TWO = (RUN, Run("b-1", "b", "sqlserver", origin="log"), Run("c-1", "c", "sqlserver", origin="c"))
CUT = Reject("log", "1", "it is cut")


def lineage_of(*texts: str, runs: tuple[Run, ...] = (RUN,), **more: Any) -> Lineage:
    """The lineage of statements of `load`; what fills `dyn` is dynamic."""
    accesses = [access for text in texts for access in statement(text)]
    shapes = {
        access.shape_id: replace(DYNAMIC, shape_id=access.shape_id)
        if "dyn <-" in access.shape_id
        else Shape(access.shape_id, "tsql", access.shape_id, "1", Outcome.PARSED)
        for access in accesses
    }
    return build(Records(tuple(accesses), runs, {"d": DYNAMIC, **shapes}, **more))


@for_each(
    "lineage, expected",
    [
        (lineage_of("INSERT b <- a"), {}),
        (lineage_of(runs=(replace(RUN, gaps=("d",)),)), {"load": [SAYS]}),
        (lineage_of("INSERT b <- a", runs=(replace(RUN, gaps=("d",)),)), {"load": [SAYS]}),
        # In another log of the run.
        (lineage_of(runs=(RUN, replace(RUN, origin="b", gaps=("d",)))), {"load": [SAYS]}),
        (lineage_of("INSERT dyn <-"), {"load": [SAYS]}),
        # It fills nothing that lasts.
        (lineage_of("INSERT #dyn <-", "INSERT b <- #dyn"), {"load": [SAYS]}),
        (
            lineage_of("INSERT #dyn <-", "INSERT dyn <-", runs=(replace(RUN, gaps=("d",)),)),
            {"load": [f"3 × {SAYS}"]},
        ),
        (
            lineage_of("INSERT b <- a", rejects=(Reject("log", "1", "the plan cannot be read"),)),
            {"load": ["the plan cannot be read"]},
        ),
        (lineage_of("INSERT b <- a", rejects=(Reject("other", "1", "it is cut"),)), {}),
        # The record may be of each task in an application of Spark, unless its own is known.
        (
            lineage_of(
                runs=tuple(replace(run, engine="spark") for run in TWO),
                rejects=(CUT, replace(CUT, position="2")),
            ),
            {"b": ["it is cut"], "load": ["it is cut"]},
        ),
        (lineage_of(runs=TWO, rejects=(CUT,)), {}),
        (lineage_of(runs=TWO, rejects=(replace(CUT, task="b"),)), {"b": ["it is cut"]}),
        (lineage_of(runs=TWO, rejects=(replace(CUT, task="gone"),)), {}),
        (lineage_of(runs=TWO, rejects=(replace(CUT, reason=f"{WITHOUT_DATA}it"),)), {}),
    ],
)
def test_a_task_is_open_that_may_touch_more_than_is_known(
    lineage: Lineage, expected: dict[str, list[str]]
) -> None:
    assert open_tasks(lineage) == expected


@for_each(
    "runs, gap, expected",
    [
        ((), CodeGap(CodePlace("a.py", 3), "its query is not known"), True),
        ((), CodeGap(CodePlace("a.py", 3), "its columns are not known", ("t",)), False),
        # Logs show what it did.
        ((RUN,), CodeGap(CodePlace("a.py", 3), "its query is not known"), False),
    ],
)
def test_code_leaves_a_task_open_whose_runs_no_log_shows(
    runs: tuple[Run, ...], gap: CodeGap, expected: bool
) -> None:
    match = CodeMatch(TaskCode("a.py", gaps=(gap,)))
    lineage = Lineage(tasks={"load": Task("load", runs=runs)}, codes={"load": match})
    assert open_tasks(lineage) == ({"load": [f"{gap.place}: {gap.reason}"]} if expected else {})


def test_gaps_of_a_task_are_those_of_all_its_statements() -> None:
    lineage = lineage_of("INSERT #dyn <-", "INSERT dyn <-", runs=(replace(RUN, gaps=("d",)),))
    assert [shape.shape_id for shape in gaps_of_task(lineage, "load")] == [
        "INSERT #dyn <-",
        "INSERT dyn <-",
        "d",
    ]
    assert gaps_of_task(lineage, "nobody") == []


@for_each(
    "gap, known",
    [
        (None, True),
        ("columns not resolved: a `*` of an unknown table", True),
        ("dynamic SQL not resolved", False),
    ],
)
def test_of_a_task_that_may_read_more_not_all_columns_are_known(
    gap: str | None, known: bool
) -> None:
    read = Shape("s", "tsql", "SELECT a FROM t", "sqlglot", Outcome.PARSED)
    other = replace(read, shape_id="other", outcome=Outcome.PARTIAL, reason=gap)
    lineage = build(
        Records(
            (access("SELECT", table("t")), access("SELECT", table("u"), shape_id="other")),
            shapes={"s": read, **({"other": other} if gap else {})},
            column_edges=(edge("#rows.a < t.a", shape_id="s"),),
        )
    )
    assert (("load", table("t")) in lineage.known_reads) is known
