"""Plans become trees: `sparkPlanInfo`, the formatted text, and the arguments of an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from collectors.spark.plan import (
    Attribute,
    attributes,
    bracketed,
    from_info,
    identifier,
    parse_text,
    split_arguments,
)
from collectors.spark.schema import parse_struct, typed_columns
from lineage.records import Column

VIEW = """== Physical Plan ==
Execute CreateViewCommand (1)
   +- CreateViewCommand (2)
         +- Project (6)
            +- Join (5)
               :- SubqueryAlias (4)
               :  +- LogicalRelation (3)
               +- LocalRelation (7)


(1) Execute CreateViewCommand
Output: []

(2) CreateViewCommand
Arguments: `spark_catalog`.`ml`.`v`, select *
from raw.orders, PersistedView, true

(3) LogicalRelation
Arguments: parquet, [order_id#58, note#9], `spark_catalog`.`raw`.`orders`, false

(4) SubqueryAlias [codegen id : 1]
Input [2]: [order_id#58, note#9]
"""


def test_the_text_becomes_a_tree_with_the_fields_of_each_operator() -> None:
    root = parse_text(VIEW)
    assert root
    assert [operator.name for operator in root.walk()] == [
        "Execute CreateViewCommand",
        "CreateViewCommand",
        "Project",
        "Join",
        "SubqueryAlias",
        "LogicalRelation",
        "LocalRelation",
    ]
    fields = {operator.name: operator.fields for operator in root.walk()}
    expected = "`spark_catalog`.`ml`.`v`, select *\nfrom raw.orders, PersistedView, true"
    assert fields["CreateViewCommand"] == {"Arguments": expected}
    assert fields["SubqueryAlias"] == {"Input": "[order_id#58, note#9]"}
    assert fields["LocalRelation"] == {}


@pytest.mark.parametrize("text", ["", "== Physical Plan ==\n", "*(1) Project [a#1]\n+- Scan x"])
def test_other_texts_are_no_plan(text: str) -> None:
    assert parse_text(text) is None


def test_a_plan_of_thousands_of_operators_is_read(node: Callable[..., Any]) -> None:
    plan = node("Scan csv")
    for _ in range(5_000):
        plan = node("Project", plan)
    assert sum(1 for _ in from_info(plan).walk()) == 5_001


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a, [b, c], d(e, f)", ["a", "[b, c]", "d(e, f)"]),
        ("`a, b`.`c`, d", ["`a, b`.`c`", "d"]),
        ("file:/a,b, false", ["file:/a,b", "false"]),
        ("", [""]),
        ("a)], b", ["a)], b"]),
    ],
)
def test_arguments_split_outside_of_brackets(text: str, parts: list[str]) -> None:
    assert split_arguments(text) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("`spark_catalog`.`raw`.`orders`, org.apache…", ("spark_catalog", "raw", "orders")),
        ("spark_catalog.raw.orders[order_id#1]", ("spark_catalog", "raw", "orders")),
        ("raw.`odd.name``x`", ("raw", "odd.name`x")),
        ("ml.e2, false", ("ml", "e2")),
        ("", ()),
    ],
)
def test_a_name_is_read_from_where_the_text_starts(text: str, parts: tuple[str, ...]) -> None:
    assert identifier(text) == parts


def test_what_spark_left_out_of_a_list_is_missing() -> None:
    assert bracketed("[a, b, ... 15 more fields]") == ["a", "b"]
    assert attributes("[id#3L,name#4, ... 2 more fields]") == [
        Attribute("id", 3, is_long=True),
        Attribute("name", 4),
    ]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("struct<id:bigint,name:string>", (Column("id", "bigint"), Column("name", "string"))),
        (
            "struct<price:decimal(10,2),tags:map<string,array<int>>>",
            (Column("price", "decimal(10,2)"), Column("tags", "map<string,array<int>>")),
        ),
        ("struct<(name = Jane):boolean,id:int>", (Column("id", "int"),)),
        ("struct<>", ()),
        ("", ()),
    ],
)
def test_a_struct_becomes_columns(text: str, columns: tuple[Column, ...]) -> None:
    assert parse_struct(text) == columns


def test_written_columns_have_the_types_of_the_scanned_ones() -> None:
    inputs = [Attribute("id", 1), Attribute("n", 2, is_long=True), Attribute("x", 3)]
    assert typed_columns(["a", "b", "c"], inputs, {1: "int"}) == (
        Column("a", "int"),
        Column("b", "bigint"),
        Column("c"),
    )
    assert typed_columns(["a"], inputs, {1: "int"}) == (Column("a"),)


def test_a_column_named_after_its_expression_is_not_kept() -> None:
    assert typed_columns(["(name = Jane Doe)"], [Attribute("(name = Jane Doe)", 1)], {}) == ()
