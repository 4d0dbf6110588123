"""The rows that a purge leaves: of closed logs the runs that stay, and of all else each once.

Tables come in chunks, and memory is that of what stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.store.rows_once import datasets_once, edges_once
from dbt_graft.lineage.frozen import frozen

_ROW = "row_number"
_BETWEEN = "\x1f"


@frozen
class ClosedLogs:
    """Logs that a purge closes, and what is left of their runs.

    Attributes:
        before: The runs that it folds ended before.
        runs: Task and id of each run that stays.
        tables: The counts of all others.
    """

    before: datetime
    origins: Collection[str]
    runs: Collection[tuple[str, str]]
    tables: Mapping[str, pa.Table]


def purge_tables(
    closed: ClosedLogs,
    tables: Mapping[str, Iterable[pa.Table]],
    of_live_logs: Callable[[str], Iterator[pa.Table]],
) -> dict[str, Iterable[pa.Table]]:
    """The tables that a purge changes.

    Args:
        tables: Those of the merged batches.
        of_live_logs: Begins one of them anew.
    """
    origins = pa.array(sorted(closed.origins), pa.string())
    staying = pa.array(sorted(_BETWEEN.join(run) for run in closed.runs), pa.string())
    purged_tables: dict[str, Iterable[pa.Table]] = {
        name: chain(tables[name], [rows]) for name, rows in closed.tables.items()
    }
    for name in ("runs", "accesses"):
        purged_tables[name] = (_staying_rows(rows, origins, staying) for rows in of_live_logs(name))
    purged_tables["datasets"] = _merge_closed(
        lambda: of_live_logs("datasets"), origins, lambda rows: datasets_once(rows, ())
    )
    purged_tables["column_edges"] = _merge_closed(
        lambda: of_live_logs("column_edges"), origins, lambda rows: edges_once(rows, (), (_ROW,))
    )
    return purged_tables


def clear_texts(rows: pa.Table, shapes: pa.Array[Any]) -> pa.Table:
    """The rows of shapes without the texts of some."""
    texts = pc.if_else(pc.is_in(rows["shape_id"], value_set=shapes), pa.scalar(""), rows["text"])
    return rows.set_column(rows.column_names.index("text"), "text", texts)


def _staying_rows(rows: pa.Table, origins: pa.Array[Any], staying: pa.Array[Any]) -> pa.Table:
    parts: Any = (rows["task"], rows["run_id"], _BETWEEN)
    names = pc.binary_join_element_wise(*parts)
    is_open = pc.invert(pc.is_in(rows["origin"], value_set=origins))
    return rows.filter(pc.or_(is_open, pc.is_in(names, value_set=staying)))


def _merge_closed(
    read: Callable[[], Iterator[pa.Table]],
    origins: pa.Array[Any],
    once: Callable[[pa.Table], pa.Table],
) -> Iterator[pa.Table]:
    """The rows in their order; of those that closed logs repeat the first, with all their times."""
    firsts: pa.Table | None = None
    for rows in _number_rows(read()):
        closed_rows = rows.filter(pc.is_in(rows["origin"], value_set=origins))
        firsts = once(pa.concat_tables([firsts, closed_rows]) if firsts else closed_rows)
    for rows in _number_rows(read()):
        assert firsts is not None
        others = rows.filter(pc.invert(pc.is_in(rows["origin"], value_set=origins)))
        closed_rows = firsts.filter(pc.is_in(firsts[_ROW], value_set=rows[_ROW].combine_chunks()))
        yield pa.concat_tables([others, closed_rows]).sort_by(_ROW).drop_columns([_ROW])


def _number_rows(chunks: Iterable[pa.Table]) -> Iterator[pa.Table]:
    begin = 0
    for rows in chunks:
        numbers = pa.array(range(begin, begin + rows.num_rows), pa.int64())
        begin += rows.num_rows
        yield rows.append_column(_ROW, numbers)
