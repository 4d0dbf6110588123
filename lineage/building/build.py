"""Records of the lineage store -> the lineage: renames followed, temporary tables seen through."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from dbt_graft.lineage.building.checks import rename_checks
from dbt_graft.lineage.building.datasets import (
    find_aliases,
    join_datasets,
    locate_names,
    present_dataset,
)
from dbt_graft.lineage.building.dbt_runs import split
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
from dbt_graft.lineage.building.ordinals import with_placed_columns
from dbt_graft.lineage.building.other_names import OtherNames, other_names
from dbt_graft.lineage.building.precedence import edges_beside_logs, flow_accesses, observed_first
from dbt_graft.lineage.building.renames import follow_renames
from dbt_graft.lineage.building.run_group import parent_by_run
from dbt_graft.lineage.building.runs import results_by_node
from dbt_graft.lineage.building.schemas import columns_used_later, logged_schemas
from dbt_graft.lineage.building.spaced_periods import with_spaced_periods
from dbt_graft.lineage.building.superseded import supersessions
from dbt_graft.lineage.building.task_code import with_task_code
from dbt_graft.lineage.building.tasks import define_views, find_gaps, join_tasks
from dbt_graft.lineage.building.transient import transient
from dbt_graft.lineage.code import CodeMatch
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.flow import Flow, flows
from dbt_graft.lineage.gaps import followed_shapes, open_tasks
from dbt_graft.lineage.graphs.columns import table_edges
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, flow_order
from dbt_graft.lineage.names import DatasetNames, NameRules, Rename
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Records,
    Status,
)
from dbt_graft.lineage.renaming import map_datasets
from dbt_graft.lineage.settings import LineageSettings
from dbt_graft.lineage.usage import usages, with_repeats


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
    rename, records = names.rename, names.records
    records = replace(records, column_edges=ColumnEdges.of(records.column_edges))
    records = with_placed_columns(records, rename)
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
    if lineage.known_reads and (unknown := open_tasks(lineage)):
        reads = tuple(pair for pair in lineage.known_reads if pair[0] not in unknown)
        lineage = replace(lineage, known_reads=reads)
    if not of_dbt.accesses:
        return lineage
    built = _build_lineage(of_dbt, rename, LineageSettings(), {})
    of_models = model_reads(built.history.accesses)
    dbt = replace(lineage.dbt, column_edges=built.column_edges, reads=of_models)
    return replace(lineage, dbt=dbt)


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
    moved = _find_flows(accesses, parents, views, codes)
    lasting = [access for access in accesses if access.kind is not Kind.TEMPORARY]
    present = [present_dataset(dataset, rename, followed.dead) for dataset in records.datasets]
    recorded = ((new.id, old) for new, old in zip(present, records.datasets, strict=True))
    schemas = logged_schemas(recorded, lasting)
    datasets = join_datasets(
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
        ColumnEdges.join(map(ColumnEdges.of, (followed.column_edges, table_edges(accesses)))),
        accesses,
        datasets.values(),
        moved,
        parents,
        infer=settings.infer_columns,
        followed=followed_shapes(records.shapes.values()),
    )
    for dataset, later in columns_used_later(schemas, followed.column_edges, accesses).items():
        if facts := datasets.get(dataset):
            datasets[dataset] = replace(facts, columns=(*facts.columns, *later))
    runs = task_runs((run for run in records.runs if run.task not in views), used)
    return Lineage(
        datasets=datasets,
        tasks=join_tasks(
            runs,
            used,
            settings.infos,
            with_metadata(settings.infos, records.task_metadata),
            records.run_repeats,
            find_gaps(accesses, runs, records.shapes),
        ),
        flows=tuple(sorted(moved, key=flow_order)),
        shapes=records.shapes,
        rejects=records.rejects,
        column_edges=columns.edges,
        column_uses=columns.uses,
        known_reads=columns.known_reads,
        definitions=define_views(access for access in lasting if access.task in views),
        dataset_metadata=metadata_by_dataset(
            records.dataset_metadata,
            lambda dataset: followed.dead.get(name := rename(dataset), name),
        ),
        names=DatasetNames(
            former=_find_former_names(followed.former_names, datasets),
            aliases=find_aliases(records, rename, datasets),
        ),
        history=History(
            accesses=tuple(a for a in lasting if a.last_at is not None and a.task not in views),
            orchestrator_runs=orchestrator_runs(records.runs),
            superseded=supersessions(records.runs, lasting),
            fed_again=columns.fed_again,
        ),
        dbt=DbtRuns(results_by_node(rename_checks(records.node_results, rename))),
    )


def _find_flows(
    accesses: Iterable[Access],
    parents: Mapping[tuple[str, str], str],
    views: Collection[str],
    codes: Mapping[str, CodeMatch],
) -> list[Flow]:
    """The flows through tasks and views, without those that a task's code rules out."""
    apart = {(task, *pair) for task, match in codes.items() for pair in match.apart}
    return [
        replace(flow, definition=DefinitionKind.VIEW) if flow.task in views else flow
        for flow in flows(flow_accesses(accesses), parents)
        if not (flow.through_memory and (flow.task, flow.source, flow.target) in apart)
    ]


def _find_former_names(
    names_by_dataset: Mapping[DatasetId, Collection[DatasetId]], datasets: Collection[DatasetId]
) -> dict[DatasetId, tuple[DatasetId, ...]]:
    """The names that datasets had before, but for those that others have now."""
    former = {
        dataset: tuple(name for name in names if name not in datasets)
        for dataset, names in names_by_dataset.items()
        if dataset in datasets
    }
    return {dataset: names for dataset, names in former.items() if names}


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
