"""Changes of a dataset and what they do, in words."""

from __future__ import annotations

from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.reach import ImpactReach
from dbt_graft.catalog.impact_panel import ImpactPanel, impact_panel
from dbt_graft.lineage.describe import Description, Role
from tests.analysis.impact.test_answer import BOARD, EDGES, FLOWS, TESTS, table
from tests.cases import for_each


def panel(name: str, *columns: str) -> ImpactPanel | None:
    description = Description(table("clean"), "", "clean", Role.MODEL, tests=TESTS)
    around = Surroundings({table("clean"): description}, (BOARD,))
    return impact_panel(ImpactReach(ImpactGraph(EDGES, FLOWS), around), table(name), columns)


def test_changes_of_a_dataset_that_do_the_same_are_one_verdict() -> None:
    found = panel("clean")
    assert found
    assert [
        (row.subjects, row.breaks, row.datasets, [consumer.name for consumer in row.consumers])
        for row in found.dataset_verdicts
    ] == [
        (("is removed or renamed",), "3 writers and 2 tests", 4, ["board"]),
        (("has other rows", "has wrong data", "comes late"), "", 4, ["board"]),
    ]


@for_each(
    "name, columns, verdicts",
    [
        (
            "orders",
            ["id", "note"],
            [
                (("id",), "2 writers and 1 test", 5),
                (("note",), "3 writers and 1 test", 5),
            ],
        ),
        ("orders", ["nobody_reads_it"], []),
    ],
)
def test_a_column_has_a_verdict_of_its_removal(
    name: str, columns: list[str], verdicts: list[tuple[tuple[str, ...], str, int]]
) -> None:
    found = panel(name, *columns)
    assert found
    rows = found.column_verdicts
    assert [(row.subjects, row.breaks, row.datasets) for row in rows] == verdicts
    assert [*found.unread] == [column for column in columns if column == "nobody_reads_it"]


def test_other_changes_of_a_column_are_in_a_sentence_with_what_is_not_known() -> None:
    found = panel("orders", "note")
    assert found
    [row] = found.column_verdicts
    assert "4 datasets may get another type" in row.others
    assert "On 1 flow of 4 no columns are known" in row.others


def test_a_dataset_that_nothing_reads_has_no_panel() -> None:
    assert panel("copy") is None
