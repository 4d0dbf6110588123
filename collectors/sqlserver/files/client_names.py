"""The client names in logs of SQL Server whose events are of no task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver.event import EventFilter, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.formats import file_splits, may_hold_events
from dbt_graft.collectors.sqlserver.files.readers import read_split

# Of clients that have none.
UNNAMED = "(no name)"
# Chunks that are looked at, of the newest logs.
_CHUNKS = 50
# Numbers and what follows `::` differ from run to run.
_RUN = re.compile(r"(?<=::).+|\d[\d_:.-]*")


def client_names(path: str, label: str, task: str) -> list[str]:
    """The client names in the newest logs at a path that are no task's, the most frequent first.

    Numbers and what follows `::` are a `*`: `etl::*`. A log that cannot be read has none.

    Args:
        task: The pattern of names of tasks.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    seen: Counter[str] = Counter()
    logs = log_files(path, label, lambda log: may_hold_events(log, path))

    def count(application: str) -> bool:
        if not re.search(task, application):
            seen[_RUN.sub("*", application) or UNNAMED] += 1
        return False

    def splits() -> Iterator[FileSplit]:
        for log in reversed(logs):
            log_splits = file_splits(log)
            yield from [] if isinstance(log_splits, LogDamage) else log_splits

    chunks = (read_split(split, EventFilter(application=count)) for split in splits())
    for _ in islice(chain.from_iterable(chunks), _CHUNKS):
        pass
    return [name for name, _ in seen.most_common()]
