"""Merge batches into the files of one: what counts of each, table by table, in bounded memory.

Of a log the rows of its newest batch among them stay; of shapes each one once, of the batches of
which anything stays; of open sessions those of the newest batch that has them. Records keep their
order, so readers find what they found before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbt_graft.collectors.schema import arrow
from dbt_graft.collectors.store.batch_records import with_utc_times
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch
from dbt_graft.collectors.store.damage import file_errors
from dbt_graft.collectors.store.errors import RESTORE, StoreError
from dbt_graft.collectors.store.logs import (
    PART,
    all_logs,
    conform_columns,
    drop_closed,
    is_forgotten,
    last_of_each,
    mark_closed,
    values,
)
from dbt_graft.collectors.store.purged_rows import ClosedLogs, clear_texts, purge_tables
from dbt_graft.collectors.store.secrets import redact_rows
from dbt_graft.collectors.store.tables import PURGED, TABLES, BatchFile
from dbt_graft.lineage.frozen import frozen

_ROW_GROUP = 65_536
# Files up to this size are read at once, larger ones row group by row group.
_AT_ONCE = 2**20
_SESSION = ("server", "session", "task", "run")
# They have a rule of their own.
_OTHERS = ("batches", "origins", "shapes", "sessions", *PURGED)

# A chunk of a table, and the place of its batch among those that are merged.
Chunks = Iterator[tuple[int, pa.Table]]


@frozen
class Merge:
    """Batches to be merged, oldest first.

    Attributes:
        from_start: No other batch is older, so that what was forgotten can leave no trace.
        forget: Logs to leave out.
        closed: Logs that are closed by it.
        without_text: Shapes whose texts are left out.
    """

    snapshot: OpenStore
    parts: Sequence[StoredBatch]
    from_start: bool = False
    forget: Collection[str] = ()
    closed: ClosedLogs | None = None
    without_text: Collection[str] = ()


def write_merged(merge: Merge, batch_id: str) -> tuple[BatchFile, ...]:
    """Write the files of the merged batch, not its record.

    Raises:
        StoreError: A file of the batches is damaged.
    """
    logs = all_logs(merge.snapshot, merge.parts)
    last = _drop_origins(last_of_each(logs), merge.forget)
    holding = _drop_origins(last_of_each(drop_closed(logs, merge.parts)), merge.forget)
    live = [
        pc.unique(holding.filter(pc.equal(holding[PART], pa.scalar(index)))["origin"])
        for index in range(len(merge.parts))
    ]

    def of_live_logs(table: str) -> Iterator[pa.Table]:
        for index, rows in _chunks(merge, table):
            yield rows.filter(pc.is_in(rows["origin"], value_set=live[index]))

    log_rows = last.filter(pc.invert(is_forgotten(last))) if merge.from_start else last
    tables: dict[str, Iterable[pa.Table]] = {
        "shapes": _shapes(merge, {index for index, origins in enumerate(live) if len(origins)}),
        "sessions": [_newest_sessions(merge, logs)],
    }
    tables |= {name: of_live_logs(name) for name in TABLES if name not in _OTHERS}
    tables |= {name: (rows for _, rows in _chunks(merge, name)) for name in PURGED}
    if merge.closed:
        log_rows = mark_closed(log_rows, merge.closed.origins)
        tables |= purge_tables(merge.closed, tables, of_live_logs)
    tables["origins"] = [log_rows.drop_columns([PART])]
    files = (_write(merge.snapshot, name, batch_id, rows) for name, rows in sorted(tables.items()))
    return tuple(file for file in files if file)


def _chunks(merge: Merge, table: str, columns: Sequence[str] | None = None) -> Chunks:
    """The rows of a table of all batches in order, with all its columns, in chunks."""
    schema = arrow(TABLES[table])
    if columns:
        schema = pa.schema([schema.field(name) for name in columns])
    for index, batch in enumerate(merge.parts):
        for file in batch.files:
            if file.table == table:
                for rows in file_chunks(merge.snapshot, batch, file):
                    yield index, conform_columns(rows, schema)


def file_chunks(snapshot: OpenStore, batch: StoredBatch, file: BatchFile) -> Iterator[pa.Table]:
    """The rows of a file; of a large one some at a time.

    Raises:
        StoreError: It is damaged.
    """
    if (file.bytes or 0) <= _AT_ONCE:
        yield snapshot.table(batch, file)
        return
    path, rows = f"{snapshot.place}/{file.path}", 0
    with (
        file_errors(path),
        snapshot.files.open_input_file(f"{snapshot.root}/{file.path}") as source,
    ):
        for chunk in pq.ParquetFile(source).iter_batches(batch_size=_ROW_GROUP):
            rows += chunk.num_rows
            part = pa.Table.from_batches([chunk])
            yield part.cast(with_utc_times(part.schema))
    if file.rows not in (None, rows):
        problem = f"has {rows:,} rows, and was written with {file.rows:,}"
        raise StoreError(problem, place=path, remedy=RESTORE)


def _drop_origins(rows: pa.Table, origins: Collection[str]) -> pa.Table:
    return rows.filter(
        pc.invert(pc.is_in(rows["origin"], value_set=pa.array(origins, pa.string())))
    )


def _shapes(merge: Merge, indexes: Collection[int]) -> Iterator[pa.Table]:
    """Each shape once, its newest row, of some of the batches."""
    id_chunks = _chunks(merge, "shapes", ["shape_id"])
    ids = [rows for index, rows in id_chunks if index in indexes]
    if not ids:
        return
    shape_ids = pa.concat_tables(ids)
    numbered = shape_ids.append_column("row", pa.array(range(shape_ids.num_rows), pa.int64()))
    last = numbered.group_by("shape_id").aggregate([("row", "max")])
    unused = _forgotten_shapes(merge) if merge.forget else pa.array([], pa.string())
    no_text = pa.array(merge.without_text, pa.string())
    begin = 0
    for index, rows in _chunks(merge, "shapes"):
        if index not in indexes:
            continue
        numbers = pa.array(range(begin, begin + rows.num_rows), pa.int64())
        begin += rows.num_rows
        rows = rows.filter(pc.is_in(numbers, value_set=last["row_max"]))
        yield clear_texts(
            rows.filter(pc.invert(pc.is_in(rows["shape_id"], value_set=unused))), no_text
        )


def _forgotten_shapes(merge: Merge) -> pa.Array[Any]:
    """The shapes that only the forgotten logs have, as far as rows say of which log they are."""
    forgotten, others = set[str](), set[str]()
    names = pa.array(merge.forget, pa.string())
    for table, column in (("accesses", "shape_id"), ("column_edges", "shape_id"), ("runs", "gaps")):
        for _, rows in _chunks(merge, table, [column, "origin"]):
            is_forgotten_log = pc.is_in(rows["origin"], value_set=names)
            for shapes, is_wanted in (
                (forgotten, is_forgotten_log),
                (others, pc.invert(is_forgotten_log)),
            ):
                ids: Any = rows.filter(is_wanted)[column]
                shapes.update((pc.list_flatten(ids) if column == "gaps" else ids).to_pylist())
    return pa.array(sorted(forgotten - others), pa.string())


def _newest_sessions(merge: Merge, logs: pa.Table) -> pa.Table:
    """The rows of the newest batch that has a session, in the order in which sessions came."""
    forgotten = logs.filter(is_forgotten(logs))
    until = dict(zip(values(forgotten, "origin"), values(forgotten, PART), strict=True))
    tables = []
    for index, rows in _chunks(merge, "sessions"):
        left = _drop_origins(
            rows, {*merge.forget, *(log for log, end in until.items() if index < end)}
        )
        tables.append(left.append_column(PART, pa.array([index] * left.num_rows, pa.int64())))
    if not tables:
        return arrow(TABLES["sessions"]).empty_table()
    rows = pa.concat_tables(tables)
    rows = rows.append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    keys = list(_SESSION)
    newest = rows.group_by(keys).aggregate([(PART, "max"), ("row", "min")])
    newest_rows = rows.select([*keys, PART, "row"]).join(newest, keys)
    newest_rows = newest_rows.filter(pc.equal(newest_rows[PART], newest_rows[f"{PART}_max"]))
    newest_rows = newest_rows.sort_by([("row_min", "ascending"), ("row", "ascending")])
    return rows.take(newest_rows["row"]).drop_columns([PART, "row"])


def _write(
    snapshot: OpenStore, table: str, batch_id: str, chunks: Iterable[pa.Table]
) -> BatchFile | None:
    path = f"{table}/batch_id={batch_id}/rows-0.parquet"
    writer: pq.ParquetWriter | None = None
    waiting: list[pa.Table] = []
    total = held = 0

    def flush() -> None:
        nonlocal writer, held
        if writer is None:
            snapshot.files.create_dir(
                f"{snapshot.root}/{table}/batch_id={batch_id}", recursive=True
            )
            writer = pq.ParquetWriter(
                f"{snapshot.root}/{path}",
                arrow(TABLES[table]),
                filesystem=snapshot.files,
                compression="zstd",
            )
        rows = redact_rows(pa.concat_tables(waiting))
        writer.write_table(rows, row_group_size=_ROW_GROUP)
        waiting.clear()
        held = 0

    try:
        for rows in chunks:
            if rows.num_rows:
                waiting.append(rows)
                total, held = total + rows.num_rows, held + rows.num_rows
                if held >= _ROW_GROUP:
                    flush()
        if waiting:
            flush()
    finally:
        if writer:
            writer.close()
    if not total:
        return None
    return BatchFile(
        table, path, total, snapshot.files.get_file_info(f"{snapshot.root}/{path}").size
    )
