"""The page of a column, its paths to another, and why a side is empty."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.graft.questions.show.columns import column_answer, column_rows, paths_answer
from dbt_graft.graft.questions.show.trees import Steps, Way
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset, Outcome, Shape
from tests.cases import for_each
from tests.graft.questions.show.test_trees import LINE, column, steps
from tests.notation import edge, table

TABLE, SOURCE = table("raw.b"), table("raw.a")


def test_paths_are_those_of_the_other_direction_where_there_is_none() -> None:
    answer = paths_answer(steps(*LINE), column("raw.d.share"), column("raw.a.x"))
    assert (answer.title, answer.verdict) == ("db/raw.a.x to db/raw.d.share", "1 path")
    (tree,) = answer.tables
    assert [branch.title for branch in tree.branches[0].branches] == [  # type: ignore[union-attr]
        "raw.a.x",
        "→ raw.b.x  copied, by load",
        "→ raw.c.total  aggregated, by load",
        "→ raw.d.share  copied, by load",
    ]
    assert answer.data["paths"][0]["subtype"] == "AGGREGATION"


def test_without_a_path_the_option_that_finds_more_is_named() -> None:
    ends = column("raw.a.day"), column("raw.d.share")
    assert "--indirect" in paths_answer(steps(*LINE), *ends).notes[0]
    followed = paths_answer(steps(*LINE, indirect=True), *ends)
    assert [path["type"] for path in followed.data["paths"]] == ["INDIRECT"]


def test_a_column_that_only_decides_is_said_to() -> None:
    answer = column_answer(steps(*LINE, sides=[False]), column("raw.a.day"))
    assert answer.facts["decides on"] == "raw.b.* (--indirect)"


def test_who_reads_its_table_may_read_a_column() -> None:
    board = Consumer("exposure.shop.board", "board", "dashboard", (table("raw.c"),))
    lineage = Lineage(column_edges=tuple(map(edge, LINE)))
    of = Steps(DescribedLineage(lineage, {}, (board,)), Way([False]))
    assert column_answer(of, column("raw.a.x")).facts["may be read by"] == "1 dashboard: board"
    assert "may be read by" not in column_answer(of, column("raw.d.share")).facts


@for_each(
    "named, known, expected",
    [
        ([], False, {"may be read by": "1 dashboard: board"}),
        (["x"], False, {"read by": "1 dashboard: board"}),
        (["x"], True, {"read by": "1 dashboard: board"}),
        (["other"], False, {"may be read by": "1 dashboard: board"}),
        (["other"], True, {}),
    ],
)
def test_a_column_is_read_by_those_that_name_it(
    named: list[str], known: bool, expected: dict[str, str]
) -> None:
    dataset = table("raw.a")
    board = Consumer(
        *("exposure.shop.board", "board", "dashboard", (dataset,)),
        columns=tuple((dataset, name) for name in named),
        known_reads=(dataset,) if known else (),
    )
    described = DescribedLineage(Lineage({dataset: Dataset(dataset, columns=(Column("x"),))}))
    of = Steps(replace(described, consumers=(board,)), Way([False]))
    facts = column_answer(of, ColumnId(dataset, "x")).facts
    assert {name: text for name, text in facts.items() if "read by" in name} == expected


def test_the_columns_of_a_table_have_their_origins_and_counts() -> None:
    (row,) = column_rows(steps(*LINE), table("raw.b"))
    assert (row["comes_from"], row["upstream"], row["downstream"]) == (["db/raw.a.x"], 1, 3)


def test_a_column_that_the_newest_table_has_not_is_gone() -> None:
    edges = (edge("raw.b.x < raw.a.x"), edge("raw.b.y < raw.a.y"))
    made_anew = Dataset(TABLE, columns=(Column("y"),), has_all_columns=True)
    lineage = Lineage(datasets={TABLE: made_anew}, column_edges=edges)
    of = Steps(DescribedLineage(lineage, {}), Way([True]))
    rows = column_rows(of, TABLE)
    assert [(row["name"], row["is_gone"]) for row in rows] == [("y", False), ("x", True)]
    gone, there = (column_answer(of, column(f"raw.b.{name}")) for name in "xy")
    assert (gone.verdict, there.verdict) == ("column that is gone", "column")
    assert gone.data["upstream"]


@for_each(
    "flow, edges, reason",
    [
        (None, (), "nothing that was read writes it"),
        (Flow(SOURCE, TABLE, "load", through_memory=True), (), "in its memory"),
        (Flow(SOURCE, TABLE, "load", shapes=("s",)), (), "only in part: UNPIVOT"),
        (
            Flow(SOURCE, TABLE, "model.shop.b"),
            (),
            "columns of model b could not all be followed: g",
        ),
        (Flow(SOURCE, TABLE, "load"), (), "no statement that was read shows their columns"),
        (Flow(SOURCE, TABLE, "load"), ("raw.b.y < raw.a.y",), "a constant"),
        (Flow(SOURCE, TABLE, "load", shapes=("counts",)), (), "a count"),
        (Flow(SOURCE, TABLE, "load"), ("raw.b.* < raw.a.y TRANSFORMATION",), "not known which"),
    ],
)
def test_where_nothing_is_known_the_reason_is_said(
    flow: Flow | None, edges: tuple[str, ...], reason: str
) -> None:
    lineage = Lineage(
        datasets={TABLE: Dataset(TABLE, columns=(Column("x"), Column("y")))},
        flows=(flow,) if flow else (),
        column_edges=tuple(map(edge, edges)),
        shapes={
            "s": Shape("s", "tsql", "SELECT", "1", Outcome.PARTIAL, "UNPIVOT"),
            "counts": Shape("counts", "tsql", "SELECT", "sqlglot", Outcome.PARSED),
        },
        definitions={
            "model.shop.b": Definition("model.shop.b", DefinitionKind.DBT, TABLE, gap="g")
        },
    )
    answer = column_answer(steps(lineage=lineage, sides=[True]), column("raw.b.x"))
    assert reason in " ".join(answer.data["reasons"])
    assert [f"nothing upstream: {text}" for text in answer.data["reasons"]] == answer.notes
