"""The findings of a review: many columns that change alike, and the lines of changes."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.checks.contracts import KIND
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.project import ProjectReview, ReviewImpact
from dbt_graft.analysis.review.report import change_text, review_answer
from dbt_graft.analysis.review.report_lines import changed_line, entry_lines
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

T = DatasetId("spark", "db.orders")
ROWS, COLUMNS = ReviewVerdict.ROWS, ReviewVerdict.VALUES
YAML = """\
version: 1
tasks:
  loader:
    flows: [{from: [a/b], to: [spark/db.orders]}]
  load:
    owner: Ada

    flows:
      - {from: [a/b], to: [spark/db.orders]}
consumers:
  board: {reads: [spark/db.orders]}
"""
SQL = "select id,\n  id_old,\n  old\nfrom a\nwhere old > 1"


def node(*changes: NodeChange, name: str = "load", kind: str = "task") -> NodeReview:
    return NodeReview(name, kind, "file", changes)


def test_the_changes_of_a_node_are_a_finding() -> None:
    alike = [NodeChange(COLUMNS, "another", column=f"c{n}") for n in range(7)]
    review = node(NodeChange(ROWS, "other filters"), *alike)
    answer = review_answer(
        ProjectReview("base", (review,), ReviewImpact()), lambda *_: ("a.sql", 2)
    )
    assert [(finding.code, finding.problem, finding.place) for finding in answer.findings] == [
        ("ROWS", "other filters; columns c0, c1, c2, c3, c4 and 2 more: another", "a.sql:2"),
    ]


@pytest.mark.parametrize(
    ("number", "problems"),
    [
        (5, ["is not compiled"] * 5 + ["other filters"]),
        (6, ["is not compiled (6 nodes)", "other filters"]),
    ],
)
def test_many_nodes_of_which_the_same_is_not_known_are_a_finding(
    number: int, problems: list[str]
) -> None:
    unknown = NodeChange(ReviewVerdict.UNKNOWN, "is not compiled")
    nodes = [node(unknown, name=f"m{n}") for n in range(number)]
    nodes.append(node(NodeChange(ROWS, "other filters")))
    answer = review_answer(
        ProjectReview("base", tuple(nodes), ReviewImpact()), lambda *_: ("a.sql", 2)
    )
    assert [finding.problem for finding in answer.findings] == problems
    subject = answer.findings[0].subject
    assert subject == ("m0" if number == 5 else "m0, m1, m2, m3, m4 and 1 more")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (NodeChange(ROWS, "other filters"), "other filters"),
        (NodeChange(COLUMNS, "removed", column="note"), "note: removed"),
        (
            NodeChange(COLUMNS, "removed", column="note", datasets=(T,)),
            "spark/db.orders.note: removed",
        ),
    ],
)
def test_a_change_in_words(change: NodeChange, text: str) -> None:
    assert change_text(change) == text


@for_each(
    "code, review, change, line",
    [
        (SQL, node(name="model.x", kind="model"), NodeChange(COLUMNS, "", column="old"), 3),
        (SQL, node(name="model.x", kind="model"), NodeChange(ROWS, "other filters"), 5),
        (SQL, node(name="model.x", kind="model"), NodeChange(COLUMNS, "", column="gone"), 1),
        (YAML, node(), NodeChange(ROWS, "", datasets=(T,)), 9),
        (YAML, node(), NodeChange(ROWS, "newly declared"), 5),
        (YAML, node(), None, 5),
        (
            "description: the note\nproperties:\n  - {name: note}\n",
            node(kind=KIND),
            NodeChange(COLUMNS, "", column="note"),
            3,
        ),
    ],
)
def test_the_line_of_a_change(
    code: str, review: NodeReview, change: NodeChange | None, line: int
) -> None:
    assert changed_line(code, review, change) == line


def test_the_entry_of_a_task_ends_where_the_next_begins() -> None:
    assert entry_lines(YAML, "loader") == (3, "".join(YAML.splitlines(keepends=True)[2:4]))
    assert entry_lines(YAML, "gone") is None
