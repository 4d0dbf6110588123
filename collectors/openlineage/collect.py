"""The collector of OpenLineage's events.

    new parts of files, cut into pieces, spread -> map: the records of each, nested

Only the workers look at events. Each piece is read for itself, and nothing is sorted or sent about:
what the events of a run say together is known when lineage is built (`lineage.event_runs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from dbt_graft.collectors.engines.engine import Engine, Results, record_tables
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.openlineage.files import EventFiles, NewPart, new_parts, position
from dbt_graft.collectors.openlineage.worker import REPLACED, FilePart, PartResult, read_parts
from dbt_graft.collectors.store.arrow_tables import table
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Collected, Positions, ReadLog
from dbt_graft.lineage.building.foreign_models import DBT_PART
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Reject

# A worker's share, in bytes and in files.
_BYTES, _FILES = 32 << 20, 500
_LOG = ("origin", "reached", "events", "head", "unread", "waits", "of_dbt")


def collect(
    engine: Engine, files: EventFiles, positions: Positions, reading: Reading | None = None
) -> Collected | None:
    """Collect the events in new parts of files.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_parts(files, positions)
    if not new:
        return None
    size = sum(part.file.size - part.start for part in new)
    counter = (reading or Reading()).counter(len(new), size)
    pieces = [piece for part in new for piece in _pieces(part)]
    shares = max(min(len(pieces), 16), size // _BYTES, len(pieces) // _FILES)
    shares = max(1, min(len(pieces), shares))
    reader = partial(read_parts, files.task, files.date_columns, counter, files.timezone)
    read = engine.spread(table(FilePart, pieces), shares, size).map(reader, PartResult)
    return collected_tables(read.results(), new, positions)


def _pieces(part: NewPart) -> Iterator[FilePart]:
    """A new part, cut into pieces; a piece begins with the first line that begins in it."""
    file = part.file
    for start in range(part.start, max(file.size, part.start + 1), _BYTES):
        end = min(start + _BYTES, file.size)
        names = (file.url, file.origin, part.origin)
        yield FilePart(*names, start, end, file.size, part.start, part.head)


def collected_tables(results: Results, new: Sequence[NewPart], positions: Positions) -> Collected:
    """The tables in the results of new parts of files."""
    logs = _Logs(results.select(*_LOG), new, positions)
    results = results.without(logs.stays)
    counts = results.count("node_results")
    return Collected(
        **{**record_tables(results), "shapes": results.records("shapes", once="shape_id")},
        node_results=results.records("node_results") if counts else None,
        task_metadata=results.records("task_metadata"),
        dataset_metadata=results.records("dataset_metadata"),
        origins=table(ReadLog, logs.read(counts)),
        pending=logs.pending,
    )


class _Logs:
    def __init__(
        self, rows: Iterable[dict[str, Any]], new: Sequence[NewPart], positions: Positions
    ) -> None:
        self._new = new
        self._known = of_logs(positions, (part.file.origin for part in new))
        self._rows = group_by_key((str(row["origin"]), row) for row in rows)

    @property
    def pending(self) -> tuple[Reject, ...]:
        """The files that could not be read now."""
        reasons = {row["origin"]: row["unread"] for row in self._all() if row["unread"]}
        for origin, rows in self._rows.items():
            # A piece for each worker, of which some may have been read before and some after.
            if len({row["head"] for row in rows if row["head"]}) > 1:
                reasons.setdefault(origin, REPLACED)
        return tuple(Reject(origin, "", reason) for origin, reason in sorted(reasons.items()))

    @property
    def stays(self) -> list[str]:
        """Origins whose records in the store stay: their files could not be read again."""
        return sorted({reject.origin for reject in self.pending} & self._known.keys())

    def _all(self) -> Iterator[dict[str, Any]]:
        return chain.from_iterable(self._rows.values())

    def read(self, results: Mapping[str, int]) -> Iterator[ReadLog]:
        """The logs of the batch."""
        unread, stays = {reject.origin for reject in self.pending}, {*self.stays}
        for part in self._new:
            if part.origin not in stays:
                yield from self._part(part, is_read=part.origin not in unread)
        for origin, count in sorted(results.items()):
            yield ReadLog(origin, str(count), count)

    def _part(self, part: NewPart, *, is_read: bool) -> Iterator[ReadLog]:
        rows = self._rows.get(part.origin, [])
        reached = max((row["reached"] for row in rows), default=part.start)
        head = next((row["head"] for row in rows if row["head"]), "")
        reached_position = position(part.file, reached, bytes.fromhex(head)) if is_read else ""
        yield ReadLog(part.origin, reached_position, sum(row["events"] for row in rows))
        # Parts of a log, which are no logs themselves.
        others = {*part.replaced}
        if any(row["waits"] for row in rows):
            others.add(f"{part.file.origin}@{reached}")
        dbt = f"{part.origin}{DBT_PART}"
        if any(row["of_dbt"] for row in rows) or dbt in self._known:
            others.add(dbt)
        for origin in sorted(others - {part.origin}):
            yield ReadLog(origin, "")
