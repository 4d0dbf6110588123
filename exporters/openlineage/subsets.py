"""The facets `subset` and `version` of a run's inputs and outputs: dates and versions of data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from typing import Any

from dbt_graft.exporters.openlineage.facets import Facet, facet
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period
from dbt_graft.lineage.records import Direction

_SCHEMAS = {
    Direction.READ: ("InputSubsetInputDatasetFacet", "inputCondition"),
    Direction.WRITE: ("OutputSubsetOutputDatasetFacet", "outputCondition"),
}
# Longer conditions help no receiver.
_MOST = 50


def subset(periods: Sequence[Period], direction: Direction) -> Facet | None:
    """The dates of data as conditions on their columns; None where a date has no column."""
    if not 0 < len(periods) <= _MOST or not all(period.column for period in periods):
        return None
    schema, side = _SCHEMAS[direction]
    condition = reduce(lambda a, b: _binary("OR", a, b), map(_condition, periods))
    return facet(schema, **{side: condition})


def version(positions: Sequence[DataPosition]) -> Facet | None:
    """The last version or snapshot that was read or written; None where there is none."""
    versions = [
        position.end for position in positions if position.kind.endswith(("version", "snapshot"))
    ]
    return facet("DatasetVersionDatasetFacet", datasetVersion=versions[-1]) if versions else None


def _condition(period: Period) -> dict[str, Any]:
    sides = (("GREATER_EQUAL_THAN", period.start), ("LESS_THAN", period.end))
    compared = [
        {
            "type": "compare",
            "left": {"type": "field", "field": period.column},
            "comparison": comparison,
            "right": {"type": "literal", "value": _literal(at, period.grain)},
        }
        for comparison, at in sides
        if at is not None
    ]
    return reduce(lambda a, b: _binary("AND", a, b), compared)


def _binary(operator: str, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {"type": "binary", "operator": operator, "left": left, "right": right}


def _literal(at: datetime, grain: Grain) -> str:
    return at.strftime("%Y-%m-%d %H:00:00") if grain is Grain.HOUR else at.date().isoformat()
