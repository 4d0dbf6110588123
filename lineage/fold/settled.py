"""Settled runs: those that were folded, and whether new records change any of them.

A run that was folded is no record any more, so nothing can be added to it, and its log cannot be
read again: then the fold is of no use. Keys say which runs, logs and events it was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt_graft.lineage.building.datasets import locate_names
from dbt_graft.lineage.building.run_group import RunGroup
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.fold.scope import TRY, ids_of_event, ids_of_run, namespaces_of
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Records


def settled_keys(group: RunGroup, namespaces: Iterable[str] = ()) -> Iterator[str]:
    """The keys of a group that is folded.

    Args:
        namespaces: Those of Airflow's jobs in all records.
    """
    names = {*group.run_ids, group.key}
    for _, run in group.runs:
        names.update(ids_of_run(run, namespaces))
    yield from (f"run {name}" for name in {name.lower() for name in names})
    yield from (f"origin {origin}" for origin in origins_of(group))


def origins_of(group: RunGroup) -> set[str]:
    """The logs that show a group."""
    return {run.origin for _, run in group.runs} | {access.origin for _, access in group.accesses}


def changing_keys(
    new: Records, origins: Iterable[str] = (), namespaces: Iterable[str] = ()
) -> Iterator[str]:
    """The keys of new records: where one of them is settled, a fold is of no use.

    Args:
        origins: The logs that were read since.
        namespaces: Those of Airflow's jobs when it was folded.
    """
    for origin in origins:
        yield f"origin {origin}"
    known_namespaces = set(namespaces)
    names = {access.run_id for access in new.accesses}
    for run in new.runs:
        names |= {run.run_id, run.parent_run_id or run.run_id}
        if run.job:
            names.update(ids_of_event(run))
            if not known_namespaces.issuperset(namespaces_of(run)):
                names.add(TRY)
    yield from (f"run {name}" for name in {name.lower() for name in names})


def renames_settled(records: Records, rename: Rename) -> bool:
    """Whether a table is renamed that a folded run used, under the names of the rules.

    What such runs did depends on when each of them ran.
    """
    settled = {(repeats.task, repeats.run_id) for repeats in records.run_repeats}
    if not settled:
        return False
    rename = locate_names(rename, records.datasets)
    renamed = {rename(access.dataset) for access in records.accesses if access.operation.renames}
    return bool(renamed) and any(
        rename(access.dataset) in renamed
        for access in records.accesses
        if (access.task, access.run_id) in settled and access.kind is not Kind.TEMPORARY
    )
