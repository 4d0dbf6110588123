"""The scope of folding: runs that no other run can change, nor they another.

Not folded are runs of events and of orchestrators, the runs in logs that events show too, dbt's
own runs and views, runs with global temporary tables, and runs that use a table which any run
renames: what these did depends on when others ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt_graft.lineage.airflow_names import parent_id, task_try
from dbt_graft.lineage.building.event_runs import ORCHESTRATORS, is_event
from dbt_graft.lineage.building.run_group import RunGroup
from dbt_graft.lineage.dataset import DatasetId, Kind, is_global_temporary
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import parse_job
from dbt_graft.lineage.records import Access, Run

# Stands for all runs with the name of a try in Airflow, which is an id only in a namespace.
TRY = "try"


@frozen
class FoldScope:
    """The facts of all records that decide which runs may be folded.

    Attributes:
        event_ids: The ids of the runs and applications of events, see `ids_of_event`.
        namespaces: Those of Airflow's jobs, sorted.
        dbt_origins: The logs of dbt's own runs.
        renamed: The datasets that any run renames, and their new names.
    """

    event_ids: frozenset[str] = frozenset()
    namespaces: tuple[str, ...] = ()
    dbt_origins: frozenset[str] = frozenset()
    renamed: frozenset[DatasetId] = frozenset()

    def allows(self, group: RunGroup) -> bool:
        """Whether a group may be folded."""
        return all(self._allows_run(run) for _, run in group.runs) and all(
            self._allows_access(access) for _, access in group.accesses
        )

    def _allows_run(self, run: Run) -> bool:
        if run.job or run.engine in ORCHESTRATORS or run.engine in set(DefinitionKind):
            return False
        if run.origin in self.dbt_origins:
            return False
        return not self.event_ids or self.event_ids.isdisjoint(ids_of_run(run, self.namespaces))

    def _allows_access(self, access: Access) -> bool:
        if is_event(access) or access.origin in self.dbt_origins or access.operation.renames:
            return False
        if access.kind is Kind.TEMPORARY:
            return not is_global_temporary(access.dataset)
        return access.dataset not in self.renamed


def fold_scope(runs: Iterable[Run], accesses: Iterable[Access]) -> FoldScope:
    """The scope of all records; only events, runs of dbt and renames among them matter."""
    ids: set[str] = set()
    namespaces: set[str] = set()
    dbt_origins = set()
    for run in runs:
        if run.job:
            ids.update(ids_of_event(run))
            namespaces.update(namespaces_of(run))
        if run.engine == DefinitionKind.DBT:
            dbt_origins.add(run.origin)
    renamed = {access.dataset for access in accesses if access.operation.renames}
    return FoldScope(
        frozenset(ids), tuple(sorted(namespaces)), frozenset(dbt_origins), frozenset(renamed)
    )


def namespaces_of(run: Run) -> Iterator[str]:
    """The namespace of an orchestrator's job, if it is one."""
    job = parse_job(run.job or "") if run.engine in ORCHESTRATORS else None
    if job:
        yield job.namespace


def ids_of_event(run: Run) -> Iterator[str]:
    """The names under which runs in logs may refer to the run of an event."""
    yield run.run_id.lower()
    if run.application_id:
        yield run.application_id.lower()


def ids_of_run(run: Run, namespaces: Iterable[str]) -> Iterator[str]:
    """The names under which a run in a log may refer to the run of an event."""
    if run.application_id:
        yield run.application_id.lower()
    for name in {run.run_id, run.parent_run_id or run.run_id}:
        yield name.lower()
        if "/" not in name:
            continue
        if parent := parent_id(name):
            yield str(parent.run_id)
        elif attempt := task_try(name):
            yield TRY
            for namespace in namespaces:
                yield str(attempt.run_id(namespace))
