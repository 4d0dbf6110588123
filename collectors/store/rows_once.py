"""Datasets and column edges that many logs repeat, each once, before objects are made of them.

As `lineage.merged_records` does it, by Arrow: of the newest runs each log has them again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.lineage.building.event_runs import EVENT_SHAPE

_TIMES = {"first_seen": "min", "last_seen": "max", "dropped_at": "max"}
_ALL_COLUMNS = "has_all_columns"
_ROW, _APART = "row", "apart"


def datasets_once(rows: pa.Table, apart: Collection[str]) -> pa.Table:
    """The datasets; of rows that differ by log and times the first, with the times of all.

    Args:
        apart: The logs whose rows stay as they are.
    """
    keys = pa.table(
        {
            **{name: rows[name] for name in ("namespace", "name", "kind", _ALL_COLUMNS, *_TIMES)},
            "columns": _as_text(rows["columns"]),
            "symlinks": _as_text(rows["symlinks"]),
        }
    )
    return _merge_equal_rows(rows, keys, _is_in(rows["origin"], apart))


def edges_once(rows: pa.Table, apart: Collection[str], others: Collection[str] = ()) -> pa.Table:
    """The column edges; of those that differ by log the first, but for edges of events.

    Args:
        apart: The logs whose rows stay as they are.
        others: Columns in which equal edges may differ, as in the log.
    """
    is_event = pc.starts_with(rows["shape_id"], EVENT_SHAPE)
    is_apart = pc.or_(_is_in(rows["origin"], apart), is_event)
    return _merge_equal_rows(rows, rows.drop_columns(["origin", *others]), is_apart)


def _merge_equal_rows(rows: pa.Table, keys: pa.Table, is_apart: Any) -> pa.Table:
    numbers = pa.array(range(rows.num_rows), pa.int64())
    keys = keys.append_column(_APART, pc.if_else(is_apart, numbers, pa.scalar(-1, pa.int64())))
    times = [name for name in _TIMES if name in keys.column_names]
    groups = keys.append_column(_ROW, numbers).group_by(
        [name for name in keys.column_names if name not in times], use_threads=False
    )
    sums: list[Any] = [(_ROW, "min"), *((name, _TIMES[name]) for name in times)]
    totals = groups.aggregate(sums)
    totals = totals.sort_by(f"{_ROW}_min")
    first = rows.take(totals[f"{_ROW}_min"])
    for name in times:
        index = first.column_names.index(name)
        first = first.set_column(index, name, totals[f"{name}_{_TIMES[name]}"])
    return first


def _is_in(origins: pa.ChunkedArray[Any], apart: Collection[str]) -> Any:
    return pc.is_in(origins, value_set=pa.array(sorted(apart), pa.string()))


def _as_text(column: pa.ChunkedArray[Any]) -> Any:
    """Lists of pairs as texts, equal for equal lists."""
    lists = cast("pa.ListArray[Any]", column.combine_chunks())
    flat = lists.flatten()
    parts = [pc.struct_field(flat, [number]) for number in (0, 1)]
    pairs = pc.binary_join_element_wise(*parts, "\x1e", null_handling="replace")
    sizes = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = pa.concat_arrays(
        [pa.array([0], pa.int64()), pc.cumulative_sum(sizes.cast(pa.int64()))]
    )
    grouped: Any = pa.LargeListArray.from_arrays(offsets, pairs)
    return pc.binary_join(grouped, "\x1f")
