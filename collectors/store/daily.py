"""Read the figures by day: those that are folded, and those of the runs since."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import arrow, batch
from dbt_graft.collectors.store.batches import open_store, reopens
from dbt_graft.collectors.store.fold.files import sum_by_day
from dbt_graft.collectors.store.fold.read import days_since, read_folded, read_unfolded
from dbt_graft.collectors.store.fold.tables import FOLD_TABLES
from dbt_graft.lineage.building.daily import YEAR, DailyHistory, DayRows, DayRuns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.fold.days import unsettled_days
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Direction

_Key = TypeVar("_Key")
_Day = TypeVar("_Day", DayRuns, DayRows)


@reopens
def daily_history(
    store: str,
    rename: Rename,
    without: Collection[str] = (),
    *,
    counted_tasks: Collection[str] | None = None,
) -> DailyHistory:
    """The last year of each task and dataset, by day.

    Args:
        without: Damaged batches.
        counted_tasks: The tasks whose rows count; None for all, whatever the lineage calls them.
    """
    snapshot = open_store(store, without)
    read = read_folded(snapshot) or read_unfolded(snapshot)
    since = unsettled_days(read.records)
    tables: dict[str, pa.Table] = {}
    for name, rows in (("task_days", since.tasks), ("usage_days", since.usages)):
        parts = [pa.Table.from_batches([batch(FOLD_TABLES[name], rows)])]
        parts += days_since(snapshot, read.fold, name)
        tables[name] = sum_by_day(
            name, [part.select(arrow(FOLD_TABLES[name]).names) for part in parts]
        )
    usages = tables["usage_days"]
    if counted_tasks is not None:
        names = pa.array(sorted(counted_tasks), pa.string())
        usages = usages.filter(pc.is_in(usages["task"], value_set=names))
    return DailyHistory(_tasks(tables["task_days"]), _datasets(usages, rename))


def _tasks(rows: pa.Table) -> dict[str, Sequence[DayRuns]]:
    sums = rows.group_by(["task", "day"], use_threads=False).aggregate(
        [("runs", "sum"), ("failed", "sum")]
    )
    days: dict[str, list[DayRuns]] = {}
    for task, *values in _values(sums, "task", "day", "runs_sum", "failed_sum"):
        days.setdefault(task, []).append(DayRuns(*values))
    return _last_year(days)


def _datasets(rows: pa.Table, rename: Rename) -> dict[DatasetId, Sequence[DayRows]]:
    rows = rows.filter(pc.equal(rows["direction"], pa.scalar(str(Direction.WRITE))))
    rows = rows.filter(pc.greater(rows["counted"], pa.scalar(0)))
    groups = rows.group_by(["namespace", "name", "day"], use_threads=False)
    names: dict[tuple[str, str], DatasetId] = {}
    days: dict[DatasetId, dict[Any, int]] = {}
    for namespace, name, day, count in _values(
        groups.aggregate([("rows", "sum")]), "namespace", "name", "day", "rows_sum"
    ):
        key = (namespace, name)
        dataset = names.get(key) or names.setdefault(key, rename(DatasetId(*key)))
        rows_by_day = days.setdefault(dataset, {})
        rows_by_day[day] = rows_by_day.get(day, 0) + count
    return _last_year(
        {
            key: [DayRows(day, count) for day, count in counts.items()]
            for key, counts in days.items()
        }
    )


def _values(rows: pa.Table, *names: str) -> Any:
    columns = [rows[name].cast(pa.date32()) if name == "day" else rows[name] for name in names]
    return zip(*(column.to_pylist() for column in columns), strict=True)


def _last_year(days: Mapping[_Key, list[_Day]]) -> dict[_Key, Sequence[_Day]]:
    recent: dict[_Key, Sequence[_Day]] = {}
    for key, days_of_key in days.items():
        days_of_key.sort()
        newest = days_of_key[-1].day
        recent[key] = [row for row in days_of_key if (newest - row.day).days < YEAR]
    return recent
