"""The client names in logs of SQL Server whose events are of no task."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver.event import EventFilter, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.formats import file_splits, may_hold_events
from dbt_graft.collectors.sqlserver.files.readers import read_split
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients

# Chunks that are looked at, of the newest logs.
_CHUNKS = 50


def client_names(path: str, label: str, task: str) -> list[str]:
    """The client names in the newest logs at a path that are no task's, the most frequent first.

    They are as in `TaskClients.others`: `etl::*`. A log that cannot be read has none.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    clients = TaskClients(task)
    logs = log_files(path, label, lambda log: may_hold_events(log, path))

    def splits() -> Iterator[FileSplit]:
        for log in reversed(logs):
            log_splits = file_splits(log)
            yield from [] if isinstance(log_splits, LogDamage) else log_splits

    chunks = (read_split(split, EventFilter(application=clients.is_task)) for split in splits())
    for _ in islice(chain.from_iterable(chunks), _CHUNKS):
        pass
    return [name for name, _ in clients.others.most_common()]
