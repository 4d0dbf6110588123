"""Tasks before and since a base: what is new and gone, and what says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.task_runs import runs_beyond, runs_since
from dbt_graft.analysis.review.task_version import task_versions
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.event_runs import EVENT_SHAPE
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Outcome, Status, Subtype
from tests.analysis.review.task_history import BASE, Did, Ran, records, reviews, said, table
from tests.cases import for_each

FILTER, JOIN, GROUP_BY = Subtype.FILTER, Subtype.JOIN, Subtype.GROUP_BY
PLAIN = Did("t", "a", columns={"x": "a.x", "y": "a.y"})
COPY = Did("u", "b")


@for_each(
    "before, after, expected",
    [
        ([PLAIN], [PLAIN], []),
        ([PLAIN], [replace(PLAIN, sources="a b")], ["ROWS now reads spark/b"]),
        ([Did("t", "a b")], [Did("t", "a")], ["ROWS no longer reads spark/b"]),
        (
            [PLAIN, COPY],
            [PLAIN],
            ["BREAKING no longer writes spark/u, nor does anybody else"],
        ),
        ([PLAIN], [PLAIN, COPY], ["ADDITIVE writes spark/u, which is new"]),
        (
            [PLAIN, COPY],
            [PLAIN, replace(COPY, sources="a b")],
            ["ROWS now reads spark/a for spark/u"],
        ),
        (
            [PLAIN],
            [replace(PLAIN, columns={"x": "a.z", "y": "a.y"})],
            ["VALUES x comes from spark/a.z now; no longer comes from spark/a.x"],
        ),
        (
            [PLAIN],
            [replace(PLAIN, columns={"x": "a.x", "y": "a.y", "n": "a.z"})],
            ["ADDITIVE n added"],
        ),
        ([PLAIN], [replace(PLAIN, rows={FILTER: "a.d"})], ["ROWS other filters of spark/t"]),
        ([replace(PLAIN, rows={JOIN: "a.d"})], [PLAIN], ["ROWS other joins of spark/t"]),
        (
            [replace(PLAIN, rows={GROUP_BY: "a.d"})],
            [replace(PLAIN, rows={GROUP_BY: "a.e"})],
            ["ROWS another grain: GROUP BY of spark/t"],
        ),
        (
            [replace(PLAIN, how=Operation.INSERT_OVERWRITE)],
            [PLAIN],
            ["ROWS writes spark/t by INSERT, no longer by INSERT OVERWRITE"],
        ),
        # The same tables, columns and operations: another text.
        (
            [PLAIN],
            [replace(PLAIN, text="v2")],
            ["UNKNOWN writes spark/t by other statements, with the same tables and columns"],
        ),
        (
            [PLAIN],
            [PLAIN, replace(PLAIN, text="v2")],
            ["UNKNOWN writes spark/t by other statements, with the same tables and columns"],
        ),
        (
            [Did("", "a", how=Operation.SELECT)],
            [Did("", "a", "v2", Operation.SELECT)],
            ["UNKNOWN reads by other statements, of the same tables and columns"],
        ),
        # A change of the output explains its statements, and not those of others.
        (
            [PLAIN, COPY],
            [replace(PLAIN, rows={FILTER: "a.d"}), replace(COPY, text="v2")],
            [
                "UNKNOWN writes spark/u by other statements, with the same tables and columns",
                "ROWS other filters of spark/t",
            ],
        ),
        (
            [PLAIN],
            [replace(PLAIN, columns={}, outcome=Outcome.PARTIAL)],
            [
                "UNKNOWN writes spark/t by other statements, not all of which are understood: "
                "partial"
            ],
        ),
        # Plans have no text: the columns of each run count.
        (
            [replace(PLAIN, dialect="spark-plan")],
            [replace(PLAIN, dialect="spark-plan", columns={"x": "a.y", "y": "a.y"})],
            ["VALUES x comes from spark/a.y now; no longer comes from spark/a.x"],
        ),
    ],
)
def test_what_a_task_does_otherwise(
    before: list[Did], after: list[Did], expected: list[str]
) -> None:
    assert said(Ran(-2, before), Ran(-1, before), Ran(1, after)) == expected


OTHER = replace(PLAIN, columns={"x": "a.z", "y": "a.y"})
CHANGED = "VALUES x comes from spark/a.z now; no longer comes from spark/a.x"


@for_each(
    "runs, expected",
    [
        # It has not run since, or failed: it says nothing.
        ([Ran(-1, [PLAIN])], []),
        ([Ran(-1, [PLAIN]), Ran(1, [OTHER], Status.FAILED)], []),
        ([Ran(-1, [PLAIN]), Ran(1, [], Status.FAILED), Ran(2, [OTHER])], [CHANGED]),
        # A run that is not over yet shows what is new, and not what is gone.
        (
            [Ran(-1, [PLAIN, COPY]), Ran(1, [OTHER], Status.UNKNOWN, is_over=False)],
            ["VALUES x comes from spark/a.z now"],
        ),
        (
            [Ran(-1, [PLAIN, COPY]), Ran(1, [OTHER], Status.UNKNOWN)],
            ["BREAKING no longer writes spark/u, nor does anybody else", CHANGED],
        ),
        # A failed run before is no news: what it tried is new when it works.
        (
            [Ran(-2, [PLAIN]), Ran(-1, [COPY], Status.FAILED), Ran(1, [PLAIN, COPY])],
            ["ADDITIVE writes spark/u, which is new"],
        ),
        # Another task wrote it before.
        (
            [Ran(-2, [PLAIN]), Ran(-1, [COPY], task="other"), Ran(1, [PLAIN, COPY])],
            ["ROWS writes spark/u now, which was there before"],
        ),
        # What it did only now and then is neither new nor gone.
        ([Ran(-3, [PLAIN]), Ran(-2, [PLAIN, COPY]), Ran(-1, [PLAIN]), Ran(1, [PLAIN])], []),
        (
            [Ran(-3, [PLAIN]), Ran(-2, [PLAIN, COPY]), Ran(-1, [PLAIN]), Ran(1, [PLAIN, COPY])],
            [],
        ),
        # Statements that every run writes anew say nothing.
        ([Ran(n, [replace(PLAIN, text=str(n))]) for n in (-3, -2, -1, 1)], []),
        # An older change is none since the base.
        ([Ran(-5, [OTHER]), *(Ran(n, [PLAIN]) for n in (-3, -2, -1, 1))], []),
        # Of two engines only the one that ran since can have lost something.
        ([Ran(-1, [PLAIN]), Ran(-1, [COPY], engine="sqlserver"), Ran(1, [PLAIN])], []),
        ([Ran(1, [PLAIN])], ["ADDITIVE new task", "ADDITIVE writes spark/t, which is new"]),
        # To read what it writes is to update it.
        (
            [Ran(-1, [PLAIN]), Ran(1, [replace(PLAIN, sources="a t")])],
            ["UNKNOWN writes spark/t by other statements, with the same tables and columns"],
        ),
    ],
)
def test_which_runs_count(runs: list[Ran], expected: list[str]) -> None:
    assert said(*runs) == expected


def test_a_column_that_the_table_no_longer_has_is_removed() -> None:
    after = replace(PLAIN, columns={"x": "a.x"})
    assert said(Ran(-1, [PLAIN]), Ran(1, [after]), t="x") == ["BREAKING y removed"]
    assert said(Ran(-1, [PLAIN]), Ran(1, [after]), t="x y") == [
        "VALUES y no longer comes from spark/a.y"
    ]


def test_a_column_that_is_no_longer_masked_is_one_of_privacy() -> None:
    hashed = replace(PLAIN, masked=["x"])
    (review,) = reviews(runs_since(records(Ran(-1, [hashed]), Ran(1, [PLAIN])), BASE))
    (change,) = review.changes
    assert (change.kind, change.datasets) == (ChangeType.PRIVACY, (table("t"),))
    assert change.text.endswith("is no longer masked")


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ([PLAIN, COPY], [PLAIN], "no longer writes spark/u; other does"),
        ([PLAIN], [PLAIN, COPY], "writes spark/u now, as does other"),
    ],
)
def test_a_table_that_others_write_has_other_rows(
    before: list[Did], after: list[Did], text: str
) -> None:
    around = runs_since(records(Ran(-1, before), Ran(1, after)), BASE)
    (review,) = reviews(around, {table("u"): ["load", "other"]})
    assert [(change.verdict.name, change.text) for change in review.changes] == [("ROWS", text)]


def test_since_the_store_of_the_base_are_the_runs_that_it_lacks() -> None:
    old = records(Ran(-1, [PLAIN]), Ran(2, [PLAIN]))
    new = records(Ran(-1, [PLAIN]), Ran(2, [PLAIN]), Ran(1, [OTHER]))
    (review,) = reviews(runs_beyond(new, old))
    assert [change.text for change in review.changes] == [CHANGED.removeprefix("VALUES x ")]
    assert runs_beyond(old, old).is_empty


def test_tables_of_a_version_are_those_that_data_moved_through() -> None:
    versions = task_versions(build(records(Ran(1, [PLAIN, Did("gone", how=Operation.DROP)]))))
    assert versions["load"].writes == {table("t")}
    assert versions["load"].flows == {(table("a"), table("t"))}


def test_events_of_both_versions_in_one_log_say_nothing_of_columns() -> None:
    found = records(Ran(-1, [PLAIN]), Ran(1, [PLAIN]))
    name = f"{EVENT_SHAPE}1"
    mixed = replace(
        found,
        accesses=tuple(replace(access, shape_id=name, origin="log") for access in found.accesses),
        column_edges=tuple(replace(e, shape_id=name, origin="log") for e in found.column_edges),
    )
    assert runs_since(mixed, BASE).mixed == {"load"}
    assert runs_since(found, BASE).mixed == frozenset()
