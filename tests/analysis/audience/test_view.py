"""Random lineages without what is hidden: no word of it is left, and the rest stays connected."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime
from typing import Any

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.hidden import Audience, HiddenData
from dbt_graft.analysis.audience.view import code_left_out, visible_lineage, visible_tasks
from dbt_graft.analysis.audience.words import LEFT_OUT, hidden_words
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.lineage.code import CodeMatch, TaskCode
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    NodeResult,
    Outcome,
    Run,
    Shape,
    Status,
    Subtype,
)
from dbt_graft.lineage.usage import Usage
from tests import notation
from tests.cases import for_each


def random_lineage(chance: random.Random) -> tuple[Lineage, AudienceView]:
    """Some datasets and columns are hidden: those with `zqx` in their names."""
    datasets = [DatasetId("spark", f"db.{chance.choice(('zqxt', 'table'))}{n}") for n in range(12)]
    columns = {
        dataset: [f"{chance.choice(('zqxc', 'column'))}{n}" for n in range(3)]
        for dataset in datasets
    }
    flows, edges, tasks, shapes = [], [], {}, {}
    for n in range(20):
        a, b = sorted(chance.sample(range(12), 2))
        source, target, task = datasets[a], datasets[b], f"task{n}"
        flows.append(Flow(source, target, task))
        pair = chance.choice(columns[source]), chance.choice(columns[target])
        edges.append(
            ColumnEdge(
                *(task, target, pair[1], source, pair[0], Subtype.IDENTITY.type, Subtype.IDENTITY),
                masking=False,
                shape_id=f"s{n}",
            )
        )
        text = f"insert into {target.name} ({pair[1]}) select {pair[0]} from {source.name}"
        shapes[f"s{n}"] = Shape(f"s{n}", "spark", text, "1", Outcome.PARSED)
        tasks[task] = Task(
            task,
            usages=(
                Usage(task, source, Direction.READ, shapes=(f"s{n}",)),
                Usage(task, target, Direction.WRITE, shapes=(f"s{n}",)),
            ),
            runs=(Run(f"r{n}", task, "spark", status=Status.FAILED, error=f"failed: {text}"),),
        )
    tables = frozenset(dataset for dataset in datasets if "zqx" in dataset.name)
    hidden = HiddenData(
        tables,
        {
            dataset: frozenset(name for name in columns[dataset] if "zqx" in name)
            for dataset in datasets
        },
    )
    visible = {name for dataset in datasets if dataset not in tables for name in columns[dataset]}
    words = hidden_words(
        {
            dataset: frozenset(columns[dataset] if dataset in tables else hidden.columns[dataset])
            for dataset in datasets
        },
        tables,
        {name for name in visible if "zqx" not in name}
        | {part for dataset in datasets if dataset not in tables for part in dataset.parts},
    )
    lineage = Lineage(
        datasets={
            dataset: Dataset(dataset, columns=tuple(map(Column, columns[dataset])))
            for dataset in datasets
        },
        tasks=tasks,
        flows=tuple(flows),
        shapes=shapes,
        column_edges=tuple(edges),
        history=History(fed_again=tuple(("task0", dataset) for dataset in datasets)),
    )
    visible_names = visible_tasks(lineage, hidden, Audience(Classification.PUBLIC), {})
    return lineage, AudienceView(hidden, words, tasks=visible_names)


@for_each("seed", range(100), quick=20)
def test_nothing_hidden_is_named_and_the_rest_stays_connected(seed: int) -> None:
    lineage, view = random_lineage(random.Random(seed))  # noqa: S311
    found = visible_lineage(lineage, view)
    assert "zqx" in repr(lineage)
    assert "zqx" not in repr(found)
    before, after = lineage.dataset_graph(), found.dataset_graph()
    for dataset in found.datasets:
        reached = {other for other in before.downstream(dataset) if other in found.datasets}
        assert set(after.downstream(dataset)) == reached


def test_what_hides_nothing_changes_nothing() -> None:
    lineage, _ = random_lineage(random.Random(1))  # noqa: S311
    nothing = AudienceView(HiddenData(), hidden_words({}, (), ()), tasks=frozenset(lineage.tasks))
    assert visible_lineage(lineage, nothing) == lineage


def test_no_line_of_code_and_no_code_is_shown() -> None:
    lineage, _ = random_lineage(random.Random(1))  # noqa: S311
    edges = tuple(replace(edge, place="jobs/pay.py:3") for edge in lineage.column_edges)
    codes = {"load": CodeMatch(TaskCode("jobs/pay.py"))}
    nothing = AudienceView(HiddenData(), hidden_words({}, (), ()), tasks=frozenset(lineage.tasks))

    visible = visible_lineage(replace(lineage, column_edges=edges, codes=codes), nothing)

    assert edges
    assert "pay.py" not in repr(visible)


CLOSED, OPEN = DatasetId("spark", "db.closed"), DatasetId("spark", "db.open")


def lineage_of_code() -> Lineage:
    """A task and a view that use both tables, with text that names a column of no list, `zqx`."""
    text = "select zqx from t"
    runs = (Run("r", "task", "spark", status=Status.FAILED, error="no column zqx"),)
    usages = (Usage("task", CLOSED, Direction.READ), Usage("task", OPEN, Direction.WRITE))
    day = Period(datetime(1971, 2, 3), datetime(1971, 2, 4), Grain.DAY, PeriodEvidence.PREDICATE)
    periods = (replace(day, column="zqx"), replace(day, evidence=PeriodEvidence.INTERVAL))
    return Lineage(
        tasks={
            "task": Task("task", usages=tuple(replace(u, shapes=("s",)) for u in usages), runs=runs)
        },
        shapes={"s": Shape("s", "spark", text, "1", Outcome.PARTIAL, reason="what is zqx")},
        definitions={
            "v": Definition("v", DefinitionKind.VIEW, OPEN, (CLOSED,), gap="zqx is unknown")
        },
        dbt=DbtRuns({"model.x": (NodeResult("model.x", "i", error="zqx is unknown"),)}),
        history=History(
            accesses=(
                Access(
                    *("task", "r", CLOSED, Kind.TABLE, Direction.READ, Operation.SELECT, "s"),
                    periods=periods,
                ),
            )
        ),
    )


def view_of(hidden: HiddenData) -> AudienceView:
    return AudienceView(
        hidden, hidden_words({}, (), ()), frozenset({"model.x"}), frozenset({"task"})
    )


def test_code_about_columns_that_nobody_knows_is_left_out_and_a_gap_stays() -> None:
    visible = visible_lineage(
        lineage_of_code(), view_of(HiddenData(closed={CLOSED: frozenset({"id"})}))
    )
    (shape,) = visible.shapes.values()
    assert (shape.text, shape.reason) == (f"-- {LEFT_OUT}", LEFT_OUT)
    assert visible.definitions["v"].gap == LEFT_OUT
    assert [run.error for run in visible.tasks["task"].runs] == [""]
    assert "zqx" not in repr(visible)


def test_code_about_tables_of_which_all_columns_are_known_is_shown() -> None:
    lineage = lineage_of_code()
    assert visible_lineage(lineage, view_of(HiddenData())) == lineage
    other = DatasetId("spark", "db.other")
    visible = visible_lineage(lineage, view_of(HiddenData(closed={other: frozenset()})))
    assert (visible.shapes, visible.tasks) == (lineage.shapes, lineage.tasks)


def read_statement(text: str, hidden: HiddenData, **more: Any) -> str:
    """The statement as an audience reads it: of a task that uses both tables."""
    lineage = lineage_of_code()
    shape = Shape("s", "tsql", text, "1", more.pop("outcome", Outcome.PARSED))
    usages = tuple(
        replace(usage, shapes=("s",) if usage.dataset == OPEN else ())
        for usage in lineage.tasks["task"].usages
    )
    task = replace(lineage.tasks["task"], usages=usages)
    edges = more.pop("edges", ())
    lineage = replace(
        lineage,
        tasks={"task": task},
        shapes={"s": shape},
        column_edges=tuple(replace(edge, shape_id="s") for edge in edges),
        definitions={},
    )
    view = replace(view_of(hidden), **more)
    visible = visible_lineage(lineage, view)
    (shown,) = visible.shapes.values()
    assert (OPEN in code_left_out(lineage, view)) == (shown.text != text)
    return shown.text


TEMPORARY = (
    "select t.n from db.open t join #pay p on p.zqx = t.id",
    "insert into db.open select n from @pay where zqx > ?",
)
SECRET = HiddenData(columns={CLOSED: frozenset({"salary"})})


@for_each("text", TEMPORARY)
def test_a_temporary_table_may_have_hidden_columns_by_other_names(text: str) -> None:
    assert read_statement(text, SECRET) == f"-- {LEFT_OUT}"
    assert read_statement(text, HiddenData()) == text


def test_a_statement_that_uses_a_hidden_column_is_left_out_whatever_it_calls_it() -> None:
    text = "insert into db.open select n from pay_view where zqx > ?"
    edge = notation.edge("spark/db.open.n < spark/db.closed.salary FILTER", "task")
    assert read_statement(text, SECRET, edges=[edge]) == f"-- {LEFT_OUT}"
    assert read_statement(text, HiddenData(), edges=[edge]) == text


def test_a_hidden_task_between_visible_tables_has_no_name_and_no_statement() -> None:
    lineage = lineage_of_code()
    flow = Flow(CLOSED, OPEN, "task")
    edge = replace(notation.edge("spark/db.open.n < spark/db.closed.n", "task"), shape_id="s")
    lineage = replace(lineage, flows=(flow,), column_edges=(edge,))
    visible = visible_lineage(lineage, replace(view_of(HiddenData()), tasks=frozenset()))
    assert [flow.definition for flow in visible.flows] == [DefinitionKind.HIDDEN]
    assert visible.tasks.keys() == set()
    assert visible.shapes == {}
    assert {flow.task for flow in visible.flows} == {"left_out"}
    assert [(edge.task, edge.shape_id) for edge in visible.column_edges] == [("left_out", "")]


KNOWN, UNKNOWN = "a column", "no columns"


@for_each(
    "ways, is_known",
    [
        ([KNOWN], True),
        ([UNKNOWN], False),
        ([KNOWN, KNOWN], True),
        ([KNOWN, "no column comes of it"], True),
        ([KNOWN, UNKNOWN], False),
        ([UNKNOWN, KNOWN], False),
        ([KNOWN, "through a hidden table"], False),
        (["of a visible task", UNKNOWN], False),
    ],
)
def test_the_columns_of_hidden_ways_are_known_where_those_of_all_are(
    ways: list[str], *, is_known: bool
) -> None:
    """Otherwise a change of a column may be in any column of the table behind."""
    hidden, flows, edges = DatasetId("spark", "db.hidden"), [], []
    for number, way in enumerate(ways):
        task = f"task{number}"
        if way == "through a hidden table":
            flows += [Flow(CLOSED, hidden, "fill"), Flow(hidden, OPEN, task)]
            continue
        shapes = {"no column comes of it": ("s",)}.get(way, (task,))
        flows.append(Flow(CLOSED, OPEN, task, shapes=shapes))
        if way in (KNOWN, "of a visible task"):
            edges.append(notation.edge("spark/db.open.n < spark/db.closed.n", task))
    shape = Shape("s", "tsql", "delete from t", "sqlglot", Outcome.PARSED)
    names = [*dict.fromkeys(flow.task for flow in flows)]
    seen = {name for name in names if ways[:1] == ["of a visible task"]} & {"task0"}
    lineage = Lineage(
        tasks={name: Task(name) for name in names},
        flows=tuple(flows),
        column_edges=tuple(edges),
        shapes={"s": shape},
    )
    view = replace(view_of(HiddenData(frozenset({hidden}))), tasks=frozenset(seen))

    visible = visible_lineage(lineage, view)

    graph = ImpactGraph(visible.column_edges, visible.flows)
    has_columns_by_task = {
        graph.tasks[task]: bool(has_columns)
        for task, has_columns in zip(graph.flow_task, graph.flow_has_columns, strict=True)
    }
    assert has_columns_by_task == {**dict.fromkeys(seen, True), "left_out": is_known}


@for_each(
    "text, outcome",
    [
        *((text, Outcome.PARSED) for text in TEMPORARY),
        ("alter table db.open add foreign key (n) references db.zqx (n)", Outcome.PARSED),
        ("insert into db.open select n from t pivotx (db.zqx", Outcome.PARTIAL),
        ("frobnicate db.zqx into db.open", Outcome.FAILED),
    ],
)
def test_what_stands_in_no_list_is_hidden_with_what_nobody_labels(
    text: str, outcome: Outcome
) -> None:
    def read(*, shows_unlabelled: bool) -> str:
        return read_statement(
            text, HiddenData(), outcome=outcome, shows_unlabelled=shows_unlabelled
        )

    assert read(shows_unlabelled=False) == f"-- {LEFT_OUT}"
    assert read(shows_unlabelled=True) == text


@for_each("shows_unlabelled", [True, False])
def test_a_name_that_was_not_found_stands_in_no_list(*, shows_unlabelled: bool) -> None:
    lineage = lineage_of_code()
    errors = ("TABLE_OR_VIEW_NOT_FOUND `hr`.`zqx` (SQLSTATE 42P01)", "TimeoutError")
    runs = tuple(Run(error, "task", "spark", error=error) for error in errors)
    lineage = replace(lineage, tasks={"task": replace(lineage.tasks["task"], runs=runs)})
    view = replace(view_of(HiddenData()), shows_unlabelled=shows_unlabelled)
    shown = [run.error for run in visible_lineage(lineage, view).tasks["task"].runs]
    assert shown == [errors[0] if shows_unlabelled else "", errors[1]]


def test_the_dates_of_a_hidden_column_are_its_values() -> None:
    visible = visible_lineage(
        lineage_of_code(), view_of(HiddenData(columns={CLOSED: frozenset({"zqx"})}))
    )
    ((period,),) = (access.periods for access in visible.history.accesses)
    assert period.evidence is PeriodEvidence.INTERVAL
