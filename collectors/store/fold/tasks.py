"""Fold the runs of tasks out of rows that are sorted by task and run: what Spark's workers do.

Only what stays is in memory, whatever the number of rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import batch, records
from dbt_graft.collectors.store.fold.tables import FOLD_TABLES, REPEATS, SHORT, key_number
from dbt_graft.lineage.building.run_group import PlacedAccess, PlacedRun, RunGroup
from dbt_graft.lineage.fold.runs import NEWEST, FoldedTask, TaskFold, without_newest
from dbt_graft.lineage.fold.scope import FoldScope
from dbt_graft.lineage.fold.settled import origins_of, settled_keys
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Access, Run, RunRepeats, UsageRepeats

# The columns of what comes out: rows of a table in Arrow's format, or the origin of a settled log.
PART_DDL = "name string, origin string, content binary"
ORIGIN, PLACE, IS_RUN = "origin", "place", "is_run"
# Runs and accesses come in one frame, each with its own columns, the others empty.
PREFIX: Mapping[type, str] = {Run: "run_", Access: "access_"}
_COLUMNS: dict[str, pa.DataType] = {
    "name": pa.string(),
    "origin": pa.string(),
    "content": pa.binary(),
}
_SCHEMA = pa.schema(_COLUMNS)
_AT_ONCE = 20_000


class _Row(NamedTuple):
    task: str
    key: str
    place: int
    record: Run | Access


@frozen
class Repeats:
    """Counts of runs that are no rows any more, by task."""

    runs: defaultdict[str, list[RunRepeats]] = field(default_factory=lambda: defaultdict(list))
    usages: defaultdict[str, list[UsageRepeats]] = field(default_factory=lambda: defaultdict(list))


def folding_tasks(
    scope: FoldScope,
    newest: int = NEWEST,
    before: datetime | None = None,
    repeats: Repeats | None = None,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function that folds rows with `task`, `key`, `place`, and the columns of both kinds."""

    def fold_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = _Parts()
        purged = repeats or Repeats()
        rows = (row for batch_rows in batches for row in _rows(batch_rows))
        for task, task_rows in groupby(rows, key=lambda row: row.task):
            fold = TaskFold(
                *(scope, purged.runs.get(task, ()), purged.usages.get(task, ())),
                on_settled=partial(parts.note, scope),
                newest=newest,
                before=before,
            )
            yield from _fold_task(scope, fold, task_rows, parts)
        yield from parts.batches()

    return fold_all


def _fold_task(
    scope: FoldScope, fold: TaskFold, rows: Iterable[_Row], parts: _Parts
) -> Iterator[pa.RecordBatch]:
    for (task, key), group_rows in groupby(rows, key=lambda row: (row.task, row.key)):
        # As they came, the later ones of a run last.
        sorted_rows = sorted(group_rows, key=lambda row: row.place)
        fold.add(
            RunGroup(
                task,
                key,
                [
                    PlacedRun(row.place, row.record)
                    for row in sorted_rows
                    if isinstance(row.record, Run)
                ],
                [
                    PlacedAccess(row.place, row.record)
                    for row in sorted_rows
                    if isinstance(row.record, Access)
                ],
            )
        )
        if parts.is_full():
            yield from parts.batches()
    folded_task = fold.finish()
    parts.add(folded_task)
    parts.add_short(without_newest(scope, folded_task, partial(parts.note_short, scope)))
    if parts.is_full():
        yield from parts.batches()


def _rows(record_batch: pa.RecordBatch) -> Iterator[_Row]:
    table = pa.Table.from_batches([record_batch])
    columns = [table[name].to_pylist() for name in ("task", "key", PLACE, IS_RUN)]
    runs = iter(_present_records(table.filter(table[IS_RUN]), Run))
    accesses = iter(_present_records(table.filter(pc.invert(table[IS_RUN])), Access))
    for task, key, place, is_run in zip(*columns, strict=True):
        yield _Row(task, key, place, next(runs) if is_run else next(accesses))


def _present_records(rows: pa.Table, kind: type) -> list[Any]:
    names = [name for name in rows.column_names if name.startswith(PREFIX[kind])]
    return records(
        kind,
        rows.select(names).rename_columns([name.removeprefix(PREFIX[kind]) for name in names]),
    )


class _Parts:
    """The rows that come out next."""

    def __init__(self) -> None:
        self.keys: set[int] = set()
        self.short_keys: set[int] = set()
        self.origins: set[str] = set()
        self._tables: dict[str, list[pa.Table]] = defaultdict(list)
        self._rows = 0

    def note(self, scope: FoldScope, group: RunGroup) -> None:
        """Take the keys and logs of a group that is folded."""
        self.keys.update(map(key_number, settled_keys(group, scope.namespaces)))
        self.origins.update(origins_of(group))

    def note_short(self, scope: FoldScope, group: RunGroup) -> None:
        """Take the keys of a group that only the short tables are without."""
        self.short_keys.update(map(key_number, settled_keys(group, scope.namespaces)))

    def add(self, task: FoldedTask) -> None:
        """Take what stays of a task."""
        self._add_runs(task)
        self._add_table("task_days", _table("task_days", task.days.tasks))
        self._add_table("usage_days", _table("usage_days", task.days.usages))

    def add_short(self, task: FoldedTask) -> None:
        """Take what stays of a task without its newest runs."""
        self._add_runs(task, SHORT)

    def _add_runs(self, task: FoldedTask, beginning: str = "") -> None:
        placed: dict[str, list[Any]] = {
            "runs": [row for group in task.groups for row in group.runs],
            "accesses": [row for group in task.groups for row in group.accesses],
        }
        for name, rows in placed.items():
            plain = _table(name, [row[1] for row in rows])
            places = pa.array([row.place for row in rows], pa.int64())
            self._add_table(f"{beginning}{name}", plain.append_column(PLACE, places))
        for name in REPEATS:
            self._add_table(f"{beginning}{name}", _table(name, getattr(task, name)))

    def is_full(self) -> bool:
        """Whether there are many rows."""
        return self._rows + len(self.keys) + len(self.short_keys) > _AT_ONCE

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All of it; afterwards there is nothing."""
        for name, keys in (("keys", self.keys), (f"{SHORT}keys", self.short_keys)):
            self._add_table(name, pa.table({"key": pa.array(sorted(keys), pa.int64())}))
        for name, tables in self._tables.items():
            yield _batch([name], [None], [_bytes(pa.concat_tables(tables))])
        origins = sorted(self.origins)
        size = len(origins)
        yield _batch([ORIGIN] * size, origins, [None] * size)
        self.keys, self.short_keys, self.origins, self._rows = set(), set(), set(), 0
        self._tables.clear()

    def _add_table(self, name: str, rows: pa.Table) -> None:
        if rows.num_rows:
            self._tables[name].append(rows)
            self._rows += rows.num_rows


def _table(name: str, table_records: Iterable[Any]) -> pa.Table:
    return pa.Table.from_batches([batch(FOLD_TABLES[name], table_records)])


def _batch(names: list[str], origins: list[Any], contents: list[Any]) -> pa.RecordBatch:
    columns = [names, origins, contents]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _bytes(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue().to_pybytes()


def read_table(content: bytes) -> pa.Table:
    """The rows in Arrow's format."""
    return pa.ipc.open_stream(content).read_all()
