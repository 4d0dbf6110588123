"""Names in logs that are no datasets of their own, and the dataset that each is a name of.

Date shards, tables of one run and views that only pass a table on: whoever looks for orders wants
one box, and the way through it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import field

from dbt_graft.lineage.building.date_shards import DateShards, date_shards
from dbt_graft.lineage.building.pass_through import PassThroughViews, pass_through_views
from dbt_graft.lineage.building.run_tables import RunTables, run_tables
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.names import NameReason, Rename
from dbt_graft.lineage.records import Records
from dbt_graft.lineage.settings import OneNameRules

_Finder = Callable[
    [Records, Rename, Container[DatasetId]], DateShards | RunTables | PassThroughViews
]


@frozen
class OtherNames:
    """Records in which each dataset has one name.

    Attributes:
        rename: The rules that give it.
        reasons: Name in logs, after the rules of graft.yml -> why another one takes its place.
        tables: The same names -> the datasets.
    """

    records: Records
    rename: Rename
    reasons: Mapping[DatasetId, NameReason] = field(default_factory=dict)
    tables: Mapping[DatasetId, DatasetId] = field(default_factory=dict)


def other_names(records: Records, rename: Rename, rules: OneNameRules) -> OtherNames:
    """Records with date shards, tables of one run and views as the datasets that they stand for."""
    reasons: dict[DatasetId, NameReason] = {}
    tables: dict[DatasetId, DatasetId] = {}
    for reason, find in _finders(rules):
        aliases = find(records, rename, rules.apart)
        if aliases.tables:
            records = aliases.records(records, rename)
            rename = _renaming(rename, aliases.tables)
            reasons |= dict.fromkeys(aliases.tables, reason)
            tables = {name: aliases.tables.get(table, table) for name, table in tables.items()}
            tables |= aliases.tables
    return OtherNames(records, rename, reasons, tables)


def _finders(rules: OneNameRules) -> Iterator[tuple[NameReason, _Finder]]:
    if rules.date_shards:
        yield NameReason.DATE_SHARD, date_shards
    if rules.run_tables:
        yield NameReason.RUN_TABLE, run_tables
    if rules.pass_through_views:
        yield NameReason.VIEW, pass_through_views


def _renaming(rename: Rename, tables: Mapping[DatasetId, DatasetId]) -> Rename:
    def name_of(dataset: DatasetId) -> DatasetId:
        name = rename(dataset)
        return rename(tables[name]) if name in tables else name

    return name_of
