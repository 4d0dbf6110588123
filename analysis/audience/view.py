"""The lineage as an audience may see it, computed from the complete one.

Data that flows through a hidden dataset goes around it: what is visible stays connected. Statements
and messages that name what is hidden have no text; keys that are called after it have other names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.hidden import Audience, HiddenData
from dbt_graft.analysis.audience.records import blank_text, rename_keys
from dbt_graft.analysis.audience.words import LEFT_OUT
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow, merge_flows
from dbt_graft.lineage.gaps import followed_shapes
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task, flow_order
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    Column,
    ColumnEdge,
    Dataset,
    NodeResult,
    Outcome,
    Run,
    Shape,
)
from dbt_graft.lineage.renaming import drop_datasets
from dbt_graft.lineage.usage import Usage

_OfShapes = TypeVar("_OfShapes", Flow, Usage)

# The writer of flows and column edges that no visible task or definition makes. It is one, however
# many tasks there are.
_HIDDEN_TASK = "left_out"
# Temporary tables and table variables of SQL Server.
_TEMPORARY = re.compile(r"#|\b(?:from|join|into|update)\s+@", re.IGNORECASE)


def visible_lineage(lineage: Lineage, view: AudienceView) -> Lineage:
    """The lineage as the audience may see it: what is not named here is left out."""
    known = drop_datasets(lineage, view.hidden.datasets)
    tasks = {
        name: _visible_task(task, {usage.dataset for usage in lineage.tasks[name].usages}, view)
        for name, task in known.tasks.items()
        if name in view.tasks
    }
    definitions = {
        name: _visible_definition(
            definition, (definition.dataset, *lineage.definitions[name].reads), view
        )
        for name, definition in known.definitions.items()
    }
    flows, edges = _flows(lineage, view), _column_edges(lineage, known.column_edges, view)
    shapes = _shapes(lineage, view, {edge.shape_id for edge in edges})
    # The id of a statement is a digest of its text, which somebody may guess. Even its place in a
    # list would tell right guesses from wrong ones.
    cut = [key for key, shape in shapes.items() if shape.text != lineage.shapes[key].text]
    view.names.hide(
        (
            *sorted(cut, key=lambda key: (shapes[key].outcome, shapes[key].reason or "")),
            *(key for key in lineage.shapes if key not in shapes),
        )
    )
    visible = Lineage(
        datasets={
            key: replace(dataset, columns=tuple(_visible_columns(dataset, view)))
            for key, dataset in _with_visible_times(known.datasets, tasks, flows)
        },
        tasks=tasks,
        flows=flows,
        shapes=shapes,
        column_edges=edges,
        column_uses=tuple(
            use
            for use in known.column_uses
            if use.task in tasks and not view.hidden.hides(use.dataset, use.column)
        ),
        known_reads=tuple(
            (task, dataset)
            for task, dataset in known.known_reads
            if task in tasks and dataset not in view.hidden.datasets
        ),
        definitions=definitions,
        dataset_metadata={
            key: replace(
                blank_text(metadata, view.cuts([key])),
                columns=tuple(
                    blank_text(column, view.cuts([key]))
                    for column in metadata.columns
                    if not view.hidden.hides(key, column.name)
                ),
            )
            for key, metadata in known.dataset_metadata.items()
        },
        names=known.names,
        history=_history(known.history, tasks, {*tasks, *definitions}, view),
        dbt=DbtRuns(
            {
                node_id: tuple(_visible_result(result, view) for result in results)
                for node_id, results in known.dbt.node_results.items()
                if node_id in view.nodes
            }
        ),
    )
    renamed_lineage: Lineage = rename_keys(visible, view.names)
    if renamed_lineage is visible:
        return visible
    return replace(
        renamed_lineage,
        tasks={
            name: replace(task, usages=tuple(map(_with_sorted_shapes, task.usages)))
            for name, task in renamed_lineage.tasks.items()
        },
        flows=tuple(sorted(map(_with_sorted_shapes, renamed_lineage.flows), key=flow_order)),
    )


def _with_sorted_shapes(record: _OfShapes) -> _OfShapes:
    shapes = tuple(sorted(record.shapes))
    return record if shapes == record.shapes else replace(record, shapes=shapes)


def _with_visible_times(
    datasets: Mapping[DatasetId, Dataset], tasks: Mapping[str, Task], flows: Iterable[Flow]
) -> Iterator[tuple[DatasetId, Dataset]]:
    """The datasets as first and last seen by what is visible: hidden tasks may have been there."""
    times: defaultdict[DatasetId, set[datetime | None]] = defaultdict(set)
    for task in tasks.values():
        for usage in task.usages:
            times[usage.dataset] |= {usage.first_at, usage.last_at}
    for flow in flows:
        for dataset in (flow.source, flow.target):
            times[dataset] |= {flow.first_at, flow.last_at}
    for key, facts in datasets.items():
        seen = [at for at in times[key] if at]
        first, last = min(seen, default=None), max(seen, default=None)
        yield key, replace(facts, first_seen=first, last_seen=last)


def _visible_task(task: Task, datasets: Collection[DatasetId], view: AudienceView) -> Task:
    """A task without text about what is hidden.

    Args:
        datasets: All that it uses.
    """
    runs = _without_errors(task.runs, datasets, view)
    shown: Task = blank_text(replace(task, runs=tuple(runs)), view.cuts(datasets))
    return shown


def _without_errors(
    runs: Iterable[Run], datasets: Collection[DatasetId], view: AudienceView
) -> Iterator[Run]:
    cut = view.code_cuts(datasets)
    for run in runs:
        error = run.error or ""
        # What was not found stands in no list.
        hides = cut if view.shows_unlabelled or "`" not in error else view.cut_all
        yield replace(run, error="") if error and hides(error) else run


def _visible_definition(
    definition: Definition, datasets: Collection[DatasetId], view: AudienceView
) -> Definition:
    """A definition without text about what is hidden; a gap stays one, without its reason."""
    gap = definition.gap
    if gap and view.code_cuts(datasets)(gap):
        gap = LEFT_OUT
    shown: Definition = blank_text(replace(definition, gap=gap), view.cuts(datasets))
    return shown


def _visible_result(result: NodeResult, view: AudienceView) -> NodeResult:
    """A result of dbt: its message may be about any dataset, its dates are no hidden values."""
    if result.node_id in view.undated:
        result = replace(result, max_loaded_at=None)
    if result.error and view.code_cuts(view.hidden_parts)(result.error):
        result = replace(result, error="")
    cut = view.cuts(view.words.near)
    periods = tuple(period for period in result.periods if not cut(period.column))
    shown: NodeResult = blank_text(replace(result, periods=periods), cut)
    return shown


def _visible_columns(dataset: Dataset, view: AudienceView) -> Iterator[Column]:
    """The visible columns; a type may name hidden fields of a struct."""
    cut = view.cuts([dataset.id])
    for column in dataset.columns:
        if not view.hidden.hides(dataset.id, column.name):
            yield replace(column, type="") if cut(column.type) else column


def visible_tasks(
    lineage: Lineage,
    hidden: HiddenData,
    audience: Audience,
    levels: Mapping[str, Classification],
) -> frozenset[str]:
    """The names of the tasks that use visible data and have no label above it.

    Args:
        levels: Task -> the classification that its labels name.
    """
    return frozenset(
        name
        for name, task in lineage.tasks.items()
        if _uses_visible(task, hidden, audience)
        and (name not in levels or levels[name] <= audience.sees)
    )


def _uses_visible(task: Task, hidden: HiddenData, audience: Audience) -> bool:
    if not task.usages:
        return audience.shows_unlabelled
    return any(usage.dataset not in hidden.datasets for usage in task.usages)


def _history(
    history: History, tasks: Mapping[str, Task], makers: Collection[str], view: AudienceView
) -> History:
    """The history of visible tasks and datasets.

    Args:
        makers: The names of visible tasks and definitions.
    """
    return History(
        accesses=tuple(_accesses(history.accesses, view)),
        orchestrator_runs=_visible_runs(orchestrator_runs(history, tasks.values()), view),
        superseded={
            key: visible_runs
            for key, runs in history.superseded.items()
            if key[0] in tasks and (visible_runs := tuple(run for run in runs if run.task in tasks))
        },
        declared_dates=history.declared_dates,
        partition_columns={
            key: {
                name: grain for name, grain in columns.items() if not view.hidden.hides(key, name)
            }
            for key, columns in history.partition_columns.items()
        },
        taints=tuple(_visible_taint(taint, makers) for taint in history.taints),
        fed_again=tuple(
            (task, dataset)
            for task, dataset in history.fed_again
            if task in tasks and dataset not in view.hidden.datasets
        ),
    )


def _visible_taint(taint: RecordedTaint, makers: Collection[str]) -> RecordedTaint:
    """A taint without people's words, hidden tasks, and its number: it counts all taints."""
    tainted, doubtful = (
        _with_hidden_tasks_as_one(dates, makers) for dates in (taint.tainted, taint.doubtful)
    )
    is_shown = taint.task in makers
    return replace(
        taint,
        number=0,
        task=taint.task if is_shown else "",
        run=taint.run if is_shown else "",
        reason="",
        link="",
        tainted=tainted,
        doubtful=doubtful,
        superseded=tuple(
            again if again.task in makers else replace(again, task=_HIDDEN_TASK, run=_HIDDEN_TASK)
            for again in taint.superseded
        ),
    )


def _with_hidden_tasks_as_one(
    dates: Mapping[tuple[str, DatasetId], Dates], makers: Collection[str]
) -> dict[tuple[str, DatasetId], Dates]:
    together: dict[tuple[str, DatasetId], Dates] = {}
    for (maker, dataset), of_maker in dates.items():
        key = (maker if maker in makers else _HIDDEN_TASK, dataset)
        together[key] = together.get(key, NO_DATES) | of_maker
    return together


def orchestrator_runs(history: History, tasks: Iterable[Task]) -> dict[str, Run]:
    """The runs of an orchestrator that started those of tasks, by id."""
    runs: dict[str, Run] = {}
    waiting = [run.parent_run_id for task in tasks for run in task.runs]
    while waiting:
        run_id = waiting.pop()
        if run_id is None or run_id in runs or run_id not in history.orchestrator_runs:
            continue
        runs[run_id] = history.orchestrator_runs[run_id]
        waiting.append(runs[run_id].parent_run_id)
    return runs


def _visible_runs(runs: Mapping[str, Run], view: AudienceView) -> dict[str, Run]:
    shown = _without_errors(runs.values(), view.hidden_parts, view)
    return {run.run_id: blank_text(run, view.cuts()) for run in shown}


def _is_visible(edge: ColumnEdge, hidden: HiddenData) -> bool:
    return not (
        hidden.hides(edge.to_dataset, edge.to_column)
        or hidden.hides(edge.from_dataset, edge.from_column)
    )


def _flows(lineage: Lineage, view: AudienceView) -> tuple[Flow, ...]:
    """The flows between visible datasets; those through hidden ones by the last step's task.

    Several hidden ways from one dataset to another are one, and none beside a visible way.
    """
    hidden = view.hidden.datasets
    if not hidden and lineage.tasks.keys() <= view.tasks:
        return lineage.flows
    into = _flows_into(lineage)
    direct: defaultdict[tuple[DatasetId, DatasetId, str], list[Flow]] = defaultdict(list)
    around: defaultdict[tuple[DatasetId, DatasetId, str], list[Flow]] = defaultdict(list)
    for flow in lineage.flows:
        if flow.target in hidden:
            continue
        shown = flow
        if not flow.definition and flow.task not in view.tasks:
            shown = _without_way(flow)
        if flow.source not in hidden:
            hops = tuple(hop for hop in shown.hops if hop not in hidden)
            shown = shown if hops == shown.hops else replace(shown, hops=hops)
            direct[flow.target, flow.source, shown.task].append(shown)
            continue
        for source in _visible_parents(flow.source, into, hidden):
            if source != flow.target:
                step = replace(shown, source=source, hops=(), evidences=())
                around[flow.target, source, shown.task].append(step)
    return tuple(sorted(map(merge_flows, ({**around, **direct}).values()), key=flow_order))


def _without_way(flow: Flow) -> Flow:
    """A flow by a hidden task."""
    return Flow(
        *(flow.source, flow.target, _HIDDEN_TASK),
        evidence=flow.evidence,
        first_at=flow.first_at,
        last_at=flow.last_at,
        definition=DefinitionKind.HIDDEN,
    )


def _column_edges(
    lineage: Lineage, edges: Iterable[ColumnEdge], view: AudienceView
) -> tuple[ColumnEdge, ...]:
    """The edges between visible columns; those of hidden tasks once, without their statements.

    Hidden ways from one dataset to another are one, whose columns are known where those of all are.
    """
    hidden_tasks = lineage.tasks.keys() - view.tasks
    unknown = _ways_without_columns(lineage, hidden_tasks, view) if hidden_tasks else ()
    visible: list[ColumnEdge] = []
    others: dict[ColumnEdge, None] = {}
    for edge in edges:
        if not _is_visible(edge, view.hidden):
            continue
        if edge.task not in hidden_tasks:
            # Where somebody's code lies is nobody's business.
            visible.append(replace(edge, place="") if edge.place else edge)
        elif (edge.from_dataset, edge.to_dataset) not in unknown:
            edge = replace(edge, task=_HIDDEN_TASK, shape_id="", origin="", place="")
            others[edge] = None
    return (*visible, *sorted(others, key=_edge_order))


def _ways_without_columns(
    lineage: Lineage, hidden_tasks: Collection[str], view: AudienceView
) -> set[tuple[DatasetId, DatasetId]]:
    """Source and target of the ways of hidden tasks of which not all columns are known.

    Those through hidden datasets are among them: nobody sees their columns.
    """
    followed = followed_shapes(lineage.shapes.values())
    with_columns = {
        (edge.from_dataset, edge.to_dataset, edge.task) for edge in lineage.column_edges
    }
    into, hidden = _flows_into(lineage), view.hidden.datasets
    unknown = set()
    for flow in lineage.flows:
        if flow.definition or flow.task not in hidden_tasks or flow.target in hidden:
            continue
        if flow.source in hidden:
            sources = _visible_parents(flow.source, into, hidden)
            unknown |= {(source, flow.target) for source in sources}
        elif not (
            (flow.source, flow.target, flow.task) in with_columns
            or followed.issuperset(flow.statements)
        ):
            unknown.add((flow.source, flow.target))
    return unknown


def _flows_into(lineage: Lineage) -> Mapping[DatasetId, list[Flow]]:
    into: dict[DatasetId, list[Flow]] = defaultdict(list)
    for flow in lineage.flows:
        into[flow.target].append(flow)
    return into


def _edge_order(edge: ColumnEdge) -> tuple[object, ...]:
    ends = (edge.to_dataset.key, edge.to_column, edge.from_dataset.key, edge.from_column)
    return (*ends, edge.subtype, edge.masking, edge.evidence, edge.masked_by)


def _visible_parents(
    dataset: DatasetId, into: Mapping[DatasetId, Iterable[Flow]], hidden: Collection[DatasetId]
) -> Iterator[DatasetId]:
    seen, waiting = {dataset}, [dataset]
    while waiting:
        for flow in into.get(waiting.pop(), ()):
            if flow.source in seen:
                continue
            seen.add(flow.source)
            if flow.source in hidden:
                waiting.append(flow.source)
            else:
                yield flow.source


def _shapes(lineage: Lineage, view: AudienceView, of_edges: Collection[str]) -> dict[str, Shape]:
    """The statements of visible tasks, definitions and edges; without text about hidden data.

    A statement that uses a hidden column may name it as a temporary table does.
    """
    of_hidden = {
        edge.shape_id for edge in lineage.column_edges if not _is_visible(edge, view.hidden)
    }
    datasets: dict[str, set[DatasetId]] = defaultdict(set)
    shown = set()
    for shape_id, used, is_shown in _shape_uses(lineage, view):
        datasets[shape_id].update(used)
        if is_shown:
            shown.add(shape_id)
    shapes = {}
    for shape_id in lineage.shapes.keys() & {*shown, *of_edges}:
        shape = lineage.shapes[shape_id]
        # A statement that belongs nowhere may be about anything.
        of_shape = datasets.get(shape_id, view.hidden_parts)
        cut = view.code_cuts(of_shape)
        if (
            shape_id in of_hidden
            or (_TEMPORARY.search(shape.text) and not view.hidden_parts.isdisjoint(of_shape))
            or (not view.shows_unlabelled and _names_others(shape))
        ):
            cut = view.cut_all
        if cut(shape.text):
            shape = replace(shape, text=f"-- {LEFT_OUT}")
        if shape.reason and cut(shape.reason):
            shape = replace(shape, reason=LEFT_OUT)
        shapes[shape_id] = shape
    return dict(sorted(shapes.items()))


def _names_others(shape: Shape) -> bool:
    """Whether a statement names, or may name, what stands in no list.

    That is a temporary table, one that a key refers to, or anything in a part that is not read.
    """
    return (
        shape.outcome is not Outcome.PARSED
        or _TEMPORARY.search(shape.text) is not None
        or "references" in shape.text.casefold()
    )


def code_left_out(lineage: Lineage, view: AudienceView) -> frozenset[DatasetId]:
    """The datasets with code that is left out: of what builds them, it names what is hidden.

    Args:
        lineage: The complete one, of which the visible one is made.
    """
    cut = {key for key, shape in lineage.shapes.items() if shape.text in view.cut_texts}
    datasets = {
        usage.dataset
        for name, task in lineage.tasks.items()
        if name in view.tasks
        for usage in task.usages
        if not cut.isdisjoint(usage.shapes)
    }
    for definition in lineage.definitions.values():
        if not cut.isdisjoint(definition.shapes) or (definition.gap and not view.shows_unlabelled):
            datasets.add(definition.dataset)
    return frozenset(datasets)


def _shape_uses(
    lineage: Lineage, view: AudienceView
) -> Iterator[tuple[str, Iterable[DatasetId], bool]]:
    """Each use of a statement: its id, the datasets, and whether the use is visible."""
    hidden = view.hidden.datasets
    for task in lineage.tasks.values():
        task_datasets = {usage.dataset for usage in task.usages}
        for usage in task.usages:
            is_shown = task.name in view.tasks and usage.dataset not in hidden
            for shape_id in usage.shapes:
                # Of a temporary table other statements of the task say what is in it.
                shape = lineage.shapes.get(shape_id)
                is_temporary = shape and _TEMPORARY.search(shape.text)
                yield shape_id, task_datasets if is_temporary else (usage.dataset,), is_shown
        for shape_id in task.gaps:  # which may be about anything
            yield shape_id, view.hidden_parts, task.name in view.tasks
    for definition in lineage.definitions.values():
        for shape_id in definition.shapes:
            datasets = (definition.dataset, *definition.reads)
            yield shape_id, datasets, definition.dataset not in hidden


def _accesses(accesses: Iterable[Access], view: AudienceView) -> Iterator[Access]:
    for access in accesses:
        if access.task not in view.tasks:
            continue
        # The dates of a hidden column are its values.
        periods = tuple(
            period
            for period in access.periods
            if not view.hidden.hides(access.dataset, period.column or ANY_COLUMN)
        )
        yield access if periods == access.periods else replace(access, periods=periods)
