"""Tables of one run each: `tmp_orders_8f3a91c2`, `stage_20261101_142233`, as one dataset.

Their names have the id or the time of a run. Each is written by one run of a task and read by no
other, so together they are `tmp_orders_*`. One table alone with such a name may be anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import field, replace

from dbt_graft.lineage.building.transient import transient
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Access, Direction, Records

_HEX = "[0-9a-f]"
_TOKEN = re.compile(
    r"(?<![a-z0-9])(?:"
    rf"{_HEX}{{8}}(?:[-_]?{_HEX}{{4}}){{3}}[-_]?{_HEX}{{12}}"  # a UUID
    r"|(?:19|20)\d{6}[-_t]?\d{4}(?:\d\d){0,2}(?:\d{1,6})?z?"  # a date with a time
    r"|1\d{9}(?:\d{3})?"  # seconds or milliseconds since 1970
    rf"|(?=[a-f]*\d)(?=\d*[a-f]){_HEX}{{6,40}}"
    r")(?![a-z0-9])",
    re.IGNORECASE,
)
_FEWEST = 2


@frozen
class RunTables:
    """The tables among some records that are of one run each.

    Attributes:
        tables: Table -> the dataset of all of them.
    """

    tables: Mapping[DatasetId, DatasetId] = field(default_factory=dict)

    def records(self, records: Records, rename: Rename) -> Records:
        """Records in which no such table is dropped: the drop of one is no drop of all."""
        return replace(
            records,
            accesses=tuple(
                access
                for access in records.accesses
                if not (access.operation.removes and rename(access.dataset) in self.tables)
            ),
            datasets=tuple(
                replace(dataset, dropped_at=None)
                if dataset.dropped_at and rename(dataset.id) in self.tables
                else dataset
                for dataset in records.datasets
            ),
        )


def run_tables(records: Records, rename: Rename, apart: Container[DatasetId] = ()) -> RunTables:
    """The tables of one run: two or more of one task that differ in a run's id or time only.

    Tables that their run drops again are not among them: these are seen through.

    Args:
        rename: The rules for names.
        apart: Datasets that stay by themselves, as do those that were renamed.
    """
    named = {
        logged: (name, table)
        for logged in dict.fromkeys(access.dataset for access in records.accesses)
        if (table := pattern(name := rename(logged)))
    }
    used = group_by_key(
        (named[access.dataset], access)
        for access in records.accesses
        if access.dataset in named and access.kind is Kind.TABLE
    )
    grouped: dict[DatasetId, dict[DatasetId, str]] = defaultdict(dict)
    mixed: set[DatasetId] = set()
    for (dataset, table), accesses in used.items():
        task = _only_task(accesses)
        if task is None or dataset in apart:
            mixed.add(table)
        elif not transient(replace(access, dataset=dataset) for access in accesses):
            grouped[table][dataset] = task
    return RunTables(
        {
            dataset: table
            for table, tasks in grouped.items()
            if len(tasks) >= _FEWEST and len({*tasks.values()}) == 1 and table not in mixed
            for dataset in tasks
        }
    )


def pattern(dataset: DatasetId) -> DatasetId | None:
    """The name with `*` for the ids and times of a run in it; None for another name."""
    if dataset.is_path:
        return None
    before, dot, name = dataset.name.rpartition(".")
    masked = _TOKEN.sub("*", name)
    if masked == name or not re.search(r"[^\W\d_]", masked):
        return None
    return DatasetId(dataset.namespace, f"{before}{dot}{masked}")


def _only_task(accesses: list[Access]) -> str | None:
    """The task of the one run that wrote a table, if no other run used it but to drop it."""
    left = [access for access in accesses if not access.operation.removes]
    runs = {(access.task, access.run_id) for access in left}
    is_written = any(access.direction is Direction.WRITE for access in left)
    if len(runs) != 1 or not is_written or any(access.operation.renames for access in accesses):
        return None
    return left[0].task
