"""Trees of columns and of datasets, with what each step does and who does it."""

from __future__ import annotations

from typing import Any

from dbt_graft.analysis.render.text import branch_lines
from dbt_graft.graft.questions.show.trees import Steps, Way
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset, Evidence
from tests.notation import edge, table

LINE = (
    "raw.b.x < raw.a.x IDENTITY",
    "raw.b.* < raw.a.day FILTER",
    "raw.c.total < raw.b.x AGGREGATION",
    "raw.d.total < raw.b.x TRANSFORMATION!",
    "raw.d.share < raw.c.total IDENTITY",
)


def steps(*edges: str, lineage: Lineage | None = None, **way: Any) -> Steps:
    lineage = lineage or Lineage(column_edges=tuple(map(edge, edges)))
    return Steps(DescribedLineage(lineage, {}, ()), Way(**way))


def column(text: str) -> ColumnId:
    name, _, last = text.rpartition(".")
    return ColumnId(table(name), last)


def drawn(of: Steps, start: str, *, upstream: bool = False) -> list[str]:
    of = Steps(of.described, Way([upstream], of.way.depth, of.way.indirect))
    return [
        f"{indent}{branch.title}"
        for tree in of.trees(column(start), of.of_column)
        for indent, branch in branch_lines(tree, None)
    ]


def test_a_tree_says_what_each_step_does_to_the_value() -> None:
    assert drawn(steps(*LINE), "raw.a.x") == [
        "└── raw.b.x  copied, by load",
        "    ├── raw.d.total  masked, by load",
        "    └── raw.c.total  aggregated, by load",
        "        └── raw.d.share  copied, by load",
    ]


def test_upstream_what_decides_is_a_leaf_unless_it_is_to_be_followed() -> None:
    edges = (*LINE, "raw.a.day < raw.z.day IDENTITY")
    assert drawn(steps(*edges), "raw.c.total", upstream=True) == [
        "└── raw.b.x  aggregated, by load",
        "    ├── raw.a.x  copied, by load",
        "    └── raw.a.day  filter, by load",
    ]
    assert drawn(steps(*edges, indirect=True), "raw.c.total", upstream=True)[-1] == (
        "        └── raw.z.day  copied, by load"
    )


def test_a_sub_tree_is_drawn_once_and_a_cycle_ends() -> None:
    edges = ("b.x < a.x", "c.x < a.x", "d.x < b.x", "d.x < c.x", "e.x < d.x", "a.x < e.x")
    assert drawn(steps(*edges), "a.x") == [
        "├── db/b.x  copied, by load",
        "│   └── db/d.x  copied, by load",
        "│       └── db/e.x  copied, by load",
        "│           └── db/a.x  copied, by load  (see above)",
        "└── db/c.x  copied, by load",
        "    └── db/d.x  copied, by load  (see above)",
    ]


def test_depth_cuts_a_tree_and_shows_that_it_goes_on() -> None:
    assert drawn(steps(*LINE, depth=1), "raw.a.x") == ["└── raw.b.x  copied, by load  …"]


def test_a_tree_may_be_very_deep() -> None:
    line = [f"raw.t{n + 1}.x < raw.t{n}.x" for n in range(3_000)]
    assert len(drawn(steps(*line), "raw.t0.x")) == 3_000


def test_datasets_whose_names_end_alike_have_their_identity() -> None:
    names = [DatasetId("db", "x.raw.b"), DatasetId("db", "y.raw.b")]
    edges = (edge("x.raw.b.x < x.raw.a.x"),)
    lineage = Lineage(datasets={name: Dataset(name) for name in names}, column_edges=edges)
    assert drawn(steps(lineage=lineage), "x.raw.a.x") == ["└── db/x.raw.b.x  copied, by load"]


def test_datasets_go_to_the_dashboards_that_read_them() -> None:
    a, b = table("raw.a"), table("raw.b")
    flows = (Flow(a, b, "load"), Flow(a, b, "again", evidence=Evidence.DECLARED))
    board = Consumer("exposure.board", "Board", "dashboard", (b,))
    of = Steps(DescribedLineage(Lineage(flows=flows), {}, (board,)))
    (tree,) = of.trees(a, of.of_dataset)
    assert [(branch.title, len(branch.branches)) for branch in tree.branches] == [
        ("raw.b  by load, again", 1)
    ]
    assert tree.branches[0].branches[0].title == "Board  (dashboard)"
