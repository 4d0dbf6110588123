"""The lineage as an audience may see it, computed from the complete one.

Data that flows through a hidden dataset goes around it: what is visible stays connected. Statements
and messages that name what is hidden have no text; keys that are called after it have other names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.hidden import Audience, HiddenData
from dbt_graft.analysis.audience.records import blank_text, rename_keys
from dbt_graft.analysis.audience.words import LEFT_OUT
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task, flow_order
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
    # Hidden tasks may use visible data: their names stand in flows and edges.
    view.names.hide(name for name in lineage.tasks if name not in view.tasks)
    definitions = {
        name: _visible_definition(
            definition, (definition.dataset, *lineage.definitions[name].reads), view
        )
        for name, definition in known.definitions.items()
    }
    edges = tuple(
        # Where somebody's code lies is nobody's business.
        replace(edge, place="") if edge.place else edge
        for edge in known.column_edges
        if _is_visible(edge, view.hidden)
    )
    shapes = _shapes(lineage, view, {edge.shape_id for edge in edges})
    # The id of a statement is a digest of its text, which somebody may guess.
    view.names.hide(key for key, shape in shapes.items() if shape.text != lineage.shapes[key].text)
    view.names.hide(key for key in lineage.shapes if key not in shapes)
    visible = Lineage(
        datasets={
            key: replace(dataset, columns=tuple(_visible_columns(dataset, view)))
            for key, dataset in known.datasets.items()
        },
        tasks=tasks,
        flows=_flows(lineage, view),
        shapes=shapes,
        column_edges=edges,
        column_uses=tuple(
            use
            for use in known.column_uses
            if use.task in tasks and not view.hidden.hides(use.dataset, use.column)
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
        history=_history(known.history, tasks, view),
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
    flows = tuple(sorted(renamed_lineage.flows, key=flow_order))
    return replace(renamed_lineage, flows=flows)


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


def _history(history: History, tasks: Mapping[str, Task], view: AudienceView) -> History:
    """The history of visible tasks and datasets, without people's words about bad dates."""
    return History(
        accesses=tuple(_accesses(history.accesses, view)),
        orchestrator_runs=_visible_runs(orchestrator_runs(history, tasks.values()), view),
        superseded={
            key: runs for key, runs in history.superseded.items() if runs and key[0] in tasks
        },
        declared_dates=history.declared_dates,
        partition_columns={
            key: {
                name: grain for name, grain in columns.items() if not view.hidden.hides(key, name)
            }
            for key, columns in history.partition_columns.items()
        },
        taints=tuple(replace(taint, reason="", link="") for taint in history.taints),
        fed_again=tuple(
            (task, dataset)
            for task, dataset in history.fed_again
            if task in tasks and dataset not in view.hidden.datasets
        ),
    )


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
    """The flows between visible datasets; those through hidden ones by the last step's task."""
    hidden = view.hidden.datasets
    if not hidden and lineage.tasks.keys() <= view.tasks:
        return lineage.flows
    into: dict[DatasetId, list[Flow]] = defaultdict(list)
    for flow in lineage.flows:
        into[flow.target].append(flow)
    flows = []
    for flow in lineage.flows:
        if flow.target in hidden:
            continue
        hops = tuple(hop for hop in flow.hops if hop not in hidden)
        if flow.source not in hidden:
            flows.append(flow if hops == flow.hops else replace(flow, hops=hops))
            continue
        flows += [
            replace(flow, source=source, hops=())
            for source in _visible_parents(flow.source, into, hidden)
            if source != flow.target
        ]
    shown = (
        flow
        if flow.definition or flow.task in view.tasks
        else replace(flow, definition=DefinitionKind.HIDDEN)
        for flow in flows
    )
    once = {(flow.target, flow.source, flow.task): flow for flow in shown}
    return tuple(sorted(once.values(), key=flow_order))


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
    of_hidden_tasks = {
        edge.shape_id
        for edge in lineage.column_edges
        if edge.task in lineage.tasks and edge.task not in view.tasks
    }
    datasets: dict[str, set[DatasetId]] = defaultdict(set)
    shown = set()
    for shape_id, used, is_shown in _shape_uses(lineage, view):
        datasets[shape_id].update(used)
        if is_shown:
            shown.add(shape_id)
    of_hidden |= of_hidden_tasks - shown
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
        for task in lineage.tasks.values()
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
