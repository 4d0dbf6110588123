"""Column edges of the facets `columnLineage` and `lineage`, of all their versions.

Version 1-0 of `columnLineage` had one `transformationType` for a column, `IDENTITY` or `MASKED`;
since 1-1 each input has `transformations`, since 1-2 inputs that decide on all rows stand in
`dataset`. dbt-ol leaves `transformations` empty, also where a function changes the value: so
without one an edge is a TRANSFORMATION, which claims less than IDENTITY.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_graft.collectors.openlineage.datasets import dataset_of
from dbt_graft.collectors.openlineage.event import Facets
from dbt_graft.collectors.openlineage.facets import mapping, objects, text
from dbt_graft.collectors.statement import StatementEdge
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Subtype

_SUBTYPES = {subtype.value: subtype for subtype in Subtype}
# Names that producers have for some of them.
_SUBTYPES |= {"GROUPBY": Subtype.GROUP_BY, "CONDITION": Subtype.CONDITIONAL}


def column_lineage(output: DatasetId, facets: Facets) -> Iterator[StatementEdge]:
    """The edges of an output's facet `columnLineage`."""
    facet = mapping(facets, "columnLineage")
    for column, field in mapping(facet, "fields").items():
        old = text(field, "transformationType").upper()
        for input_field in objects(field, "inputFields"):
            yield from _edges(output, column, input_field, EdgeType.DIRECT, old)
    for input_field in objects(facet, "dataset"):
        yield from _edges(output, ANY_COLUMN, input_field, EdgeType.INDIRECT)


def entry_columns(target: DatasetId, entry: Mapping[str, Any]) -> Iterator[StatementEdge]:
    """The edges of an entry of the facet `lineage`."""
    for column, field in mapping(entry, "fields").items():
        for input_field in objects(field, "inputs"):
            yield from _edges(target, column, input_field, EdgeType.DIRECT)
    for input_field in objects(entry, "inputs"):
        # An input without a column says no more than that data came from its dataset.
        if text(input_field, "field"):
            yield from _edges(target, ANY_COLUMN, input_field, EdgeType.INDIRECT)


def _edges(
    output: DatasetId, column: str, input_field: Mapping[str, Any], default: EdgeType, old: str = ""
) -> Iterator[StatementEdge]:
    source, field = dataset_of(input_field), text(input_field, "field") or ANY_COLUMN
    if source is None or not column:
        return
    transformations = list(objects(input_field, "transformations")) or [
        {"type": default.value, "subtype": old}
    ]
    for transformation in transformations:
        subtype = _subtype(
            text(transformation, "type").upper(), text(transformation, "subtype").upper(), default
        )
        masking = transformation.get("masking") is True or old == "MASKED"
        yield StatementEdge(output, column, source, field, subtype, masking)


def _subtype(type_: str, subtype: str, default: EdgeType) -> Subtype:
    """The subtype; where it is not known, the one of its type that claims least."""
    member = _SUBTYPES.get(subtype)
    wanted = EdgeType(type_) if type_ in EdgeType.__members__ else default
    if member and (member.type is wanted or not type_):
        return member
    return Subtype.TRANSFORMATION if wanted is EdgeType.DIRECT else Subtype.CONDITIONAL
