"""Records of the lineage store -> the lineage: renames followed, temporary tables seen through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbt_graft.lineage.columns import table_edges
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import split
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import flows
from dbt_graft.lineage.lasting_columns import column_edges
from dbt_graft.lineage.memory import MEMORY
from dbt_graft.lineage.model import Lineage, Task, flow_order, merged_dataset
from dbt_graft.lineage.names import NameRules, Rename
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    Records,
    Run,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.renames import follow_renames
from dbt_graft.lineage.runs import results_by_node, runs_by_task
from dbt_graft.lineage.transient import transient
from dbt_graft.lineage.usage import Usage, usages


def build(
    records: Records,
    rename: Rename | None = None,
    infos: Mapping[str, TaskInfo] | None = None,
    *,
    failed: bool = False,
    infer_columns: bool = True,
) -> Lineage:
    """The lineage that records of a store make, under the names that the rules give.

    Args:
        infos: What graft.yml and declared lineage say of tasks, by name.
        failed: What failed statements tried counts as done.
        infer_columns: Columns of equal name are connected through a task's memory.
    """
    of_tasks, of_dbt = split(records)
    lineage = _built(of_tasks, rename, infos, failed=failed, infer_columns=infer_columns)
    if not of_dbt.column_edges:
        return lineage
    return replace(lineage, dbt_edges=_built(of_dbt, rename).column_edges)


def _built(
    records: Records,
    rename: Rename | None,
    infos: Mapping[str, TaskInfo] | None = None,
    *,
    failed: bool = False,
    infer_columns: bool = True,
) -> Lineage:
    rename = _with_locations(rename or NameRules(), records.datasets)
    accesses, edges = _under_rule_names(records, rename)
    if failed:
        accesses = [
            replace(a, status=Status.UNKNOWN) if a.status is Status.FAILED else a for a in accesses
        ]
    followed = follow_renames(accesses, edges)
    gone = transient(followed.accesses)
    accesses = [
        replace(a, kind=Kind.TEMPORARY) if a.dataset in gone else a for a in followed.accesses
    ]
    views = {run.task for run in records.runs if run.engine == DefinitionKind.VIEW}
    parents = {(run.task, run.run_id): run.parent_run_id or run.run_id for run in records.runs}
    moved = flows(accesses, parents)
    moved = [
        replace(flow, definition=DefinitionKind.VIEW) if flow.task in views else flow
        for flow in moved
    ]
    lasting = [access for access in accesses if access.kind is not Kind.TEMPORARY]
    known = [_known(dataset, rename, followed.dead) for dataset in records.datasets]
    datasets = _datasets((one for one in known if one.id not in gone), lasting)
    used = usages(
        (access for access in lasting if access.task not in views),
        {(run.task, run.run_id): run.engine for run in records.runs},
        (flow for flow in moved if flow.definition is None),
    )
    return Lineage(
        datasets=datasets,
        tasks=_tasks([run for run in records.runs if run.task not in views], used, infos or {}),
        flows=tuple(sorted(moved, key=flow_order)),
        shapes=records.shapes,
        rejects=records.rejects,
        column_edges=column_edges(
            (*followed.column_edges, *table_edges(accesses)),
            accesses,
            datasets.values(),
            moved,
            parents,
            infer=infer_columns,
        ),
        definitions=_views(access for access in lasting if access.task in views),
        node_results=results_by_node(records.node_results),
        former_names={
            dataset: tuple(name for name in names if name not in datasets)
            for dataset, names in followed.former_names.items()
            if dataset in datasets and any(name not in datasets for name in names)
        },
        aliases=_aliases(records, rename, datasets),
    )


def _aliases(
    records: Records, rename: Rename, datasets: Mapping[DatasetId, Dataset]
) -> dict[DatasetId, tuple[DatasetId, ...]]:
    """For each dataset the names in logs that a rule replaces; the place of its files is none."""
    used = {one.dataset for one in records.accesses if one.kind is not Kind.TEMPORARY}
    found: dict[DatasetId, list[DatasetId]] = defaultdict(list)
    for name in sorted(used):
        dataset = rename(name)
        if dataset != name and dataset in datasets and name not in datasets[dataset].symlinks:
            found[dataset].append(name)
    return {dataset: tuple(found[dataset]) for dataset in sorted(found)}


def _with_locations(rename: Rename, datasets: Iterable[Dataset]) -> Rename:
    """Rules under which a path that a log names as the place of one table is that table."""
    owners: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for dataset in datasets:
        for path in dataset.symlinks:
            if path.is_path and not dataset.id.is_path:
                owners[path].add(dataset.id)
    tables = {path: next(iter(found)) for path, found in owners.items() if len(found) == 1}

    def located(dataset: DatasetId) -> DatasetId:
        name = rename(dataset)
        return rename(tables[dataset]) if name == dataset and dataset in tables else name

    return located


def _under_rule_names(records: Records, rename: Rename) -> tuple[list[Access], list[ColumnEdge]]:
    """Accesses and column edges under the names of the rules; temporary tables keep theirs."""
    temporary = {a.dataset for a in records.accesses if a.kind is Kind.TEMPORARY} | {MEMORY}

    def named(dataset: DatasetId) -> DatasetId:
        return dataset if dataset in temporary else rename(dataset)

    def access_named(access: Access) -> Access:
        name = named(access.dataset)
        # Most keep their name, and a copy of each would be most of the work.
        return access if str(name) == str(access.dataset) else replace(access, dataset=name)

    return (
        [access_named(access) for access in records.accesses],
        [
            replace(edge, to_dataset=named(edge.to_dataset), from_dataset=named(edge.from_dataset))
            for edge in records.column_edges
        ],
    )


def _known(dataset: Dataset, rename: Rename, dead: Mapping[DatasetId, DatasetId]) -> Dataset:
    """A dataset as the records have it under its name of today.

    Of one that got another name only the columns count.
    """
    name = rename(dataset.id)
    if name in dead:
        return Dataset(dead[name], columns=dataset.columns)
    symlinks = {
        other
        for one in dataset.symlinks
        # The place of its own files goes by the path.
        if (other := one if rename(one) == name else rename(one)) != name
    }
    return replace(dataset, id=name, symlinks=tuple(sorted(symlinks)))


def _datasets(known: Iterable[Dataset], accesses: Iterable[Access]) -> dict[DatasetId, Dataset]:
    found: dict[DatasetId, Dataset] = {}

    def add(dataset: Dataset) -> None:
        mine = found.get(dataset.id)
        found[dataset.id] = merged_dataset(mine, dataset) if mine else dataset

    for dataset in known:
        if dataset.kind is not Kind.TEMPORARY:
            add(dataset)
    for access in accesses:
        add(
            Dataset(
                access.dataset, access.kind, first_seen=access.first_at, last_seen=access.last_at
            )
        )
    return {key: found[key] for key in sorted(found)}


def _tasks(
    runs: Iterable[Run], used: Iterable[Usage], infos: Mapping[str, TaskInfo]
) -> dict[str, Task]:
    by_task = runs_by_task(runs)
    usages_by_task: dict[str, list[Usage]] = defaultdict(list)
    for usage in used:
        usages_by_task[usage.task].append(usage)
    return {
        name: Task(
            name=name,
            engines=_engines(by_task.get(name, ()), usages_by_task[name]),
            usages=tuple(usages_by_task[name]),
            runs=by_task.get(name, ()),
            info=infos.get(name, TaskInfo()),
        )
        for name in sorted({*by_task, *usages_by_task})
    }


def _engines(runs: Iterable[Run], used: Iterable[Usage]) -> tuple[str, ...]:
    """The engines of a task's runs, that of the newest run first; of its usages without runs."""
    found = dict.fromkeys(run.engine for run in runs)
    return tuple(found or dict.fromkeys(usage.engine for usage in used))


def _views(accesses: Iterable[Access]) -> dict[str, Definition]:
    by_view: dict[str, list[Access]] = defaultdict(list)
    for access in accesses:
        by_view[access.task].append(access)
    found = {}
    for name, group in sorted(by_view.items()):
        for made in group:
            if made.direction is Direction.WRITE:
                reads = {a.dataset for a in group if a.direction is Direction.READ}
                found[name] = Definition(
                    name,
                    DefinitionKind.VIEW,
                    made.dataset,
                    tuple(sorted(reads)),
                    made.operation,
                    (made.shape_id,),
                )
    return found
