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
        ("bool", "boolean", None),
        ("numeric(10,2)", "decimal(10, 2)", None),
        ("numeric", "bignumeric", ChangeType.WIDEN),
        ("number", "number(38,0)", None),
        ("int64", "integer", None),
        ("float64", "double", None),
        ("int8", "bigint", None),
        ("int8", "int16", ChangeType.WIDEN),  # of ClickHouse
        ("Int64", "Int8", ChangeType.NARROW),
        ("Int32", "Int64", ChangeType.WIDEN),
        ("int64", "int128", ChangeType.WIDEN),
        ("INT64", "smallint", None),  # of BigQuery
        ("float", "real", ChangeType.NARROW),  # of SQL Server
        ("real", "float", ChangeType.WIDEN),
        ("real", "float4", None),
        ("double precision", "float", ChangeType.NARROW),
        ("datetime", "datetime2(7)", ChangeType.WIDEN),
        ("datetime", "datetime2(0)", ChangeType.NARROW),
        ("smalldatetime", "datetime", ChangeType.WIDEN),
        ("int32", "uint32", ChangeType.TYPE),
        ("lowcardinality(string)", "string", None),
        ("nullable(int32)", "int32", ChangeType.TYPE),
        ("int(11)", "int", None),
        ("text", "varchar(16777216)", None),
        ("varchar(50)", "nvarchar(50)", ChangeType.WIDEN),
        ("nvarchar(50)", "varchar(50)", ChangeType.NARROW),  # loses letters
        ("nvarchar(50)", "varchar(100)", ChangeType.NARROW),
        ("varchar(100)", "nvarchar(50)", ChangeType.NARROW),
        ("char(10)", "character(10)", None),
        ("char(10)", "varchar(10)", ChangeType.TYPE),  # padded
        ("timestamptz", "timestamp with time zone", None),
        ("timestamp", "timestamp without time zone", None),
        ("timestamp", "timestamptz", ChangeType.TYPE),
        ("timestamp(6) without time zone", "timestamp(3)", ChangeType.NARROW),
        ("timestamp_ntz", "timestamp_ntz(9)", None),
        ("timestamp_ntz", "timestamp_ltz", ChangeType.TYPE),
        ("datetime2", "datetime2(7)", None),
        ("datetime2", "datetime", ChangeType.NARROW),
        ("array<string>", "array<int>", ChangeType.TYPE),
        ("struct<a:int>", "struct<a:int,b:int>", ChangeType.TYPE),
    ],
)
def test_the_kind_of_a_change_of_types(before: str, after: str, kind: ChangeType | None) -> None:
    assert type_change(before, after) is kind
