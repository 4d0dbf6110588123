"""Date shards: tables of one kind with a date at the end of their names, as one dataset.

`orders_20261101` and `orders_20261102` are `orders_*`, as BigQuery writes it, and their dates are
the periods of the accesses. One table alone with such a name may be anything, so it takes two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_ranges import DateRange, date_range
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Access, Dataset, Records

_SHARD = re.compile(
    r"(?P<before>.*[^\W\d_])_(?P<date>(?:19|20)\d\d(?:(?P<sign>[_-]?)(?:0[1-9]|1[0-2])"
    r"(?:(?P=sign)(?:0[1-9]|[12]\d|3[01]))?)?)",
    re.DOTALL,
)
_FEWEST = 2


@frozen
class DateShards:
    """The shards among some datasets.

    Attributes:
        dates: Shard -> its date.
        tables: Shard -> the dataset of all of them.
    """

    dates: Mapping[DatasetId, DateRange] = field(default_factory=dict)
    tables: Mapping[DatasetId, DatasetId] = field(default_factory=dict)

    def records(self, records: Records, rename: Rename) -> Records:
        """Records in which the accesses of shards have their dates, and none is dropped."""
        return replace(
            records,
            accesses=tuple(self.accesses(records.accesses, rename)),
            datasets=tuple(self.datasets(records.datasets, rename)),
        )

    def accesses(self, accesses: Iterable[Access], rename: Rename) -> Iterator[Access]:
        """Accesses, those of shards with the dates of their names unless stronger ones are known.

        The drop of one shard is no drop of all: it is left out.
        """
        dates_of = cache(lambda dataset: self.dates.get(rename(dataset)))
        for access in accesses:
            dates = dates_of(access.dataset)
            if dates is None:
                yield access
            elif not access.operation.removes:
                period = Period(dates.start, dates.end, dates.grain, PeriodEvidence.PATH)
                yield access if access.periods else replace(access, periods=(period,))

    def datasets(self, datasets: Iterable[Dataset], rename: Rename) -> Iterator[Dataset]:
        """Datasets; shards are never dropped."""
        for dataset in datasets:
            is_shard = rename(dataset.id) in self.tables
            yield replace(dataset, dropped_at=None) if is_shard and dataset.dropped_at else dataset


def date_shards(records: Records, rename: Rename, apart: Container[DatasetId] = ()) -> DateShards:
    """The shards among the datasets of records: two or more that differ in their dates only.

    Args:
        rename: The rules for names.
        apart: Datasets that stay by themselves, as do those that were renamed.
    """
    renamed = {rename(access.dataset) for access in records.accesses if access.operation.renames}
    used = dict.fromkeys(
        access.dataset for access in records.accesses if access.kind is not Kind.TEMPORARY
    )
    grouped: dict[tuple[DatasetId, int], dict[DatasetId, DateRange]] = defaultdict(dict)
    for dataset in map(rename, used):
        parts = None if dataset in apart or dataset in renamed else shard(dataset)
        if parts:
            table, dates, length = parts
            grouped[table, length][dataset] = dates
    dates_by_shard: dict[DatasetId, DateRange] = {}
    tables: dict[DatasetId, DatasetId] = {}
    for (table, _), shards in grouped.items():
        if len(shards) >= _FEWEST:
            dates_by_shard |= shards
            tables |= dict.fromkeys(shards, table)
    return DateShards(dates_by_shard, tables)


def shard(dataset: DatasetId) -> tuple[DatasetId, DateRange, int] | None:
    """The dataset of all shards, the date of this one and its length; None for another name."""
    match = None if dataset.is_path else _SHARD.fullmatch(dataset.name)
    dates = date_range(match["date"].replace("_", "-"), Grain.YEAR) if match else None
    if match is None or dates is None:
        return None
    return DatasetId(dataset.namespace, f"{match['before']}_*"), dates, len(match["date"])
