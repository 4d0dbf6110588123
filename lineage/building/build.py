"""Records of the lineage store -> the lineage: renames followed, temporary tables seen through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import attrgetter

from dbt_graft.lineage.building.checks import rename_checks
from dbt_graft.lineage.building.dbt_runs import split
from dbt_graft.lineage.building.drops import Drops
from dbt_graft.lineage.building.event_runs import join_events
from dbt_graft.lineage.building.evidences import with_evidences
from dbt_graft.lineage.building.foreign_models import with_foreign_models
from dbt_graft.lineage.building.ignored_tasks import without_tasks
from dbt_graft.lineage.building.known_namespaces import with_known_namespaces
from dbt_graft.lineage.building.lasting_columns import lasting_columns
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.building.metadata import metadata_by_dataset, with_metadata
from dbt_graft.lineage.building.model_reads import model_reads
from dbt_graft.lineage.building.nominal_periods import with_nominal_periods
from dbt_graft.lineage.building.orchestration import orchestrator_runs, task_runs
from dbt_graft.lineage.building.other_names import OtherNames, other_names
from dbt_graft.lineage.building.precedence import edges_beside_logs, flow_accesses, observed_first
from dbt_graft.lineage.building.renames import follow_renames
from dbt_graft.lineage.building.run_group import parent_by_run
from dbt_graft.lineage.building.runs import results_by_node, runs_by_task
from dbt_graft.lineage.building.schemas import Schema, columns_used_later, logged_schemas
from dbt_graft.lineage.building.spaced_periods import with_spaced_periods
from dbt_graft.lineage.building.superseded import supersessions
from dbt_graft.lineage.building.task_code import with_task_code
from dbt_graft.lineage.building.transient import transient
from dbt_graft.lineage.code import CodeMatch
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import flows
from dbt_graft.lineage.gaps import followed_shapes
from dbt_graft.lineage.graphs.columns import table_edges
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task, flow_order, joint_kind, merge_datasets
from dbt_graft.lineage.names import DatasetNames, NameRules, Rename
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    RunRepeats,
    Shape,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.renaming import map_datasets
from dbt_graft.lineage.settings import LineageSettings
from dbt_graft.lineage.usage import Usage, usages, with_repeats

_KIND, _FIRST, _LAST = attrgetter("kind"), attrgetter("first_at"), attrgetter("last_at")


def build(
    records: Records, rename: Rename | None = None, settings: LineageSettings | None = None
) -> Lineage:
    """The lineage that records of a store make, under the names that the rules give."""
    settings = settings or LineageSettings()
    if settings.projects is not None:
        records = with_foreign_models(records, settings.projects)
    records, ignored = without_tasks(with_known_namespaces(records), settings.ignore)
    records, codes = with_task_code(records, settings.codes)
    names = other_names(records, rename or NameRules(), settings.one_name)
    records, rename = names.records, names.rename
    of_tasks, of_dbt = split(join_events(records))
    codes = {task: map_datasets(match, rename) for task, match in codes.items()}
    lineage = _build_lineage(of_tasks, rename, settings, codes)
    if names.reasons:
        lineage = _with_names(lineage, names)
    if settings.dates:
        dates = {rename(key): map_datasets(of, rename) for key, of in settings.dates.items()}
        lineage = replace(lineage, history=replace(lineage.history, declared_dates=dates))
    if ignored.tasks:
        lineage = replace(lineage, ignored=ignored)
    if codes:
        lineage = replace(lineage, codes=codes)
    if not of_dbt.accesses:
        return lineage
    built = _build_lineage(of_dbt, rename, LineageSettings(), {})
    reads = model_reads(built.history.accesses)
    return replace(lineage, dbt=replace(lineage.dbt, column_edges=built.column_edges, reads=reads))


def join_records(records: Records, projects: Collection[str] | None) -> Records:
    """The records as their lineage has them, under the names of the logs: each run once.

    Args:
        projects: As in the settings of a lineage.
    """
    return join_events(records if projects is None else with_foreign_models(records, projects))


def _build_lineage(
    records: Records, rename: Rename, settings: LineageSettings, codes: Mapping[str, CodeMatch]
) -> Lineage:
    rename = locate_names(rename, records.datasets)
    accesses, edges = _under_rule_names(records, rename)
    accesses = with_nominal_periods(with_spaced_periods(accesses), records.runs)
    if settings.failed:
        accesses = [
            replace(a, status=Status.UNKNOWN) if a.status is Status.FAILED else a for a in accesses
        ]
    followed = follow_renames(accesses, edges_beside_logs(edges))
    gone = transient(followed.accesses)
    accesses = [
        replace(a, kind=Kind.TEMPORARY) if gone and a.dataset in gone else a
        for a in followed.accesses
    ]
    views = {run.task for run in records.runs if run.engine == DefinitionKind.VIEW}
    parents = parent_by_run(records.runs)
    apart = {(task, *pair) for task, match in codes.items() for pair in match.apart}
    moved = [
        flow
        for flow in flows(flow_accesses(accesses), parents)
        if not (flow.through_memory and (flow.task, flow.source, flow.target) in apart)
    ]
    moved = [
        replace(flow, definition=DefinitionKind.VIEW) if flow.task in views else flow
        for flow in moved
    ]
    lasting = [access for access in accesses if access.kind is not Kind.TEMPORARY]
    present = [_present_dataset(dataset, rename, followed.dead) for dataset in records.datasets]
    recorded = ((new.id, old) for new, old in zip(present, records.datasets, strict=True))
    schemas = logged_schemas(recorded, lasting)
    datasets = _datasets(
        (dataset for dataset in present if dataset.id not in gone), lasting, schemas
    )
    used = usages(
        observed_first(access for access in lasting if access.task not in views),
        {(run.task, run.run_id): run.engine for run in records.runs},
        (flow for flow in moved if flow.definition is None),
    )
    moved, used = with_evidences(accesses, records.runs, moved, used)
    used = with_repeats(used, records.usage_repeats, rename)
    columns = lasting_columns(
        (*followed.column_edges, *table_edges(accesses)),
        accesses,
        datasets.values(),
        moved,
        parents,
        infer=settings.infer_columns,
        followed=followed_shapes(records.shapes.values()),
    )
    datasets |= {
        dataset: replace(datasets[dataset], columns=(*datasets[dataset].columns, *columns))
        for dataset, columns in columns_used_later(schemas, followed.column_edges, accesses).items()
        if dataset in datasets
    }
    runs = task_runs((run for run in records.runs if run.task not in views), used)
    return Lineage(
        datasets=datasets,
        tasks=_tasks(
            runs,
            used,
            settings.infos,
            with_metadata(settings.infos, records.task_metadata),
            records.run_repeats,
            _gaps(accesses, runs, records.shapes),
        ),
        flows=tuple(sorted(moved, key=flow_order)),
        shapes=records.shapes,
        rejects=records.rejects,
        column_edges=columns.edges,
        column_uses=columns.uses,
        known_reads=columns.known_reads,
        definitions=_views(access for access in lasting if access.task in views),
        dataset_metadata=metadata_by_dataset(
            records.dataset_metadata,
            lambda dataset: followed.dead.get(name := rename(dataset), name),
        ),
        names=DatasetNames(
            former={
                dataset: tuple(name for name in names if name not in datasets)
                for dataset, names in followed.former_names.items()
                if dataset in datasets and any(name not in datasets for name in names)
            },
            aliases=_aliases(records, rename, datasets),
        ),
        history=History(
            accesses=tuple(a for a in lasting if a.last_at is not None and a.task not in views),
            orchestrator_runs=orchestrator_runs(records.runs),
            superseded=supersessions(records.runs, lasting),
            fed_again=columns.fed_again,
        ),
        dbt=DbtRuns(results_by_node(rename_checks(records.node_results, rename))),
    )


def _with_names(lineage: Lineage, names: OtherNames) -> Lineage:
    """The lineage with the names of datasets that are no datasets, also of those unused."""
    names_by_dataset = {dataset: set(aliases) for dataset, aliases in lineage.names.aliases.items()}
    for name, dataset in names.tables.items():
        if dataset in lineage.datasets and name not in lineage.datasets[dataset].symlinks:
            names_by_dataset.setdefault(dataset, set()).add(name)
    aliases = {
        dataset: tuple(sorted(names_by_dataset[dataset])) for dataset in sorted(names_by_dataset)
    }
    return replace(lineage, names=replace(lineage.names, aliases=aliases, reasons=names.reasons))


def _aliases(
    records: Records, rename: Rename, datasets: Mapping[DatasetId, Dataset]
) -> dict[DatasetId, tuple[DatasetId, ...]]:
    """For each dataset the names in logs that a rule replaces; the place of its files is none."""
    used = {access.dataset for access in records.accesses if access.kind is not Kind.TEMPORARY}
    renamed = sorted((dataset, name) for name in used if (dataset := rename(name)) != name)
    aliases = group_by_key(
        (dataset, name)
        for dataset, name in renamed
        if dataset in datasets and name not in datasets[dataset].symlinks
    )
    return {dataset: tuple(names) for dataset, names in aliases.items()}


def locate_names(rename: Rename, datasets: Iterable[Dataset]) -> Rename:
    """Rules under which a path that a log names as the place of one table is that table.

    Events name the table as another name of the path. An engine's own log knows it better. Names
    of one place that differ only in the server or catalog before them are one table.
    """
    owners: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    in_events: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for dataset in datasets:
        for other in dataset.symlinks:
            if other.is_path and not dataset.id.is_path:
                owners[other].add(dataset.id)
            elif dataset.id.is_path and not other.is_path:
                in_events[dataset.id].add(other)
    tables: dict[DatasetId, DatasetId] = {}
    for path, names in {**in_events, **owners}.items():
        if len({_table_name(name) for name in names}) == 1:
            # A name without a server is the engine's own.
            table = min(names, key=lambda name: ("://" in name.namespace, name))
            others = {
                name
                for name in names | in_events[path]
                if name != table and _table_name(name) == _table_name(table)
            }
            tables.update(dict.fromkeys((path, *others), table))

    def locate(dataset: DatasetId) -> DatasetId:
        name = rename(dataset)
        if name != dataset or dataset not in tables:
            return name
        table = tables[dataset]
        return rename(tables.get(table, table))

    return locate


def _table_name(dataset: DatasetId) -> tuple[str, ...]:
    """The schema and the table of a name."""
    return tuple(part.casefold() for part in dataset.parts[-2:])


def _under_rule_names(
    records: Records, rename: Rename
) -> tuple[Sequence[Access], Sequence[ColumnEdge]]:
    """Accesses and column edges under the names of the rules; temporary tables keep theirs."""
    temporary = {a.dataset for a in records.accesses if a.kind is Kind.TEMPORARY} | {MEMORY}

    def present_name(dataset: DatasetId) -> DatasetId:
        return dataset if dataset in temporary else rename(dataset)

    named = Records(accesses=records.accesses, column_edges=records.column_edges)
    named = map_datasets(named, present_name)
    return named.accesses, named.column_edges


def _present_dataset(
    dataset: Dataset, rename: Rename, dead: Mapping[DatasetId, DatasetId]
) -> Dataset:
    """A dataset as the records have it under its name of today.

    Of one that got another name only the columns count.
    """
    name = rename(dataset.id)
    if name in dead:
        return Dataset(dead[name], columns=dataset.columns)
    if name is dataset.id and not dataset.symlinks:
        return dataset
    symlinks = {
        other
        for symlink in dataset.symlinks
        # The place of its own files goes by the path.
        if (other := symlink if rename(symlink) == name else rename(symlink)) != name
    }
    kind = dataset.kind
    if dataset.id.is_path and any(rename(link) == name != dataset.id for link in dataset.symlinks):
        # Its place, by which events name the table.
        symlinks.add(dataset.id)
        kind = Kind.TABLE if kind is Kind.PATH else kind
    return replace(dataset, id=name, kind=kind, symlinks=tuple(sorted(symlinks)))


def _datasets(
    recorded: Iterable[Dataset],
    accesses: Collection[Access],
    schemas: Mapping[DatasetId, Schema],
) -> dict[DatasetId, Dataset]:
    datasets: dict[DatasetId, Dataset] = {}

    def add_dataset(dataset: Dataset) -> None:
        earlier = datasets.get(dataset.id)
        datasets[dataset.id] = merge_datasets(earlier, dataset) if earlier else dataset

    for dataset in recorded:
        if dataset.kind is not Kind.TEMPORARY:
            add_dataset(dataset)
    for group in group_by_key((each.dataset.key, each) for each in accesses).values():
        add_dataset(
            Dataset(
                group[0].dataset,
                reduce(joint_kind, map(_KIND, group)),
                first_seen=min(filter(None, map(_FIRST, group)), default=None),
                last_seen=max(filter(None, map(_LAST, group)), default=None),
            )
        )
    drops = Drops(accesses)
    for key, dataset in datasets.items():
        schema = schemas.get(key, Schema((), None))
        datasets[key] = replace(
            dataset,
            columns=schema.columns,
            has_all_columns=schema.defined_at is not None,
            dropped_at=drops.drop_time(dataset),
        )
    return dict(sorted(datasets.items(), key=lambda item: item[0].key))


def _tasks(
    runs: Iterable[Run],
    used: Iterable[Usage],
    written: Mapping[str, TaskInfo],
    infos: Mapping[str, TaskInfo],
    run_repeats: Iterable[RunRepeats],
    gaps: Mapping[str, Collection[str]],
) -> dict[str, Task]:
    """The tasks by name.

    Args:
        written: What people wrote of them; `infos` has what events say, too.
        gaps: The shapes of each task's statements that are not understood.
    """
    by_task = runs_by_task(runs)
    repeats: dict[str, dict[str, int]] = defaultdict(dict)
    for run_repeat in run_repeats:
        if run_repeat.runs:
            repeats[run_repeat.task][run_repeat.run_id] = run_repeat.runs
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
            described_in_events=name in infos
            and not (name in written and written[name].description),
            repeats=repeats.get(name, {}),
            gaps=_without_uses(gaps[name], usages_by_task[name]) if name in gaps else (),
        )
        for name in sorted({*by_task, *usages_by_task})
    }


def _without_uses(shapes: Collection[str], used: Iterable[Usage]) -> tuple[str, ...]:
    return tuple(sorted({*shapes}.difference(*(usage.shapes for usage in used))))


def _gaps(
    accesses: Iterable[Access], runs: Iterable[Run], shapes: Mapping[str, Shape]
) -> dict[str, set[str]]:
    """For each task the shapes of its statements that are not understood."""
    gaps: dict[str, set[str]] = defaultdict(set)
    missing = {key for key, shape in shapes.items() if shape.outcome is not Outcome.PARSED}
    for access in accesses if missing else ():
        if access.shape_id in missing:
            gaps[access.task].add(access.shape_id)
    for run in runs:
        if of_run := missing.intersection(run.gaps):
            gaps[run.task] |= of_run
    return gaps


def _engines(runs: Iterable[Run], used: Iterable[Usage]) -> tuple[str, ...]:
    """The engines of a task's runs, that of the newest run first; of its usages without runs."""
    engines = dict.fromkeys(run.engine for run in runs)
    return tuple(engines or dict.fromkeys(usage.engine for usage in used))


def _views(accesses: Iterable[Access]) -> dict[str, Definition]:
    by_view = group_by_key((access.task, access) for access in accesses)
    definitions = {}
    for name, group in sorted(by_view.items()):
        for access in group:
            if access.direction is Direction.WRITE:
                reads = {a.dataset for a in group if a.direction is Direction.READ}
                definitions[name] = Definition(
                    name,
                    DefinitionKind.VIEW,
                    access.dataset,
                    tuple(sorted(reads)),
                    access.operation,
                    (access.shape_id,),
                )
    return definitions
