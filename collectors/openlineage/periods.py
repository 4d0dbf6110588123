"""Dates and versions of data in facets: `subset`, `version`, and Iceberg's reports.

`subset` names partitions, locations or conditions. Without it, a date in the path of a dataset is
the date of what was read or written there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from dbt_graft.collectors.openlineage.event import NamedDataset
from dbt_graft.collectors.openlineage.facets import mapping, objects, text
from dbt_graft.lineage.dates.date_columns import (
    NO_RULES,
    DateColumns,
    DateRank,
    has_time,
    name_grain,
)
from dbt_graft.lineage.dates.date_conditions import (
    Conditions,
    comparison_ranges,
    intersect_conditions,
    known_extents,
    unite_conditions,
)
from dbt_graft.lineage.dates.date_ranges import date_range
from dbt_graft.lineage.dates.partition_dates import partition_periods, path_period
from dbt_graft.lineage.dates.period import DataPosition, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import (
    KINDS_BY_LAYER,
    SNAPSHOTS,
    condition_periods,
    union,
)

_COMPARISONS = {
    "EQUAL": "=",
    "GREATER_THAN": ">",
    "GREATER_EQUAL_THAN": ">=",
    "LESS_THAN": "<",
    "LESS_EQUAL_THAN": "<=",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_DEEPEST = 20
_MOST = 5_000
_VERSION = re.compile(r"[\w.:+-]{1,100}")
_SNAPSHOTS = ("icebergCommitReport", "icebergScanReport", "iceberg_commit_report")


def event_periods(
    dataset: NamedDataset, *, is_output: bool, columns: DateColumns = NO_RULES
) -> tuple[Period, ...]:
    """The dates of data that an event reads or writes; empty where nothing tells them."""
    side = "outputCondition" if is_output else "inputCondition"
    condition = mapping(dataset.counts, "subset", side) or mapping(dataset.facets, "subset", side)
    partition = PeriodEvidence.PARTITION if is_output else PeriodEvidence.LOCATION
    match text(condition, "type"):
        case "partition":
            partitions = [
                [(str(key), str(value)) for key, value in mapping(part, "dimensions").items()]
                for part in islice(objects(condition, "partitions"), _MOST)
            ]
            return union(partition_periods(partitions, columns, partition))
        case "location":
            return _location_periods(condition, columns, partition)
        case "compare" | "binary":
            periods = _best_periods(_conditions(condition), columns, _types(dataset))
            in_part = is_output and len(_fields(condition)) > 1
            return tuple(replace(p, in_part=p.in_part or in_part) for p in periods)
    period = (
        path_period(dataset.name, columns, PeriodEvidence.PATH) if "/" in dataset.name else None
    )
    return (period,) if period else ()


def event_positions(dataset: NamedDataset) -> tuple[DataPosition, ...]:
    """The version or snapshot of a dataset that an event reads or writes."""
    for name in _SNAPSHOTS:
        if name not in dataset.counts and name not in dataset.facets:
            continue  # of most events none is there
        report = mapping(dataset.counts, name) or mapping(dataset.facets, name)
        snapshot = report.get("snapshotId")
        if isinstance(snapshot, (int, str)) and _VERSION.fullmatch(str(snapshot)):
            return (DataPosition(SNAPSHOTS, str(snapshot), str(snapshot)),)
    version = text(dataset.facets, "version", "datasetVersion") or text(
        dataset.facets, "datasetVersion", "datasetVersion"
    )
    if not _VERSION.fullmatch(version):
        return ()
    layer = text(dataset.facets, "storage", "storageLayer").casefold()
    return (DataPosition(KINDS_BY_LAYER.get(layer, "version"), version, version),)


def _location_periods(
    condition: Mapping[str, Any], columns: DateColumns, evidence: PeriodEvidence
) -> tuple[Period, ...]:
    named = condition.get("locations")
    locations = named if isinstance(named, list) else []
    periods = [path_period(str(location), columns, evidence) for location in locations[:_MOST]]
    known_periods = [period for period in periods if period]
    return union(known_periods) if known_periods and len(known_periods) == len(locations) else ()


def _conditions(condition: Mapping[str, Any], depth: int = 0) -> Conditions:
    if depth == _DEEPEST:
        return {}
    left, right = mapping(condition, "left"), mapping(condition, "right")
    if text(condition, "type") == "binary":
        join = (
            unite_conditions
            if text(condition, "operator").upper() == "OR"
            else intersect_conditions
        )
        return join((_conditions(left, depth + 1), _conditions(right, depth + 1)))
    operator = _COMPARISONS.get(text(condition, "comparison").upper(), "")
    if text(left, "type") == "literal":
        left, right, operator = right, left, _MIRRORED.get(operator, "")
    column, value = text(left, "field"), text(right, "value")
    dates = date_range(value, name_grain(column)) if column else None
    ranges = comparison_ranges(operator, dates) if dates else ()
    return {column: ranges} if ranges else {}


def _fields(condition: Mapping[str, Any], depth: int = 0) -> set[str]:
    """The columns of a condition; empty for what is none."""
    sides = (mapping(condition, side) for side in ("left", "right"))
    if depth == _DEEPEST:
        return {""}
    if text(condition, "type") == "binary":
        return {field for side in sides for field in _fields(side, depth + 1)}
    return {text(side, "field") for side in sides if text(side, "type") != "literal"}


def _types(dataset: NamedDataset) -> dict[str, str]:
    fields = islice(objects(dataset.facets, "schema", "fields"), _MOST)
    return {text(field, "name").casefold(): text(field, "type") for field in fields}


def _best_periods(
    conditions: Conditions, columns: DateColumns, types: Mapping[str, str]
) -> tuple[Period, ...]:
    ranks = {
        column: columns.rank(column, types.get(column.casefold(), "")) for column in conditions
    }
    for column in sorted(ranks, key=lambda name: (-ranks[name], name)):
        has_times = has_time(types.get(column.casefold(), ""))
        ranges = known_extents(conditions[column], has_time=has_times)
        if ranks[column] is not DateRank.NONE and (periods := condition_periods(ranges, column)):
            return periods
    return ()
