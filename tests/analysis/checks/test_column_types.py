"""Types that platforms, catalogs and logs write in several ways."""

from __future__ import annotations

from dbt_graft.analysis.checks.column_types import is_same_type
from tests.cases import for_each


@for_each(
    "one, other",
    [
        ("int", "INTEGER"),
        ("string", "varchar(10)"),
        ("VARCHAR(16777216)", "TEXT"),
        ("character varying(255)", "varchar(10)"),
        ("decimal(10,2)", "NUMERIC(10, 2)"),
        ("NUMBER", "NUMBER(38,0)"),
        ("INT64", "INTEGER"),
        ("float64", "FLOAT"),
        ("double precision", "float8"),
        ("Nullable(String)", "String"),
        ("LowCardinality(Nullable(String))", "string"),
        ("timestamp without time zone", "timestamp"),
        ("timestamp(6) with time zone", "TIMESTAMP WITH TIME ZONE"),
        ("struct<b:string,a:int>", "STRUCT<A: INTEGER, B: VARCHAR(3)>"),
        ("struct<a int, b string>", "row(b varchar, a integer)"),
        ("array<struct<`a`:int>>", "array<struct<a:int>>"),
        ("map<string,decimal(5,2)>", "map<varchar(3), decimal(5, 2)>"),
        ("struct<a:int,... 12 more fields>", "struct<a:int,b:int>"),
        ("array", "array<int>"),
        ("", ""),
        ("datetime2", "timestamp"),
        ("DateTime64(3)", "timestamp"),
        ("timestamp(6)", "timestamp(3)"),
        ("timestamp_ntz", "timestamp without time zone"),
        ("time", "time without time zone"),
        ("uniqueidentifier", "string"),  # as Spark reads it
        ("jsonb", "string"),
        ("uuid", "uniqueidentifier"),
        ("money", "decimal(19,4)"),
        ("float(53)", "double"),  # of SQL Server
        ("int[]", "array<int>"),
        ("_int4", "array<int>"),
        ("FixedString(10)", "string"),
        ("Date32", "date"),
    ],
)
def test_one_type_in_two_spellings(one: str, other: str) -> None:
    assert is_same_type(one, other)
    assert is_same_type(other, one)


@for_each(
    "one, other",
    [
        ("int", "bigint"),
        ("string", "int"),
        ("date", "timestamp"),
        ("json", "int"),
        ("int[]", "array<string>"),
        ("timestamp", "timestamp with time zone"),
        ("decimal(10,2)", "decimal(12,2)"),
        ("struct<a:int>", "struct<a:string>"),
        ("struct<a:int>", "struct<b:int>"),
        ("struct<a:int>", "struct<a:int,b:int>"),
        ("array<int>", "array<string>"),
        ("array<int>", "map<int,int>"),
        ("map<string,int>", "map<string,string>"),
    ],
)
def test_two_types(one: str, other: str) -> None:
    assert not is_same_type(one, other)


@for_each("text", ["<<<", "))((", "struct<", "a,b", ":", "array<" * 50_000, "(" * 5_000])
def test_a_name_that_is_none_ends(text: str) -> None:
    assert is_same_type(text, text)
