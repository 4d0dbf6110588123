"""Plans become trees: `sparkPlanInfo`, the formatted text, and the arguments of an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attribute,
    attributes,
    bracket_items,
    expressions,
    identifier,
    split_alias,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.text import parse_text
from dbt_graft.collectors.spark.plans.tree import Operator, from_info
from dbt_graft.collectors.spark.sources.schema import (
    first_struct,
    is_column_name,
    parse_struct,
    typed_columns,
    written_names,
)
from dbt_graft.lineage.records import Column
from tests.cases import for_each

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


def tree(operator: Operator | None) -> str:
    """A plan in one line: `Join(Project(Scan), Scan)`, what is inside in square brackets."""
    if operator is None:
        return ""
    below = ", ".join(map(tree, operator.children))
    inside = ", ".join(map(tree, operator.inside))
    return operator.kind + (f"({below})" if below else "") + (f"[{inside}]" if inside else "")


def test_the_text_becomes_a_tree_with_the_fields_of_each_operator() -> None:
    root = parse_text(VIEW).root
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


FORMATTED = "\n\n(1) Scan csv\nOutput [1]: [a#1]\n"
LAYOUTS = {
    "formatted": (
        f"== Physical Plan ==\n* Project (2)\n+- Scan csv (1)\n{FORMATTED}",
        "Project(Scan)",
    ),
    "what is inside a cached relation": (
        "InMemoryTableScan (1) (columnarIn=false, columnarOut=true)\n"
        "      +- InMemoryRelation (2)\n            +- * Project (3)\n",
        "InMemoryTableScan[InMemoryRelation[Project]]",
    ),
    "the final of an adaptive plan's trees": (
        "AdaptiveSparkPlan (9)\n+- == Final Plan ==\n   * Sort (3)\n"
        "   +- ShuffleQueryStage (2), Statistics(sizeInBytes=1 B)\n      +- Exchange (1)\n"
        "+- == Initial Plan ==\n   Filter (8)\n   +- Exchange (7)\n",
        "AdaptiveSparkPlan(Sort(ShuffleQueryStage(Exchange)))",
    ),
    "extended, with whole-stage numbers": (
        "== Physical Plan ==\n*(2) Project [a#1]\n+- *(1) Filter (a#1 > 2)\n"
        "   +- FileScan csv [a#1] Batched: false\n",
        "Project(Filter(FileScan))",
    ),
    "extended, of Spark 2": (
        "== Physical Plan ==\nExecute InsertIntoHadoopFsRelationCommand file:/t, false, Parquet\n"
        "+- *(1) FileScan csv [a#1]\n",
        "Execute(FileScan)",
    ),
    "extended, with a subquery inside": (
        "== Physical Plan ==\nFilter (a#1 > Subquery scalar-subquery#2, [id=#3])\n"
        ":  +- Subquery scalar-subquery#2, [id=#3]\n:     +- Range (0, 1)\n+- Scan[a#1]\n",
        "Filter(Scan)[Subquery(Range)]",
    ),
    "of other engines": (
        "GpuColumnarToRow false\n+- GpuProject [a#1]\n   +- GpuFileGpuScan parquet x[a#1]\n",
        "ColumnarToRow(Project(Scan))",
    ),
    "Photon": ("PhotonProject (2)\n+- PhotonScan parquet main.raw.t (1)\n", "Project(Scan)"),
}


@for_each("text, expected", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_becomes_a_tree(text: str, expected: str) -> None:
    assert tree(parse_text(text).root) == expected


def test_an_extended_text_has_the_optimised_logical_plan_too() -> None:
    text = parse_text(
        "== Parsed Logical Plan ==\n'Project ['a]\n+- 'UnresolvedRelation [t]\n\n"
        "== Analyzed Logical Plan ==\na: int\nProject [a#1]\n+- Relation[a#1] csv\n\n"
        "== Optimized Logical Plan ==\nProject [a#1]\n+- Relation[a#1] csv\n\n"
        "== Physical Plan ==\nFileScan csv [a#1]\n"
    )
    assert tree(text.optimised) == "Project(Relation)"
    assert tree(text.root) == "FileScan"


def test_what_is_not_resolved_yet_has_its_operators_name() -> None:
    text = parse_text("== Physical Plan ==\n'Project ['a]\n+- 'UnresolvedRelation [raw, t]\n")
    assert tree(text.root) == "Project(UnresolvedRelation)"


def test_a_sources_own_text_is_no_part_of_its_columns() -> None:
    text = parse_text(
        "BatchScan lake.t (1)\n\n\n(1) BatchScan lake.t\nOutput [2]: [a#1, odd\nname#2]\n"
        "lake.t (branch=null) [filters=, groupedBy=]\n"
    )
    assert text.root
    assert text.root.fields == {"Output": "[a#1, odd\nname#2]"}


def test_a_tables_description_is_no_list_of_fields() -> None:
    described = "CatalogTable(\nDatabase: ml\nTable: t\nSchema: root\n |-- a: decimal(3,2)\n), [a]"
    text = parse_text(
        "Execute X (2)\n+- Scan csv (1)\n\n(1) Scan csv\nOutput [1]: [a#1]\n\n(2) Execute X\n"
        f"Arguments: f(1), {described}\nInput [1]: [a#1]\n"
    )
    assert text.root
    assert text.root.fields == {"Arguments": f"f(1), {described}", "Input": "[a#1]"}


CACHED = """AdaptiveSparkPlan (9)
+- InMemoryTableScan (1)
      +- InMemoryRelation (2)
            +- AdaptiveSparkPlan (8)
               +- == Final Plan ==
                  ResultQueryStage (6)
                  +- Project (5)
                     +- InMemoryTableScan (3)
                           +- InMemoryRelation (4)
                                 +- AdaptiveSparkPlan (15)
                                    +- == Final Plan ==
                                       Sort (14)
                                    +- == Initial Plan ==
                                       Filter (13)
               +- == Initial Plan ==
                  Union (7)
                  +- InMemoryTableScan (3)
                        +- InMemoryRelation (4)
                              +- AdaptiveSparkPlan (15)
                                 +- == Final Plan ==
                                    Sort (14)
                                 +- == Initial Plan ==
                                    Filter (13)


(1) InMemoryTableScan
Output [1]: [a#1]

(6) ResultQueryStage
Output [1]: [a#1]
Arguments: 1

(7) Union
Input [2]: [a#1, partial#2]
Keys [1]: [a#1]

(9) AdaptiveSparkPlan
Output [1]: [a#1]
"""


def test_of_a_cached_plan_only_what_ran_counts() -> None:
    root = parse_text(CACHED).root
    assert tree(root) == (
        "AdaptiveSparkPlan(InMemoryTableScan[InMemoryRelation[AdaptiveSparkPlan(ResultQueryStage("
        "Project(InMemoryTableScan[InMemoryRelation[AdaptiveSparkPlan(Sort)]])))]])"
    )
    assert root
    [stage] = [operator for operator in root.walk() if operator.kind == "ResultQueryStage"]
    assert stage.fields == {"Output": "[a#1]", "Arguments": "1"}


def test_subqueries_and_reused_exchanges_are_found_by_their_numbers() -> None:
    text = parse_text(
        "== Physical Plan ==\nProject (3)\n+- ReusedExchange (2)\n\n\n"
        "(2) ReusedExchange [Reuses operator id: 5]\nOutput [1]: [b#2]\n\n(3) Project\nOutput [1]:"
        " [b#2]\n\n===== Subqueries =====\n\n"
        "Subquery:1 Hosting operator id = 3 Hosting Expression = Subquery subquery#7, [id=#9]"
        "\nExchange (5)\n+- Range (4)\n\n\n(4) Range\nOutput [1]: [id#3L]\n\n"
        "(5) Exchange\nInput [1]: [id#3L]\n\n"
        "Subquery:2 Hosting operator id = 1 Hosting Expression = Subquery subquery#8, [id=#10]\n"
        "Exchange (5)\n+- Range (4)\n"
    )
    assert text.root
    assert text.root.children[0].reuses is text.subqueries[7]
    assert tree(text.subqueries[7]) == "Exchange(Range)"
    assert text.subqueries[8] is text.subqueries[7]
    assert not text.is_cut


def test_a_plan_whose_operators_lack_their_sections_is_marked() -> None:
    complete = f"Project (2)\n+- Scan csv (1)\n{FORMATTED}\n(2) Project\nOutput [1]: [a#1]\n"
    assert not parse_text(complete).is_cut
    assert parse_text(complete[:60]).is_cut


@pytest.mark.parametrize("text", ["", "== Physical Plan ==\n", "\n\n"])
def test_other_texts_are_no_plan(text: str) -> None:
    assert parse_text(text).root is None


@pytest.mark.slow
@for_each(
    "text",
    [
        "(" * 200_000,
        "\n".join("   " * (n % 400) + "+- Project (1)" for n in range(20_000)),
        "Project [" + "a#1 AS " * 50_000,
        "A" + " " * 200_000 + "\n" + "x" * 200_000,
        "(1) Scan\n" * 20_000,
        "Union (1)\n" + "+- Scan csv (2)\n" * 20_000 + "\n" + "(2) Scan csv\nA: b\n" * 20_000,
    ],
)
def test_hostile_texts_are_read_to_their_end(text: str) -> None:
    for root in (parse_text(text).root, parse_text(f"== Physical Plan ==\n{text}").root):
        for operator in root.walk() if root else ():
            expressions(operator.arguments)
            attributes(operator.arguments)
            split_arguments(operator.arguments)


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


@pytest.mark.parametrize(
    "names",
    [["Amount (EUR), net", "x"], ["a AS b", "id#7"], ["price (net", "x[0", "y)"], ["größe", "a.b"]],
)
def test_a_list_of_columns_has_names_with_any_sign(names: list[str]) -> None:
    listed = ", ".join(f"{name}#{at}L" for at, name in enumerate(names))
    assert [column.name for column in attributes(f"[{listed}]")] == names


@for_each(
    "text, expression, name",
    [
        ("(a#2 + 1) AS b#3", "(a#2 + 1)", "b"),
        ("a#1 AS a AS b#2", "a#1", "a AS b"),
        ("a AS b#1 AS c#2", "a AS b#1", "c"),
        ("max(a AS b#1)#5 AS max(a AS b)#2", "max(a AS b#1)#5", "max(a AS b)"),
        ("CASE WHEN a#1 THEN 1 END AS x AS y#2", "CASE WHEN a#1 THEN 1 END", "x AS y"),
        ("sum(a) AS `sum(a)`#1[0] AS one#2", "sum(a) AS `sum(a)`#1[0]", "one"),
        ("Jane AS who#2", "Jane", "who"),
        ("a#1", "a#1", "a"),
    ],
)
def test_an_expression_ends_before_its_name(text: str, expression: str, name: str) -> None:
    assert split_alias(text)[0] == expression
    column = attribute(text)
    assert column
    assert column.name == name


def test_what_spark_left_out_of_a_list_is_missing() -> None:
    assert bracket_items("[a, b, ... 15 more fields]") == ["a", "b"]
    assert attributes("[id#3L,name#4, ... 2 more fields]") == [
        Attribute("id", 3, is_long=True),
        Attribute("name", 4),
    ]


@for_each(
    "text, items",
    [
        ("[a#1, (b#2 + 1) AS c#3L]", ["a#1", "(b#2 + 1) AS c#3L"]),
        ("[concat(a#1, , b#2) AS x#3]", ["concat(a#1, , b#2) AS x#3"]),
        ("[a#1 AS odd, name#2, b#3]", ["a#1 AS odd, name#2", "b#3"]),
        ("[Subquery subquery#1, [id=#9] AS x#2, b#3]", ["Subquery subquery#1 AS x#2", "b#3"]),
        ("[a#1, ... 15 more fields]", ["a#1"]),
        ("[]", []),
    ],
)
def test_named_expressions_end_in_their_ids(text: str, items: list[str]) -> None:
    assert expressions(text) == items


@for_each(
    "text, columns",
    [
        ("struct<id:bigint,name:string>", (Column("id", "bigint"), Column("name", "string"))),
        (
            "struct<price:decimal(10,2),tags:map<string,array<int>>>",
            (Column("price", "decimal(10,2)"), Column("tags", "map<string,array<int>>")),
        ),
        ("struct<(name = Jane):boolean,id:int>", (Column("id", "int"),)),
        (
            "struct<Amount (EUR), net:bigint,a:b:map<string,int>,x[0]:decimal(5,2),ü:string>",
            (
                Column("Amount (EUR), net", "bigint"),
                Column("a:b", "map<string,int>"),
                Column("x[0]", "decimal(5,2)"),
                Column("ü", "string"),
            ),
        ),
        ("struct<a:int,no type>", ()),
        ("struct<>", ()),
        ("", ()),
    ],
)
def test_a_struct_becomes_columns(text: str, columns: tuple[Column, ...]) -> None:
    assert parse_struct(text) == columns


@pytest.mark.parametrize(
    ("text", "struct"),
    [
        ("struct<a:int>, PushedFilters: [(a > 5)]", "struct<a:int>"),
        ("struct<a:array<int>,b:struct<c:int>>", "struct<a:array<int>,b:struct<c:int>>"),
        ("struct<a:array<int>,b:...", ""),
        ("a:int", ""),
        ("", ""),
    ],
)
def test_a_struct_that_is_cut_is_none(text: str, struct: str) -> None:
    assert first_struct(text) == struct


def test_written_columns_have_the_types_of_the_scanned_ones() -> None:
    inputs = [Attribute("id", 1), Attribute("n", 2, is_long=True), Attribute("x", 3)]
    assert typed_columns(["a", "b", "c"], inputs, {1: "int"}) == (
        Column("a", "int"),
        Column("b", "bigint"),
        Column("c"),
    )
    assert typed_columns(["a"], inputs, {1: "int"}) == (Column("a"),)


@for_each(
    "listed, taken, names",
    [
        (["a", "b"], ["x", "y"], ["a", "b"]),
        ([], ["x", "y"], ["x", "y"]),
        (["a", "b", "ds"], ["x", "y"], ["a", "b", "ds"]),
        (["Amount (EUR)", "net", "b"], ["Amount (EUR), net", "b"], ["Amount (EUR), net", "b"]),
        (["a,b", "c"], ["a,b", "c"], ["a,b", "c"]),
        (["Amount (EUR)", "net", "b"], ["x", "y"], ["x", "y"]),
    ],
)
def test_a_comma_in_a_name_makes_no_column(
    listed: list[str], taken: list[str], names: list[str]
) -> None:
    assert written_names(listed, [Attribute(name, at) for at, name in enumerate(taken)]) == names


@for_each(
    "name, expected",
    [
        ("amount", True),
        ("Amount (EUR), net", True),
        ("x[0]", True),
        ("price/kg", True),
        ("sum(amount)", True),
        ("(name = Jane)", False),
        ("concat(name, Jane)", False),
        ("tags[Jane]", False),
        ("CASE WHEN a THEN Jane END", False),
        ("", False),
    ],
)
def test_a_name_with_a_literal_is_no_name(name: str, expected: bool) -> None:
    assert is_column_name(name) is expected


def test_a_column_named_after_its_expression_is_left_out() -> None:
    assert typed_columns(["(name = Jane Doe)"], [Attribute("(name = Jane Doe)", 1)], {}) == ()
