"""500 random changes of random projects: what they reach is what a slow, plain model says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from random import Random

from dbt_graft.analysis.impact.answer import ProposedChange, Surroundings, impact
from dbt_graft.analysis.impact.change import ChangeType, ImpactEffect
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.spread import ON_DATASET, Spread, effect_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import ColumnEdge, Masking, Subtype
from tests.cases import for_each
from tests.notation import edge

Mark = tuple[str, str, str]  # dataset, column or "", effect
TABLES, COLUMNS = "abcdefg", "xyz"
DIRECT = {"IDENTITY", "TRANSFORMATION", "AGGREGATION"}
PASSED_ON = {"GONE": "LATE", "VALUES": "VALUES", "ROWS": "ROWS", "LATE": "LATE"}
PASSED_ON |= {"SENSITIVE": "SENSITIVE", "MASKED": "MASKED", "TYPE": "TYPE"}
# Task `u` takes column x by `select *`.
STARRED = {("u", "x")}
STAR = Definition("u", DefinitionKind.DBT, DatasetId("db", "a"), starred=("x",))
STARTS = {
    ChangeType.REMOVE: "GONE",
    ChangeType.TYPE: "TYPE",
    ChangeType.SEMANTICS: "VALUES",
    ChangeType.PRIVACY: "SENSITIVE",
}
GUESSED = {**PASSED_ON, "VALUES": "ROWS", "TYPE": "ROWS"}


def after(effect: str, one: ColumnEdge) -> tuple[str, str] | None:
    """The column and effect behind an edge; what fails is late beside it."""
    kind, to = one.subtype.value, one.to_column.replace("*", "")
    if effect == "GONE":
        return (to, "GONE") if kind in DIRECT else ("", "LATE")
    if effect in ("SENSITIVE", "MASKED"):
        if kind in DIRECT:
            return to, "MASKED" if one.masked_by in ("MASK", "ENCRYPT", "TOKENIZE") else effect
        return to, "DEPENDS"
    if effect in ("TYPE", "VALUES"):
        if kind in DIRECT:
            return to, "TYPE" if (effect, kind) == ("TYPE", "IDENTITY") else "VALUES"
        if kind in ("WINDOW", "SORT", "CONDITIONAL") and to:
            return to, "VALUES"
        return "", "ROWS"
    return None


def plain(edges: list[ColumnEdge], flows: list[Flow], start: Mark) -> set[Mark]:
    """All marks, by going over everything until nothing is new."""
    marks = {start}
    while True:
        steps = ((*by_edges(edges, mark), *by_flows(edges, flows, mark)) for mark in marks)
        new = set(chain.from_iterable(steps))
        if new <= marks:
            return marks
        marks |= new


def by_edges(edges: list[ColumnEdge], mark: Mark) -> Iterator[Mark]:
    dataset, column, effect = mark
    for one in edges:
        if (one.from_dataset.name, one.from_column) == (dataset, column):
            found = after(effect, one)
            if found:
                yield one.to_dataset.name, *found
            by_star = one.subtype.value in DIRECT and (one.task, one.from_column) in STARRED
            if effect == "GONE" and not by_star:
                yield one.to_dataset.name, "", "LATE"


def by_flows(edges: list[ColumnEdge], flows: list[Flow], mark: Mark) -> Iterator[Mark]:
    dataset, column, effect = mark
    known = {(one.from_dataset.name, one.to_dataset.name, one.task) for one in edges}
    for flow in flows:
        there = flow.target.name
        if flow.source.name != dataset or (column and (dataset, there, flow.task) in known):
            continue
        passed = GUESSED if column else PASSED_ON
        if effect in passed:
            yield there, "", passed[effect]


def project(random: Random) -> tuple[list[ColumnEdge], list[Flow]]:
    """Tasks between a few tables; some flows without columns, some cycles."""
    flows, edges = {}, {}
    for _ in range(random.randint(1, 9)):
        source, target = random.sample(TABLES, 2)
        task = random.choice("tuv")
        flows[source, target, task] = Flow(DatasetId("db", source), DatasetId("db", target), task)
        for _ in range(random.choice([0, 1, 3, 5])):
            kind = random.choice(list(Subtype)).value
            column = random.choice(COLUMNS if kind in DIRECT else f"{COLUMNS}*")
            mask = random.choice(["", "", "!"])
            text = f"{target}.{column} < {source}.{random.choice(COLUMNS)} {kind}{mask}"
            masked_by = random.choice(list(Masking)) if mask else Masking.NONE
            edges[text, task] = replace(edge(text, task), masked_by=masked_by)
    return list(edges.values()), list(flows.values())


def marks_of(graph: ImpactGraph, dataset: str, column: str, effect: ImpactEffect) -> set[Mark]:
    """All that is reached."""
    place = graph.dataset(DatasetId("db", dataset))
    if column:
        spread = Spread(graph, effect, graph.column(place, column))
    else:
        spread = Spread(graph, ON_DATASET | effect, place)
    marks: set[Mark] = set()
    for state, nodes in spread.reached.items():
        for node, there in zip(nodes, spread.datasets(state, nodes), strict=True):
            name = "" if state & ON_DATASET else graph.column_names[node]
            marks.add((graph.datasets[there].name, name, effect_of(state).name))
    return marks


@for_each("seed", range(500), quick=20)
def test_a_random_change_reaches_what_the_plain_model_says(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    edges, flows = project(random)
    dataset = random.choice([flow.source.name for flow in flows])
    effects = ["GONE", "TYPE", "VALUES", "SENSITIVE", "ROWS", "LATE"]
    effect = random.choice(effects)
    column = "" if effect in ("ROWS", "LATE") else random.choice(f"{COLUMNS} ").strip()
    graph = ImpactGraph(edges, flows, definitions={"u": STAR})
    marks = marks_of(graph, dataset, column, ImpactEffect[effect])
    assert marks == plain(edges, flows, (dataset, column, effect))


def plain_tasks(edges: list[ColumnEdge], flows: list[Flow], marks: set[Mark]) -> set[str]:
    """The tasks that carry one of the marks on."""
    tasks = {edge.task for edge in edges for mark in marks if [*by_edges([edge], mark)]}
    return tasks | {
        flow.task for flow in flows for mark in marks if [*by_flows(edges, [flow], mark)]
    }


@for_each("seed", range(500), quick=20)
def test_each_task_that_carries_a_random_change_is_affected(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    edges, flows = project(random)
    dataset = DatasetId("db", random.choice([flow.source.name for flow in flows]))
    kind, column = random.choice(list(STARTS)), random.choice(COLUMNS)
    graph = ImpactGraph(edges, flows, definitions={"u": STAR})
    change = ProposedChange(dataset, kind, column)
    marks = plain(edges, flows, (dataset.name, column, STARTS[kind]))
    tasks = {task.name for task in impact(graph, change, Surroundings()).tasks}
    assert tasks == plain_tasks(edges, flows, marks)


COUNTED = Flow(DatasetId("db", "a"), DatasetId("db", "b"), "t", shapes=("counts",))


@for_each(
    "flow, effect, reached",
    [
        (COUNTED, "VALUES", {"a"}),
        (COUNTED, "ROWS", {"a", "b"}),
        (replace(COUNTED, shapes=("counts", "partly")), "VALUES", {"a", "b"}),
        (replace(COUNTED, fills=("counts",)), "VALUES", {"a"}),
        (replace(COUNTED, fills=("counts",)), "ROWS", {"a", "b"}),
        (COUNTED, "GONE", {"a"}),
        (replace(COUNTED, fills=("counts",)), "GONE", {"a"}),
        (replace(COUNTED, fills=("counts", "partly")), "VALUES", {"a", "b"}),
        (replace(COUNTED, fills=("",)), "VALUES", {"a", "b"}),
        (replace(COUNTED, shapes=()), "VALUES", {"a", "b"}),
    ],
)
def test_a_statement_that_counts_rows_reads_no_column(
    flow: Flow, effect: str, reached: set[str]
) -> None:
    graph = ImpactGraph([], [flow], followed={"counts"})
    column = "" if effect == "ROWS" else "x"
    marks = marks_of(graph, flow.source.name, column, ImpactEffect[effect])
    assert {dataset for dataset, _, _ in marks} == reached
