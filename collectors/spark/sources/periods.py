"""The dates and versions of data that a scan reads, by what its operator in the plan has.

The strongest evidence counts: the partitions that Spark pruned the scan to (`Location`), filters on
partitions, filters on date columns, dates in the paths.

The dates of data that a command writes, drops or changes, by its arguments.

| argument | of |
|---|---|
| `[ds=2026-10-10]` behind the path | `InsertIntoHadoopFsRelationCommand` |
| `[dt=Some(2026-10-10), hr=None]` | `InsertIntoHiveTable` |
| `Map(ds -> 2026-10-31)` | commands on partitions: DROP, ADD, TRUNCATE, LOAD DATA |
| `/out/j/2026/11/02`, `/out/month=2026-10` | the path |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dbt_graft.collectors.spark.plans.arguments import bracket_items
from dbt_graft.collectors.spark.plans.date_filters import date_conditions
from dbt_graft.collectors.spark.plans.tree import PlanNode
from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank
from dbt_graft.lineage.dates.date_conditions import Conditions
from dbt_graft.lineage.dates.partition_dates import Partition, path_period
from dbt_graft.lineage.dates.period import DataPosition, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import SNAPSHOTS, condition_periods, union

_PAIR = re.compile(r"(?P<key>[^=\[\]()]+)=(?:Some\((?P<some>.*)\)|(?P<value>[^()]*))")
_MAP = re.compile(r"\bMap\((?P<pairs>[^()]*)\)")
_MAPPED = re.compile(r"(?P<key>[\w.$-]+) -> (?P<value>[^,]*)")


def static_partition(argument: str) -> Partition:
    """The columns with a value in `[ds=2026-10-10]` or `[dt=Some(1), hr=None]`."""
    if not argument.startswith("[") or "=" not in argument:
        return ()
    pairs = (_PAIR.fullmatch(item) for item in bracket_items(argument))
    return tuple(
        (pair["key"].strip(), pair["some"] or pair["value"])
        for pair in pairs
        if pair and (pair["some"] or pair["value"] not in (None, "", "None"))
    )


def mapped_partitions(arguments: str) -> tuple[Partition, ...]:
    """The partitions in `[Map(ds -> 2026-10-31), Map(ds -> 2026-11-01)]`."""
    return tuple(
        tuple((pair["key"], pair["value"].strip()) for pair in _MAPPED.finditer(match["pairs"]))
        for match in _MAP.finditer(arguments)
    )


_PATHS = re.compile(r"\w+(?:\((?P<count>\d+) paths\))?\s?\[(?P<paths>.*)", re.DOTALL)
_CUT = re.compile(r"\.\.\.(?:, | \d+ entries|\]?$)")
_BETWEEN = re.compile(r",\s?(?=[a-zA-Z][a-zA-Z0-9+.-]*:/|/)")
_FIELDS = ("PartitionFilters", "DataFilters", "PushedFilters")
_FIELD = {
    name: re.compile(rf"\b{name}: (?P<list>\[.*?\])(?=, [A-Z]\w+: |\s*$|\n)", re.DOTALL)
    for name in _FIELDS
}
_HIVE = re.compile(r"HiveTableRelation .*\], (?P<list>\[[^\[\]]*\])$", re.DOTALL)
_ICEBERG = re.compile(
    r"\bfilters=(?P<list>[^\[\]]*?)(?=, (?:groupedBy|runtimeFilters|branch)=|[\])])"
)
_DELTA = re.compile(r"Delta\[version=(?P<version>\d{1,18}), ")
# A read of Iceberg's `db.t.changes`.
_CHANGELOG = re.compile(
    r"[\[ (]fromSnapshotId=(?P<start>\d{1,19}|null), toSnapshotId=(?P<end>\d{1,19})[,\])]"
)
_DYNAMIC = "dynamicpruning"


def scan_periods(
    node: PlanNode, location: str, types: Mapping[str, str], columns: DateColumns
) -> tuple[Period, ...]:
    """The dates that a scan reads; empty where nothing tells them.

    Args:
        location: The scan's paths, as the plan has them.
        types: The types of the columns in the files.
    """
    on_partitions = _field_text(node, "PartitionFilters") or _hive_filters(node)
    partitions = date_conditions(on_partitions, {})
    is_dynamic = _DYNAMIC in on_partitions
    periods = () if is_dynamic and not partitions else _path_periods(location, columns)
    on_location = periods and periods[0].evidence is PeriodEvidence.LOCATION
    if on_location and not (is_dynamic or _is_cut(location)):
        return periods
    if best := _best_periods(partitions, {}, columns, is_partition=True):
        return best
    for filters in _data_filters(node):
        if best := _best_periods(date_conditions(filters, types), types, columns):
            return best
    return () if _is_cut(location) or is_dynamic else periods


def scan_positions(node: PlanNode) -> tuple[DataPosition, ...]:
    """The version of a Delta table that a scan reads, or the snapshots of an Iceberg changelog."""
    if changes := _CHANGELOG.search(node.text):
        start = changes["start"] if changes["start"] != "null" else ""
        return (DataPosition(SNAPSHOTS, start, changes["end"]),)
    match = _DELTA.search(node.text) or _DELTA.search(node.metadata.get("Location", ""))
    if match is None:
        return ()
    return (DataPosition("delta version", match["version"], match["version"]),)


def _data_filters(node: PlanNode) -> Iterator[str]:
    yield _field_text(node, "DataFilters")
    yield _field_text(node, "PushedFilters")
    if match := _ICEBERG.search(node.text):
        yield match["list"]


def _best_periods(
    conditions: Conditions,
    types: Mapping[str, str],
    columns: DateColumns,
    *,
    is_partition: bool = False,
) -> tuple[Period, ...]:
    """The periods of the column that is best known as a date column.

    Any partition column with dates counts, unless it is about people.
    """
    ranks = {
        column: columns.rank(column, "date" if is_partition else types.get(column, ""))
        for column in conditions
    }
    for column in sorted(ranks, key=lambda name: (-ranks[name], name)):
        if ranks[column] is not DateRank.NONE and (
            periods := condition_periods(conditions[column], column)
        ):
            return periods
    return ()


def _path_periods(location: str, columns: DateColumns) -> tuple[Period, ...]:
    """The dates in all paths; empty where one has none."""
    match = _PATHS.fullmatch(location)
    paths = _BETWEEN.split(match["paths"].removesuffix("]")) if match else []
    periods = []
    for path in paths:
        if path.startswith("..."):
            continue
        period = path_period(path.strip(), columns, PeriodEvidence.LOCATION)
        if period is None:
            return ()
        periods.append(period)
    return union(periods)


def _is_cut(location: str) -> bool:
    """Whether Spark left out some of the paths."""
    match = _PATHS.fullmatch(location)
    if match is None or _CUT.search(location):
        return bool(location)
    shown = len(_BETWEEN.split(match["paths"])) if match["paths"].strip("]") else 0
    return match["count"] is not None and int(match["count"]) > shown


def _field_text(node: PlanNode, name: str) -> str:
    if value := node.metadata.get(name):
        return value
    match = _FIELD[name].search(node.text) if name in node.text else None
    return match["list"] if match else ""


def _hive_filters(node: PlanNode) -> str:
    if "HiveTableRelation" not in node.text:
        return ""
    match = _HIVE.search(node.text)
    return match["list"] if match else ""
