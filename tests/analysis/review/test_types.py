"""Types before and after."""

from __future__ import annotations

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.types import type_change
from tests.cases import for_each


@for_each(
    "before, after, kind",
    [
        ("int", "INTEGER", None),
        ("int", "bigint", ChangeType.WIDEN),
        ("bigint", "int", ChangeType.NARROW),
        ("float", "double", ChangeType.WIDEN),
        ("varchar(10)", "varchar(20)", ChangeType.WIDEN),
        ("varchar(20)", "character varying(10)", ChangeType.NARROW),
        ("varchar(20)", "varchar(max)", ChangeType.WIDEN),
        ("varchar", "text", None),
        ("decimal(10,2)", "decimal(12, 2)", ChangeType.WIDEN),
        ("decimal(10,2)", "decimal(10,4)", ChangeType.TYPE),  # fewer digits before the point
        ("int", "text", ChangeType.TYPE),
        ("date", "timestamp", ChangeType.TYPE),
    ],
)
def test_the_kind_of_a_change_of_types(before: str, after: str, kind: ChangeType | None) -> None:
    assert type_change(before, after) is kind
