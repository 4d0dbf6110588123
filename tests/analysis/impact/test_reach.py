"""The reach of all changes at once: the same figures as the answer about each single one."""

from __future__ import annotations

from random import Random

from dbt_graft.analysis.impact.answer import ProposedChange, Surroundings, impact
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.reach import ImpactReach, ReachOfChange
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.model import ColumnUse
from tests.analysis.impact.test_answer import BOARD, EDGES, FLOWS, TESTS, table
from tests.analysis.impact.test_spread import COLUMNS, TABLES, project
from tests.cases import for_each

KINDS = [one for one in ChangeType if one is not ChangeType.ADD]


def reach(name: str, kind: str) -> ReachOfChange:
    dataset, _, column = name.partition(".")
    description = Description(table("clean"), "", "clean", Role.MODEL, tests=TESTS)
    around = Surroundings({table("clean"): description}, (BOARD,))
    found = ImpactReach(ImpactGraph(EDGES, FLOWS), around)
    return found.measure(ProposedChange(table(dataset), ChangeType(kind), column))


@for_each(
    "name, kind, severity, datasets, broken, tests, consumers",
    [
        ("orders.note", "remove", "BLOCKING", 5, 3, 1, ["board"]),
        ("orders.id", "remove", "BLOCKING", 5, 2, 1, ["board"]),
        ("orders.note", "meaning", "BLOCKING", 4, 0, 0, ["board"]),
        ("clean.id", "privacy", "RESTRICTED", 1, 0, 0, []),
        ("clean", "rows", "WARNING", 4, 0, 0, ["board"]),
        ("clean", "remove", "BLOCKING", 4, 3, 2, ["board"]),
        ("mart", "freshness", "WARNING", 1, 0, 0, ["board"]),
        ("copy", "remove", "INFO", 0, 0, 0, []),
        ("unknown", "remove", "INFO", 0, 0, 0, []),
    ],
)
def test_a_change_reaches_so_many(
    name: str,
    kind: str,
    severity: str,
    datasets: int,
    broken: int,
    tests: int,
    consumers: list[str],
) -> None:
    change = reach(name, kind)
    assert (
        change.severity.name,
        change.datasets,
        change.broken,
        change.tests,
        [consumer.name for consumer in change.consumers],
    ) == (severity, datasets, broken, tests, consumers)


def test_columns_are_known_for_a_part_of_the_way() -> None:
    change = reach("orders.note", "meaning")
    assert (change.known, change.flows) == (3, 4)


@for_each("seed", range(200), quick=20)
def test_random_changes_have_the_figures_of_the_single_answer(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    edges, flows = project(random)
    known = [("t", DatasetId("db", one)) for one in TABLES if random.random() < 0.3]
    uses = [ColumnUse("t", DatasetId("db", random.choice(TABLES)), one) for one in COLUMNS]
    graph = ImpactGraph(edges, flows, uses=uses, known_reads=known)
    tests = tuple(NodeTest(f"t{one}", "unique", one) for one in ("", *COLUMNS))
    around = Surroundings(
        {
            (id_ := DatasetId("db", one)): Description(id_, "", one, Role.MODEL, tests=tests)
            for one in TABLES[:4]
        },
        (
            Consumer("e1", "board", "dashboard", (DatasetId("db", "c"), DatasetId("db", "d"))),
            Consumer("e2", "api", "api", (DatasetId("db", "b"),), criticality="high"),
            Consumer(
                *("e3", "task", "task", (b := DatasetId("db", "b"), DatasetId("db", "c"))),
                columns=((b, COLUMNS[0]),),
                known_reads=(b,),
            ),
        ),
    )
    found = ImpactReach(graph, around)
    for dataset in graph.datasets:
        place = graph.find_dataset(dataset)
        assert place is not None
        for column in ["", *graph.columns(place)]:
            for kind in KINDS:
                change = ProposedChange(dataset, kind, column)
                slow, fast = impact(graph, change, around), found.measure(change)
                assert (
                    fast.datasets,
                    fast.broken,
                    fast.tests,
                    {consumer.node_id for consumer in fast.consumers},
                    (fast.known, fast.flows),
                ) == (
                    len(slow.datasets),
                    sum(task.breaks for task in slow.tasks),
                    sum(test.breaks for test in slow.tests),
                    {consumer.consumer.node_id for consumer in slow.consumers},
                    (slow.known, slow.flows),
                ), change
                assert fast.severity is slow.severity, change
