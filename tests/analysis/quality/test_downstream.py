"""Faults of `orders -> clean -> mart -> copy` go where the data goes."""

from __future__ import annotations

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.quality.downstream import MOST, faults_downstream
from dbt_graft.analysis.quality.faults import FaultKind, QualityFault
from tests.analysis.impact.test_answer import EDGES, FLOWS, table
from tests.cases import for_each


def below(
    faults: list[QualityFault], *, without_data: tuple[str, ...] = ()
) -> dict[str, list[str]]:
    """Dataset -> the paths of the faults that reach it."""
    found = faults_downstream(
        ImpactGraph(EDGES, FLOWS), faults, lambda _, one: one.name not in without_data
    )
    return {
        dataset.name: [" > ".join(step.name for step in one.path) for one in reached]
        for dataset, reached in sorted(found.items())
    }


def fault(name: str, kind: str = "validity") -> QualityFault:
    dataset, _, column = name.partition(".")
    return QualityFault(table(dataset), FaultKind(kind), "a_test", column)


@for_each(
    "one, reached",
    [
        # A column that only goes into a hash reaches the hash alone.
        (fault("clean.id"), {"hashed": ["clean > hashed"]}),
        # What is grouped by it has other rows, and so what comes of that.
        (
            fault("clean.note"),
            {
                "copy": ["clean > mart > copy"],
                "mart": ["clean > mart"],
                "ranked": ["clean > ranked"],
            },
        ),
        (fault("mart"), {"copy": ["mart > copy"]}),
        (
            fault("clean", "freshness"),
            {
                "copy": ["clean > mart > copy"],
                "hashed": ["clean > hashed"],
                "mart": ["clean > mart"],
                "ranked": ["clean > ranked"],
            },
        ),
        (fault("copy"), {}),
        (fault("nobody.knows"), {}),
    ],
)
def test_a_fault_reaches(one: QualityFault, reached: dict[str, list[str]]) -> None:
    assert below([one]) == reached


def test_wrong_data_ends_where_it_was_not_taken_over() -> None:
    assert set(below([fault("clean.note")], without_data=("mart",))) == {"ranked"}


def test_old_data_does_not() -> None:
    found = below([fault("clean", "write")], without_data=("mart",))
    assert {"mart", "copy"} <= set(found)


def test_a_few_faults_of_a_kind_are_enough() -> None:
    faults = [fault("mart", kind) for kind in ("validity", "other") for _ in range(9)]
    named = [QualityFault(one.dataset, one.kind, f"test_{n}") for n, one in enumerate(faults)]
    assert len(below(named)["copy"]) == 2 * MOST
