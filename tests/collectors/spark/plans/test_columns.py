"""Columns are followed through expressions and plans of every layout; what is cut is marked."""

from __future__ import annotations

from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT, PLAN_SHORT
from dbt_graft.collectors.spark.plans.arguments import Attribute
from dbt_graft.collectors.spark.plans.columns import (
    HIDDEN,
    NAMES,
    NOTHING,
    OPAQUE,
    UNKNOWN,
    ColumnInputs,
    ColumnTrace,
    PlanSource,
)
from dbt_graft.collectors.spark.plans.expressions import column_references
from dbt_graft.collectors.spark.plans.operators import trace_columns
from dbt_graft.collectors.spark.plans.text import parse_text
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

EXPRESSIONS = [
    ("a#1", "a IDENTITY"),
    ("a#1 AS x#9", "a IDENTITY"),
    ("a#1L AS odd, name AS x#9", "a IDENTITY"),
    ("sum(a#1)#4 AS x#9", "d IDENTITY"),
    ("Subquery subquery#4 AS x#9", "d IDENTITY"),
    ("(a#1 + b#2) AS x#9", "a TRANSFORMATION, b TRANSFORMATION"),
    ("cast(a#1 as string) AS x#9", "a TRANSFORMATION"),
    ("a#1.city AS x#9", "a TRANSFORMATION"),
    ("empty2null(a#1) AS x#9", "a IDENTITY"),
    ("empty2null(lower(a#1)) AS x#9", "a TRANSFORMATION"),
    (
        "static_invoke(CharVarcharCodegenUtils.varcharTypeWriteSideCheck(a#1, 10)) AS x#9",
        "a IDENTITY",
    ),
    ("NOT a#1", "a TRANSFORMATION"),
    ("a#1 LIKE b#2", "a TRANSFORMATION, b TRANSFORMATION"),
    (
        "CASE WHEN (a#1 > 3) THEN b#2 ELSE c#3 END AS x#9",
        "a CONDITIONAL, b TRANSFORMATION, c TRANSFORMATION",
    ),
    (
        "CASE WHEN a#1 THEN CASE WHEN b#2 THEN c#3 END END",
        "a CONDITIONAL, b CONDITIONAL, c TRANSFORMATION",
    ),
    ("if ((a#1 > 3)) b#2 else null AS x#9", "a CONDITIONAL, b TRANSFORMATION"),
    ("if (isnull(a#1)) null else f(b#2)", "a CONDITIONAL, b TRANSFORMATION"),
    ("sum(a#1)", "a AGGREGATION"),
    ("finalmerge_sum(merge a#1) AS s#9", "a AGGREGATION"),
    ("sum(CASE WHEN a#1 THEN b#2 END)", "a CONDITIONAL, b AGGREGATION"),
    ("sum(a#1) FILTER (WHERE (b#2 > 3))", "a AGGREGATION, b CONDITIONAL"),
    ("sha2(cast(a#1 as binary), 256) AS x#9", "a TRANSFORMATION HASH"),
    ("max(md5(a#1))", "a AGGREGATION HASH"),
    ("xxhash64(a#1, 42)", "a TRANSFORMATION HASH"),
    ("mask(a#1, X, x, n, null)", "a TRANSFORMATION MASK"),
    (
        "aes_encrypt(md5(a#1), b#2, GCM, DEFAULT)",
        "a TRANSFORMATION ENCRYPT, b TRANSFORMATION ENCRYPT",
    ),
    ("md5(aes_encrypt(a#1, k, GCM))", "a TRANSFORMATION ENCRYPT"),
    ("concat(mask(a#1), md5(b#2))", "a TRANSFORMATION MASK, b TRANSFORMATION HASH"),
    ("rank(a#1) windowspecdefinition(b#2, a#1 ASC NULLS FIRST, x)", "a WINDOW, b WINDOW"),
    ("lag(a#1, -1, null) windowspecdefinition(b#2, x)", "a TRANSFORMATION, b WINDOW"),
    ("sum(a#1) windowspecdefinition(b#2, x)", "a AGGREGATION, b WINDOW"),
    ("3.0 AS x#9", ""),
    ("order #7, call 555#99 AS x#9", ""),
    ("concat(a#1, ) (, b#2) AS x#9", "a TRANSFORMATION, b TRANSFORMATION"),
    ("END ELSE THEN ) ) f(a#1)", "a TRANSFORMATION"),
]
BY_ID = {1: "a", 2: "b", 3: "c", 4: "d"}


@for_each("text, expected", EXPRESSIONS)
def test_each_column_has_its_part_in_an_expression(text: str, expected: str) -> None:
    references = sorted(column_references(text, BY_ID))
    texts = [f"{BY_ID[p.id]} {p.subtype}{' ' if p.masking else ''}{p.masking}" for p in references]
    assert ", ".join(texts) == expected


def source(operator: Operator, columns: list[Attribute]) -> PlanSource | None:
    """A scan of table `t` reads `t`, one of `u` reads `u`."""
    for name in ("t", "u"):
        if operator.name.endswith(f" {name}") or f" {name}[" in f"{operator.name} {operator.text}":
            return PlanSource((DatasetId("spark", name),))
    return None


def follow(text: str) -> tuple[ColumnTrace, list[str]]:
    """The inputs of the columns and rows of a plan's root, in words."""
    plan = parse_text(text)
    root = plan.optimised or plan.root
    assert root
    trace = trace_columns(plan, root, source)
    return trace, [
        *(
            f"{one.name} <- {in_words(trace.inputs_by_id.get(one.id, NOTHING))}"
            for one in trace.columns_of(root)
        ),
        f"* <- {in_words(frozenset(trace.influences))}",
    ]


def in_words(uses: ColumnInputs) -> str:
    return ", ".join(f"{use.source.name}.{use.column} {use.subtype}" for use in sorted(uses))


ODD = """Project (2)
+- Scan parquet t (1)


(1) Scan parquet t
Output [4]: [Amount (EUR), net#1L, a AS b#2, id#7#3, with.dot#4]

(2) Project
Output [5]: [Amount (EUR), net#1L AS x AS y#5L, a AS b#2 AS b#6, id#7#3 AS c#7, \
with.dot#4 AS x[0]#8, max(a AS b#2) AS max(a AS b)#9]
"""
SPARK_2 = """== Parsed Logical Plan ==
'Aggregate ['name], ['name, 'sum('amount) AS s#9]

== Analyzed Logical Plan ==
name: string, s: bigint
Aggregate [name#1], [name#1, sum(amount#2) AS s#9L]
+- Relation[name#1,amount#2,dt#3] parquet

== Optimized Logical Plan ==
Aggregate [name#1], [name#1, sum(amount#2) AS s#9L]
+- Project [name#1, amount#2]
   +- Filter (isnotnull(dt#3) && (dt#3 > 4))
      +- Relation t[name#1,amount#2,dt#3] parquet

== Physical Plan ==
*(2) HashAggregate(keys=[name#1], functions=[sum(amount#2)], output=[name#1, s#9L])
+- Exchange hashpartitioning(name#1, 200)
   +- *(1) HashAggregate(keys=[name#1], functions=[partial_sum(amount#2)], output=[name#1, sum#5L])
      +- *(1) FileScan parquet t[name#1,amount#2] Batched: true
"""
PHYSICAL_2 = SPARK_2[SPARK_2.index("== Physical") :]
# `avg` is prepared by two columns; its keys come last, and not all of them.
SHUFFLED_2 = """== Physical Plan ==
*(2) HashAggregate(keys=[name#1, dt#3], functions=[avg(amount#2)], output=[m#9, name#1])
+- Exchange hashpartitioning(name#1, dt#3, 200)
   +- *(1) HashAggregate(keys=[name#1, dt#3], functions=[partial_avg(amount#2)], \
output=[name#1, dt#3, sum#5, count#6L])
      +- *(1) FileScan parquet t[name#1,amount#2,dt#3] Batched: true
"""
PHOTON = """== Physical Plan ==
PhotonGroupingAgg (3)
+- PhotonGroupingAgg (2)
   +- PhotonScan parquet t (1)


(1) PhotonScan parquet t
Output [2]: [name#1, amount#2]

(2) PhotonGroupingAgg
Input [2]: [name#1, amount#2]
Arguments: [name#1], [partial_sum(amount#2) AS sum#7L], [], [name#1, sum#7L], false

(3) PhotonGroupingAgg
Input [2]: [name#1, sum#7L]
Arguments: [name#1], [finalmerge_sum(merge sum#7L) AS sum(v)#8L], [sum(v)#8L], \
[name#1, sum(v)#8L AS s#9L], true
"""
# RAPIDS's sections have no fields but Input and Arguments.
RAPIDS = """== Physical Plan ==
GpuHashAggregate (3)
+- GpuHashAggregate (2)
   +- GpuScan parquet t (1)


(1) GpuScan parquet t
Output [2]: [name#1, amount#2]

(2) GpuHashAggregate
Input [2]: [name#1, amount#2]
Arguments: [name#1], [partial_gpusum(amount#2, DoubleType, false)], [sum#7], [name#1, sum#8], 99

(3) GpuHashAggregate
Input [2]: [name#1, sum#8]
Arguments: [name#1], [gpusum(amount#2, DoubleType, false)], [sum(amount)#3], \
[name#1, sum(amount)#3 AS s#9], 99
"""
MERGE = """MergeRows isnotnull(x#7), isnotnull(y#8), [keep(true, a#1, (b#2 + d#4))], \
[keep(COPY, true, c#3, d#4)], [split((b#2 > 1), a#1, null, a#1, b#2)], false, [a#5, b#6]
+- Join FullOuter, (a#1 = c#3)
   :- Scan t[a#1, b#2]
   +- Scan u[c#3, d#4]
"""
REUSED = """Union (5)
:- Project (2)
:  +- Scan parquet t (1)
+- ReusedExchange (4)

(1) Scan parquet t
Output [2]: [a#1, b#2]

(2) Project
Output [1]: [a#1]
Input [2]: [a#1, b#2]

(4) ReusedExchange [Reuses operator id: 1]
Output [2]: [c#3, d#4]

(5) Union
"""
# In one partition an aggregation is made in one stage, and one above it as well.
NESTED = """HashAggregate (3)
+- HashAggregate (2)
   +- Scan parquet t (1)

(1) Scan parquet t
Output [2]: [a#1, b#2]

(2) HashAggregate
Keys [1]: [a#1]
Functions [1]: [sum(b#2)]
Aggregate Attributes [1]: [sum(b#2)#3]
Results [1]: [sum(b#2)#3 AS s#4]

(3) HashAggregate
Keys: []
Functions [1]: [max(s#4)]
Aggregate Attributes [1]: [max(s#4)#5]
Results [1]: [max(s#4)#5 AS m#6]
"""
COUNTED = NESTED.replace("[sum(b#2)#3 AS s#4]", "[a#1]").replace("[sum(b#2)]", "[]")
# Spark makes other numbers of those that are counted distinctly.
DISTINCT = """HashAggregate (3)
+- HashAggregate (2)
   +- Scan parquet t (1)

(1) Scan parquet t
Output [2]: [a#1, b#2]

(2) HashAggregate
Keys [2]: [a#1, knownfloatingpointnormalized(normalizenanandzero(b#2)) AS b#3]
Functions: []
Aggregate Attributes: []
Results [2]: [a#1, b#3]

(3) HashAggregate
Keys [1]: [a#1]
Functions [1]: [count(distinct b#3)]
Aggregate Attributes [1]: [count(b#2)#4L]
Results [2]: [a#1, count(b#2)#4L AS n#5L]
"""
EXCEPT_ALL = """Generate replicaterows(sum#7L, a#1, b#2), [a#1, b#2], false, [a#1, b#2]
+- HashAggregate(keys=[a#1, b#2], functions=[sum(vcol#5L)], output=[a#1, b#2, sum#7L])
   +- Union
      :- Project [1 AS vcol#5L, a#1, b#2]
      :  +- Scan t[a#1, b#2]
      +- Project [-1 AS vcol#6L, c#3, d#4]
         +- Scan u[c#3, d#4]
"""
RECURSIVE = """UnionLoop (1)
      :- Scan parquet t (2)
      +- Project (4)
         +- Filter (3)
            +- UnionLoopRef (5)

(1) UnionLoop
Loop id: 0
Output [3]: [a#7, b#8, n#9]

(2) Scan parquet t
Output [3]: [a#1, b#2, c#3]

(5) UnionLoopRef
Loop id: 0
Output [3]: [a#4, b#5, n#6]

(3) Filter
Condition : (n#6 < 3)

(4) Project
Output [3]: [b#5, a#4, (n#6 + 1) AS n#10]
"""
# In its logical plan, the columns of a recursive query have no names.
LOOP = """== Optimized Logical Plan ==
Project [a#5, b#6]
+- UnionLoop 0
   :- Relation t[a#1,b#2] parquet
   +- Project [b#4, a#3]
      +- UnionLoopRef 0, [a#3, b#4], false

== Physical Plan ==
Project [a#5, b#6]
+- UnionLoop 0, [a#5, b#6]
      :- Relation t[a#1,b#2] parquet
      +- Project [b#4, a#3]
         +- UnionLoopRef 0, [a#3, b#4], false
"""
# Spark 4 shows a cached plan for each use of it, and describes it once.
CACHED_TWICE = """Union (7)
:- InMemoryTableScan (1)
:     +- InMemoryRelation (2)
:           +- Project (4)
:              +- Scan parquet t (3)
+- InMemoryTableScan (5)
      +- InMemoryRelation (6)
            +- Project (4)
               +- Scan parquet t (3)

(1) InMemoryTableScan
Output [1]: [a#1]

(2) InMemoryRelation
Arguments: [a#1, b#2], StorageLevel(disk, 1 replicas)

(3) Scan parquet t
Output [2]: [a#1, b#2]

(4) Project
Output [2]: [a#1, b#2]

(5) InMemoryTableScan
Output [1]: [b#4]

(6) InMemoryRelation
Arguments: [a#3, b#4], StorageLevel(disk, 1 replicas)

(7) Union
"""
MERGED = ["name <- t.name IDENTITY", "s <- t.amount AGGREGATION"]


@for_each(
    "text, expected",
    [
        (SPARK_2, [*MERGED, "* <- t.dt FILTER, t.name GROUP_BY"]),
        (PHYSICAL_2, [*MERGED, "* <- t.name GROUP_BY"]),
        (
            SHUFFLED_2,
            [
                *("m <- t.amount AGGREGATION", "name <- t.name IDENTITY"),
                "* <- t.dt GROUP_BY, t.name GROUP_BY",
            ],
        ),
        (PHOTON, [*MERGED, "* <- t.name GROUP_BY"]),
        (
            "PhotonAgg (2)\n+- PhotonScan parquet t (1)\n\n\n(1) PhotonScan parquet t\n"
            "Output [1]: [a#1]\n\n(2) PhotonAgg\nInput [1]: [a#1]\n"
            "Arguments: [max(a#1) AS max(a)#2], [max(a)#2], [max(a)#2 AS m#3], true\n",
            ["m <- t.a AGGREGATION", "* <- "],
        ),
        (
            "GpuProjectAst [(a#1 + 1) AS c#3, b#2]\n+- GpuTopN 3, [a#1 ASC], [a#1, b#2], 0\n"
            "   +- Scan t[a#1, b#2]\n",
            ["c <- t.a TRANSFORMATION", "b <- t.b IDENTITY", "* <- t.a SORT"],
        ),
        (
            "GpuBatchedBoundedWindow [sum(a#1) windowspecdefinition(b#2, x) AS s#3], [b#2]\n"
            "+- ProjectExecTransformer [a#1, b#2]\n   +- Scan t[a#1, b#2]\n",
            [
                *("a <- t.a IDENTITY", "b <- t.b IDENTITY"),
                *("s <- t.a AGGREGATION, t.b WINDOW", "* <- "),
            ],
        ),
        (RAPIDS, [*MERGED, "* <- t.name GROUP_BY"]),
        (
            MERGE,
            [
                "a <- t.a IDENTITY, u.c IDENTITY",
                "b <- t.b IDENTITY, t.b TRANSFORMATION, u.d IDENTITY, u.d TRANSFORMATION",
                "* <- t.a JOIN, u.c JOIN",
            ],
        ),
        (REUSED, ["a <- t.a IDENTITY", "* <- "]),
        (
            "Expand [[a#1, b#2, 0], [a#1, null, 1]], [a#3, b#4, gid#5]\n+- Scan t[a#1, b#2]\n",
            ["a <- t.a IDENTITY", "b <- t.b IDENTITY", "gid <- ", "* <- "],
        ),
        (
            "BroadcastHashJoin [a#1], [c#3], LeftSemi, BuildRight, (b#2 > d#4)\n"
            ":- Scan t[a#1, b#2]\n+- Scan u[c#3, d#4]\n",
            [
                *("a <- t.a IDENTITY", "b <- t.b IDENTITY"),
                "* <- t.a JOIN, t.b JOIN, u.c JOIN, u.d JOIN",
            ],
        ),
        (
            "Filter (isnotnull(a#1) AND (size(b#2, false) > 0))\n+- Scan t[a#1, b#2]\n",
            ["a <- t.a IDENTITY", "b <- t.b IDENTITY", "* <- t.a FILTER, t.b FILTER"],
        ),
        (
            "Aggregate [max(a#1) AS m#3]\n+- Aggregate [b#2], [a#1]\n   +- Scan t[a#1, b#2]\n",
            ["m <- t.a AGGREGATION", "* <- t.b GROUP_BY"],
        ),
        (
            "Aggregate [count(1) AS n#3L]\n+- Aggregate [a#1]\n   +- Scan t[a#1, b#2]\n",
            ["n <- ", "* <- t.a GROUP_BY"],
        ),
        (LOOP, ["a <- t.a IDENTITY, t.b IDENTITY", "b <- t.a IDENTITY, t.b IDENTITY", "* <- "]),
        (NESTED, ["m <- t.b AGGREGATION", "* <- t.a GROUP_BY"]),
        (COUNTED, ["m <- ", "* <- t.a GROUP_BY"]),
        (DISTINCT, ["a <- t.a IDENTITY", "n <- t.b AGGREGATION", "* <- t.a GROUP_BY"]),
        (
            "Generate explode(b#2), [a#1], false, [c#3]\n+- Scan t[a#1, b#2]\n",
            ["a <- t.a IDENTITY", "c <- t.b TRANSFORMATION", "* <- t.b JOIN"],
        ),
        (
            "Generate stack(2, x, a#1, y, b#2), [a#1], false, [k#3, v#4]\n+- Scan t[a#1, b#2]\n",
            ["a <- t.a IDENTITY", "k <- ", "v <- t.a IDENTITY, t.b IDENTITY", "* <- "],
        ),
        (
            "Generate inline(array(struct(x, a#1, y, 1), named_struct(x, 2, y, (b#2 + 1)))), "
            "[0, 1], false, [x#3, y#4]\n+- Scan t[a#1, b#2]\n",
            ["x <- t.a IDENTITY", "y <- t.b TRANSFORMATION", "* <- "],
        ),
        # A literal may have commas.
        (
            "Generate stack(2, x, y, z, a#1, b#2), [0, 1], false, [k#3, v#4]\n"
            "+- Scan t[a#1, b#2]\n",
            [
                *(f"{n} <- t.a TRANSFORMATION, t.b TRANSFORMATION" for n in "kv"),
                "* <- ",
            ],
        ),
        (
            EXCEPT_ALL,
            [
                *("a <- t.a IDENTITY", "b <- t.b IDENTITY", "a <- t.a IDENTITY"),
                "b <- t.b IDENTITY",
                "* <- t.a GROUP_BY, t.a JOIN, t.b GROUP_BY, t.b JOIN, u.c JOIN, u.d JOIN",
            ],
        ),
        (
            RECURSIVE,
            [
                *(f"{n} <- t.a IDENTITY, t.b IDENTITY" for n in "ab"),
                "n <- t.c IDENTITY, t.c TRANSFORMATION",
                "* <- t.c FILTER",
            ],
        ),
        (CACHED_TWICE, ["a <- t.a IDENTITY, t.b IDENTITY", "* <- "]),
        (
            ODD,
            [
                "x AS y <- t.Amount (EUR), net IDENTITY",
                "b <- t.a AS b IDENTITY",
                "c <- t.id#7 IDENTITY",
                "x[0] <- t.with.dot IDENTITY",
                "max(a AS b) <- t.a AS b AGGREGATION",
                "* <- ",
            ],
        ),
    ],
)
def test_column_edges_are_found_in_every_layout(text: str, expected: list[str]) -> None:
    trace, found = follow(text)
    assert found == expected
    assert not trace.gaps


@for_each(
    "text, gap",
    [
        ("Project [a#1, ... 15 more fields]\n+- Scan t[a#1]\n", PLAN_CUT),
        (
            "Project (2)\n+- Scan parquet t (1)\n\n(1) Scan parquet t\nOutput [1]: [a#1]\n",
            PLAN_SHORT,
        ),
        (
            "Project (2)\n+- Scan parquet t (1)\n\n(1) Scan parquet t\nOutput [2]: [a#1, b#2]\n\n"
            "(2) Project\nOutput [2]: [a#1 AS price (net#3, b#2 AS c#4]\n",
            NAMES,
        ),
        ("MapInPandas f(a#1, b#2)#5, [c#6]\n+- Scan t[a#1, b#2]\n", OPAQUE),
        ("MergeRows[a#7, b#8]\n+- Scan t[a#1, b#2]\n", HIDDEN),
        ("HashAggregate(keys=[a#1], functions=[sum(b#2)])\n+- Scan t[a#1, b#2]\n", HIDDEN),
        ("UnionLoop 0\n:- Scan t[a#1, b#2]\n+- UnionLoopRef 0, [a#3, b#4], false\n", UNKNOWN),
        (
            "HashAggregate(keys=[upper(a#1)#4], functions=[sum(b#2), max(b#2)], "
            "output=[ratio#5, who#6])\n+- Scan t[a#1, b#2]\n",
            UNKNOWN,
        ),
    ],
)
def test_what_is_cut_or_opaque_is_marked(text: str, gap: str) -> None:
    trace, _ = follow(text)
    assert list(trace.gaps) == [gap]


@for_each(
    "text",
    [
        "Project [" + "a#1, " * 20_000 + "b#2]\n+- Scan t[a#1]\n",
        "Project [" + "(" * 50_000 + "a#1]\n+- Scan t[a#1]\n",
        "Project [" + "CASE WHEN " * 20_000 + "a#1]\n+- Scan t[a#1]\n",
        "\n".join(f"{'   ' * n}+- Join Inner, (a#1 = a#1)" for n in range(1_000)),
        "Expand [[[[[[, [a#1\n+- Scan t[a#1]\n",
        "Generate \n+- TakeOrderedAndProject \n   +- Window \n      +- Sort \n",
        "Union\n" + "+- Scan t[a#1]\n" * 5_000,
        "UnionLoop 0, [a#1]\n+- UnionLoopRef 0, [a#1]\n   +- UnionLoopRef 7\n",
        "UnionLoop 0, [a#1, b#2]\n:- Scan t[a#1]\n+- UnionLoopRef 0, [a#3, b#4], false\n",
        "Aggregate\n+- HashAggregate\n   +- Scan t[a#1]\n",
        f"Generate stack({'9' * 5_000}, a#1), [b#2]\n+- Generate stack(), []\n",
    ],
    ids=[
        "wide",
        "brackets",
        "cases",
        "deep",
        "expand",
        "empty",
        "union",
        "loop",
        "narrow",
        "keys",
        "stack",
    ],
)
def test_a_hostile_plan_is_followed_to_its_end(text: str) -> None:
    follow(text)
