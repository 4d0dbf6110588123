"""dbt's results in the store, the newest of each node: Arrow first, records of what is shown.

Each invocation of dbt is an origin, `dbt:<label>#<invocation>`; one without events has no results
in the store any more, see `fold`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import arrow, column_names, record
from dbt_graft.collectors.store.arrow_tables import distinct
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.tables import BatchFile
from dbt_graft.lineage.building.checks import CHECK
from dbt_graft.lineage.dates.period import Period
from dbt_graft.lineage.records import NodeResult, Status

# Results of each node that are in the store for good, and that pages show.
PER_NODE = 30
# Of a test only the newest is shown, of those in which dbt did not skip it.
_TESTS = (r"test\.", r"unit_test\.", CHECK)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Rows that are sorted at once.
_ROWS = 500_000


def is_invocation(origin: str) -> bool:
    """Whether an origin is an invocation of dbt."""
    return origin.startswith("dbt:") and "#" in origin


def read_results(snapshot: OpenStore, until: datetime | None = None) -> tuple[NodeResult, ...]:
    """The newest results of each node, sorted by node, newest first; of a test only one.

    Args:
        until: Those that this moment knows; without it all.
    """
    parts = live_tables(snapshot)
    if until:
        parts = (part.filter(pc.field("started_at") <= pa.scalar(until)) for part in parts)
    newest = newest_results(parts, PER_NODE)
    tests = pc.match_substring_regex(newest["node_id"], f"^(?:{'|'.join(_TESTS)})")
    newest = pa.concat_tables([newest.filter(pc.invert(tests)), _of_tests(newest.filter(tests))])
    columns = {name: _values(newest[name]) for name in column_names(NodeResult)}
    try:
        columns["status"] = [*map(Status, columns["status"])]
        columns["periods"] = [
            tuple(record(Period, period) for period in periods or ())
            for periods in columns["periods"]
        ]
    except ValueError as error:
        raise StoreError(
            f"`node_results` has a value that this version does not know: {error}",
            place=snapshot.place,
            remedy="install the version of dbt-graft that wrote it, or a later one",
        ) from error
    return tuple(map(NodeResult, *columns.values()))


def _of_tests(rows: pa.Table) -> pa.Table:
    if not rows.num_rows:
        return rows  # without Arrow's engine, which takes longer to import than this command
    skipped = pc.equal(rows["status"], pa.scalar(Status.UNKNOWN.value))
    rows = _sorted(rows.append_column("skipped", skipped), ("skipped", "ascending"))
    return rows.filter(pc.equal(_ages(rows), pa.scalar(0))).drop_columns("skipped")


def _values(column: pa.ChunkedArray[Any]) -> list[Any]:
    if not pa.types.is_timestamp(column.type):
        return column.to_pylist()
    # Arrow's own way takes twenty times as long.
    numbers = column.cast(pa.int64()).to_pylist()
    return [
        None if number is None else _EPOCH + timedelta(microseconds=number) for number in numbers
    ]


def live_invocations(snapshot: OpenStore) -> dict[str, StoredBatch]:
    """The invocations with results in the store, each with the batch that has them."""
    last: dict[str, tuple[StoredBatch, int]] = {}
    for batch in snapshot.batches:
        for file in batch.files:
            if file.table == "origins":
                rows = snapshot.table(batch, file)
                rows = rows.filter(pc.starts_with(rows["origin"], "dbt:"))
                for row in rows.select(["origin", "events"]).to_pylist():
                    if is_invocation(row["origin"]):
                        last[row["origin"]] = (batch, row["events"])
    return {origin: batch for origin, (batch, events) in last.items() if events}


def live_files(
    snapshot: OpenStore, live: Mapping[str, StoredBatch]
) -> Iterator[tuple[StoredBatch, BatchFile]]:
    """The files with their results, each with its batch."""
    ids = {batch.batch_id for batch in live.values()}
    for batch in snapshot.batches:
        for file in batch.files if batch.batch_id in ids else ():
            if file.table == "node_results":
                yield batch, file


def live_tables(snapshot: OpenStore) -> Iterator[pa.Table]:
    """The results of all invocations, file by file; those replaced since are left out."""
    live = live_invocations(snapshot)
    origins: dict[str, list[str]] = {}
    for origin, batch in live.items():
        origins.setdefault(batch.batch_id, []).append(origin)
    for batch, file in live_files(snapshot, live):
        rows = snapshot.table(batch, file)
        invocations = pa.array(origins[batch.batch_id], pa.string())
        yield rows.filter(pc.is_in(rows["origin"], value_set=invocations))


def newest_results(parts: Iterable[pa.Table], count: int) -> pa.Table:
    """The newest results of each node, each invocation once, sorted; memory stays flat."""
    waiting = [arrow(NodeResult).empty_table()]
    for part in parts:
        waiting.append(part)
        if sum(rows.num_rows for rows in waiting) > _ROWS + 2 * waiting[0].num_rows:
            waiting = [_keep_newest(_concat_rows(waiting), count)]
    return _keep_newest(_concat_rows(waiting), count)


def _concat_rows(parts: list[pa.Table]) -> pa.Table:
    """The rows of all; those of earlier versions have fewer columns."""
    return pa.concat_tables(parts, promote_options="default")


def _keep_newest(rows: pa.Table, count: int) -> pa.Table:
    if not rows.num_rows:
        return rows
    # Two labels may show an invocation.
    rows = _sorted(distinct(rows, "node_id", "invocation_id"))
    return rows.filter(pc.less(_ages(rows), pa.scalar(count)))


def _sorted(rows: pa.Table, *first: tuple[str, Literal["ascending"]]) -> pa.Table:
    """By node, and in a node by these columns first; then the newest first."""
    return rows.sort_by(
        [
            ("node_id", "ascending"),
            *first,
            ("started_at", "descending"),
            ("invocation_id", "ascending"),
        ]
    )


def _ages(rows: pa.Table) -> pa.Int64Array:
    """For each of rows sorted by node its place among those of its node, from 0 on."""
    encoded: Any = pc.dictionary_encode(rows["node_id"]).combine_chunks()
    nodes = encoded.indices.cast(pa.int64())
    numbers = pa.array(range(rows.num_rows), pa.int64())
    rows_by_node = pa.table({"node": nodes, "row": numbers}).group_by("node")
    firsts = rows_by_node.aggregate([("row", "min")]).sort_by("node")["row_min"].combine_chunks()
    return pc.subtract(numbers, cast("pa.Int64Array", firsts.take(nodes)))
