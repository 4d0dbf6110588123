"""The lineage as an audience may see it, computed from the complete one.

Data that flows through a hidden dataset goes around it: what is visible stays connected. Statements
and messages that name what is hidden have no text; keys that are called after it have other names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.hidden import Audience, HiddenData
from dbt_graft.analysis.audience.records import blank_text, rename_keys
from dbt_graft.analysis.audience.words import LEFT_OUT
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task, flow_order
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import Access, ColumnEdge, Dataset, Run, Shape


def visible_lineage(lineage: Lineage, view: AudienceView) -> Lineage:
    """The lineage as the audience may see it: what is not named here is left out."""
    hidden = view.hidden.datasets
    tasks = {name: _task(task, view) for name, task in lineage.tasks.items() if name in view.tasks}
    # Hidden tasks may use visible data: their names stand in flows and edges.
    view.names.hide(name for name in lineage.tasks if name not in view.tasks)
    definitions = {
        name: replace(
            blank_text(definition, view.cuts([definition.dataset, *definition.reads])),
            reads=tuple(read for read in definition.reads if read not in hidden),
        )
        for name, definition in lineage.definitions.items()
        if definition.dataset not in hidden
    }
    edges = tuple(edge for edge in lineage.column_edges if _is_visible(edge, view.hidden))
    shapes = _shapes(lineage, view, {edge.shape_id for edge in edges})
    # The id of a statement is a digest of its text, which somebody may guess.
    view.names.hide(key for key, shape in shapes.items() if shape.text != lineage.shapes[key].text)
    view.names.hide(key for key in lineage.shapes if key not in shapes)
    visible = Lineage(
        datasets={
            key: _dataset(dataset, view)
            for key, dataset in lineage.datasets.items()
            if key not in hidden
        },
        tasks=tasks,
        flows=_flows(lineage, hidden),
        shapes=shapes,
        column_edges=edges,
        definitions=definitions,
        former_names=_drop_hidden(lineage.former_names, hidden),
        aliases=_drop_hidden(lineage.aliases, hidden),
        node_results={
            node_id: blank_text(results, view.cuts(view.words.near))
            for node_id, results in lineage.node_results.items()
            if node_id in view.nodes
        },
        orchestrator_runs=blank_text(_orchestrator_runs(lineage, tasks.values()), view.cuts()),
        dataset_metadata={
            key: replace(
                blank_text(metadata, view.cuts([key])),
                columns=tuple(
                    blank_text(column, view.cuts([key]))
                    for column in metadata.columns
                    if not view.hidden.hides(key, column.name)
                ),
            )
            for key, metadata in lineage.dataset_metadata.items()
            if key not in hidden
        },
        superseded={key: runs for key, runs in lineage.superseded.items() if key[0] in tasks},
        accesses=tuple(_accesses(lineage.accesses, view)),
        declared_dates={
            key: _dates(dates, hidden)
            for key, dates in lineage.declared_dates.items()
            if key not in hidden
        },
        taints=tuple(_taints(lineage.taints, view)),
        name_reasons=_drop_hidden(lineage.name_reasons, hidden),
        partition_columns={
            key: {
                name: grain for name, grain in columns.items() if not view.hidden.hides(key, name)
            }
            for key, columns in lineage.partition_columns.items()
            if key not in hidden
        },
    )
    renamed_lineage: Lineage = rename_keys(visible, view.names)
    if renamed_lineage is visible:
        return visible
    flows = tuple(sorted(renamed_lineage.flows, key=flow_order))
    return replace(renamed_lineage, flows=flows)


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


_Value = TypeVar("_Value")


def _drop_hidden(
    values: Mapping[DatasetId, _Value], hidden: Collection[DatasetId]
) -> dict[DatasetId, _Value]:
    return {key: value for key, value in values.items() if key not in hidden}


def _orchestrator_runs(lineage: Lineage, tasks: Iterable[Task]) -> dict[str, Run]:
    """The runs of an orchestrator that started visible ones."""
    runs: dict[str, Run] = {}
    waiting = [run.parent_run_id for task in tasks for run in task.runs]
    while waiting:
        run_id = waiting.pop()
        if run_id is None or run_id in runs or run_id not in lineage.orchestrator_runs:
            continue
        runs[run_id] = lineage.orchestrator_runs[run_id]
        waiting.append(runs[run_id].parent_run_id)
    return runs


def _dates(dates: DeclaredDates, hidden: Collection[DatasetId]) -> DeclaredDates:
    return replace(
        dates,
        reads=_drop_hidden(dates.reads, hidden),
        estimated=_drop_hidden(dates.estimated, hidden),
        completed=_drop_hidden(dates.completed, hidden),
    )


def _dataset(dataset: Dataset, view: AudienceView) -> Dataset:
    columns = tuple(
        column for column in dataset.columns if not view.hidden.hides(dataset.id, column.name)
    )
    return dataset if len(columns) == len(dataset.columns) else replace(dataset, columns=columns)


def _task(task: Task, view: AudienceView) -> Task:
    cut = view.cuts({usage.dataset for usage in task.usages})
    usages = tuple(usage for usage in task.usages if usage.dataset not in view.hidden.datasets)
    return replace(
        task,
        usages=blank_text(usages, cut),
        runs=blank_text(task.runs, cut),
        info=blank_text(task.info, cut),
    )


def _is_visible(edge: ColumnEdge, hidden: HiddenData) -> bool:
    return not (
        hidden.hides(edge.to_dataset, edge.to_column)
        or hidden.hides(edge.from_dataset, edge.from_column)
    )


def _flows(lineage: Lineage, hidden: Collection[DatasetId]) -> tuple[Flow, ...]:
    """The flows between visible datasets; those through hidden ones by the last step's task."""
    if not hidden:
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
    once = {(flow.target, flow.source, flow.task): flow for flow in flows}
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
    """The statements of visible tasks, definitions and edges; without text about hidden data."""
    hidden = view.hidden.datasets
    datasets: dict[str, set[DatasetId]] = defaultdict(set)
    shown = set(of_edges)
    for shape_id, used, is_shown in _shape_uses(lineage, view):
        datasets[shape_id].update(used)
        if is_shown:
            shown.add(shape_id)
    shapes = {}
    for shape_id in lineage.shapes.keys() & shown:
        shape = lineage.shapes[shape_id]
        # A statement that belongs nowhere may be about anything.
        cut = view.cuts(datasets.get(shape_id, view.words.near))
        if not hidden.isdisjoint(datasets.get(shape_id, ())) or cut(shape.text):
            shape = replace(shape, text=f"-- {LEFT_OUT}")
        shapes[shape_id] = blank_text(shape, cut)
    return dict(sorted(shapes.items()))


def _shape_uses(
    lineage: Lineage, view: AudienceView
) -> Iterator[tuple[str, Iterable[DatasetId], bool]]:
    """Each use of a statement: its id, the datasets, and whether the use is visible."""
    hidden = view.hidden.datasets
    for task in lineage.tasks.values():
        for usage in task.usages:
            is_shown = task.name in view.tasks and usage.dataset not in hidden
            for shape_id in usage.shapes:
                yield shape_id, (usage.dataset,), is_shown
    for definition in lineage.definitions.values():
        for shape_id in definition.shapes:
            datasets = (definition.dataset, *definition.reads)
            yield shape_id, datasets, definition.dataset not in hidden


def _accesses(accesses: Iterable[Access], view: AudienceView) -> Iterator[Access]:
    for access in accesses:
        if access.dataset in view.hidden.datasets or access.task not in view.tasks:
            continue
        columns = [period.column or "*" for period in access.periods]
        if any(view.hidden.hides(access.dataset, column) for column in columns):
            periods = tuple(replace(period, column="") for period in access.periods)
            yield replace(access, periods=periods)
        else:
            yield access


def _taints(taints: Iterable[RecordedTaint], view: AudienceView) -> Iterator[RecordedTaint]:
    """The bad dates of visible data, without people's words about them."""
    hidden = view.hidden.datasets
    for taint in taints:
        if taint.dataset not in hidden:
            yield replace(
                taint,
                reason="",
                link="",
                tainted={
                    key: dates for key, dates in taint.tainted.items() if key[1] not in hidden
                },
                superseded=tuple(
                    later for later in taint.superseded if later.dataset not in hidden
                ),
            )
