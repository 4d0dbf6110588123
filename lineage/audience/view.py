"""The lineage as an audience may see it, computed from the complete one.

Data that flows through a hidden dataset goes around it: what is visible stays connected. Statements
and messages that name what is hidden have no text; tasks and runs that are called after it have
other names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from dbt_graft.lineage.audience.described import AudienceView
from dbt_graft.lineage.audience.hidden import HiddenData
from dbt_graft.lineage.audience.records import renamed, without
from dbt_graft.lineage.audience.words import LEFT_OUT
from dbt_graft.lineage.checks import check_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task, flow_order
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import Access, ColumnEdge, Dataset, Shape


def visible_lineage(
    lineage: Lineage, view: AudienceView, hidden_nodes: Collection[str] = ()
) -> Lineage:
    """The lineage as the audience may see it.

    Args:
        hidden_nodes: The ids by which dbt knows hidden datasets.
    """
    hidden, words = view.hidden.datasets, view.words
    everywhere = words.mentions()
    tasks = {
        name: task
        for name, before in lineage.tasks.items()
        if (task := _task(before, view)) is not None
    }
    shapes = _shapes(lineage, view)
    # The id of a statement is a digest of its text, which somebody may guess.
    view.names.hide(key for key, one in shapes.items() if one.text != lineage.shapes[key].text)
    visible = replace(
        lineage,
        datasets={
            key: _dataset(one, view) for key, one in lineage.datasets.items() if key not in hidden
        },
        tasks=tasks,
        flows=_flows(lineage, hidden),
        shapes=shapes,
        rejects=without(lineage.rejects, words.mentions(words.near)),
        column_edges=tuple(one for one in lineage.column_edges if _is_visible(one, view.hidden)),
        definitions={
            name: replace(
                without(one, words.mentions([one.dataset, *one.reads])),
                reads=tuple(read for read in one.reads if read not in hidden),
            )
            for name, one in lineage.definitions.items()
            if one.dataset not in hidden
        },
        former_names={
            key: names for key, names in lineage.former_names.items() if key not in hidden
        },
        aliases={key: names for key, names in lineage.aliases.items() if key not in hidden},
        node_results={
            node_id: without(results, words.mentions(words.near))
            for node_id, results in lineage.node_results.items()
            if node_id not in view.tests and node_id not in hidden_nodes
            # Its id names a dataset and a column.
            if check_of(node_id) is None
        },
        dbt_edges=(),
        model_reads=(),
        orchestrator_runs=without(lineage.orchestrator_runs, everywhere),
        dataset_metadata={
            key: replace(
                without(one, words.mentions([key])),
                columns=tuple(
                    column for column in one.columns if not view.hidden.hides(key, column.name)
                ),
            )
            for key, one in lineage.dataset_metadata.items()
            if key not in hidden
        },
        superseded={key: runs for key, runs in lineage.superseded.items() if key[0] in tasks},
        accesses=tuple(_accesses(lineage.accesses, view)),
        declared_dates={
            key: replace(
                dates,
                reads={one: value for one, value in dates.reads.items() if one not in hidden},
                estimated={
                    one: value for one, value in dates.estimated.items() if one not in hidden
                },
                completed={
                    one: value for one, value in dates.completed.items() if one not in hidden
                },
            )
            for key, dates in lineage.declared_dates.items()
            if key not in hidden
        },
        taints=tuple(_taints(lineage.taints, view)),
        name_reasons={key: one for key, one in lineage.name_reasons.items() if key not in hidden},
        partition_columns={
            key: {
                name: grain for name, grain in columns.items() if not view.hidden.hides(key, name)
            }
            for key, columns in lineage.partition_columns.items()
        },
    )
    found: Lineage = renamed(visible, view.names)
    return (
        found
        if found is visible
        else replace(found, flows=tuple(sorted(found.flows, key=flow_order)))
    )


def _dataset(one: Dataset, view: AudienceView) -> Dataset:
    columns = tuple(column for column in one.columns if not view.hidden.hides(one.id, column.name))
    return one if len(columns) == len(one.columns) else replace(one, columns=columns)


def _task(task: Task, view: AudienceView) -> Task | None:
    """The task; None where it uses only what is hidden."""
    usages = tuple(one for one in task.usages if one.dataset not in view.hidden.datasets)
    if task.usages and not usages:
        return None
    mentions = view.words.mentions({one.dataset for one in task.usages})
    return replace(
        task,
        usages=without(usages, mentions),
        runs=without(task.runs, mentions),
        info=without(task.info, mentions),
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
    found = []
    for flow in lineage.flows:
        if flow.target in hidden:
            continue
        hops = tuple(hop for hop in flow.hops if hop not in hidden)
        if flow.source not in hidden:
            found.append(flow if hops == flow.hops else replace(flow, hops=hops))
            continue
        found += [
            replace(flow, source=source, hops=())
            for source in _visible_parents(flow.source, into, hidden)
            if source != flow.target
        ]
    once = {(flow.target, flow.source, flow.task): flow for flow in found}
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


def _shapes(lineage: Lineage, view: AudienceView) -> dict[str, Shape]:
    about: dict[str, set[DatasetId]] = defaultdict(set)
    for task in lineage.tasks.values():
        for usage in task.usages:
            for shape_id in usage.shapes:
                about[shape_id].add(usage.dataset)
    for definition in lineage.definitions.values():
        for shape_id in definition.shapes:
            about[shape_id].update((definition.dataset, *definition.reads))
    found = {}
    for shape_id, shape in lineage.shapes.items():
        datasets = about.get(shape_id)
        # A statement that belongs nowhere may be about anything.
        mentions = view.words.mentions(view.words.near if datasets is None else datasets)
        is_about_hidden = not view.hidden.datasets.isdisjoint(datasets or ())
        if is_about_hidden or mentions(shape.text):
            shape = replace(shape, text=f"-- {LEFT_OUT}")
        found[shape_id] = without(shape, mentions)
    return found


def _accesses(accesses: Iterable[Access], view: AudienceView) -> Iterator[Access]:
    for one in accesses:
        if one.dataset in view.hidden.datasets:
            continue
        if any(view.hidden.hides(one.dataset, period.column or "*") for period in one.periods):
            periods = tuple(replace(period, column="") for period in one.periods)
            yield replace(one, periods=periods)
        else:
            yield one


def _taints(taints: Iterable[RecordedTaint], view: AudienceView) -> Iterator[RecordedTaint]:
    hidden = view.hidden.datasets
    for one in taints:
        if one.dataset not in hidden:
            yield replace(
                one,
                reason="" if view.words.mentions(view.words.near)(one.reason) else one.reason,
                tainted={key: dates for key, dates in one.tainted.items() if key[1] not in hidden},
                superseded=tuple(x for x in one.superseded if x.dataset not in hidden),
            )
