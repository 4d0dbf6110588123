"""Columns of a page: kinds in words, evidence, what they feed, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.columns import ColumnRow, column_table, written_columns
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Masking, Subtype
from tests.cases import for_each
from tests.catalog.html_reader import HtmlReader
from tests.notation import column_edge

DECLARED, INFERRED = Evidence.DECLARED, Evidence.INFERRED


def table(name: str) -> DatasetId:
    return DatasetId("spark", f"a.{name}")


def edge(
    line: str,
    subtype: Subtype = Subtype.IDENTITY,
    evidence: Evidence = Evidence.OBSERVED,
    *,
    masking: bool = False,
) -> ColumnEdge:
    """The edge of `t.c<s.d`."""
    (to, to_column), (origin, column) = (end.split(".") for end in line.split("<"))
    ends = (table(to), to_column, table(origin), column, subtype)
    return column_edge(*ends, task="task", evidence=evidence, masking=masking)


def index(edges: Sequence[ColumnEdge], consumers: Sequence[Consumer] = ()) -> Index:
    return Index(DescribedLineage(Lineage(column_edges=tuple(edges)), consumers=consumers))


def row(index: Index, dataset: str, column: str) -> ColumnRow:
    rows = column_table(index, table(dataset), "").rows
    return next(row for row in rows if row.name == column)


@for_each(
    "edges, usage, decides, evidence",
    [
        ([edge("t.c<s.d")], "copied", "", "observed"),
        ([edge("t.c<s.d", Subtype.TRANSFORMATION)], "changed", "", "observed"),
        ([edge("t.c<s.d", Subtype.AGGREGATION, DECLARED)], "aggregated", "", "declared"),
        ([edge("t.c<s.d", Subtype.TRANSFORMATION, INFERRED)], "changed", "", "inferred"),
        ([edge("t.c<s.d", masking=True)], "masked", "", "observed"),
        (
            [replace(edge("t.c<s.d", masking=True), masked_by=Masking.HASH)],
            *("hashed", "", "observed"),
        ),
        ([edge("t.c<s.d", Subtype.FILTER)], "", "filtered by", "observed"),
        (
            [edge("t.c<s.d", Subtype.SORT), edge("t.c<s.d", Subtype.GROUP_BY)],
            "",
            "grouped and sorted by",
            "observed",
        ),
        ([edge("t.c<s.d", Subtype.FILTER), edge("t.c<s.d")], "copied", "filtered by", "observed"),
        # What a log or SQL shows stands before a guess, and a guess is not hidden by a filter.
        (
            [edge("t.c<s.d", Subtype.TRANSFORMATION, INFERRED), edge("t.C<s.d", evidence=DECLARED)],
            "copied",
            "",
            "declared",
        ),
        (
            [edge("t.c<s.d", Subtype.FILTER), edge("t.c<s.d", Subtype.TRANSFORMATION, INFERRED)],
            "changed",
            "filtered by",
            "inferred",
        ),
    ],
)
def test_a_column_comes_from(
    edges: Sequence[ColumnEdge], usage: str, decides: str, evidence: str
) -> None:
    [found] = row(index(edges), "t", "c").upstream.listed
    assert (found.dataset, found.column) == (table("s"), "d")
    assert (found.usage, found.decides, found.evidence) == (usage, decides, evidence)


def test_values_come_before_what_decides_on_them() -> None:
    edges = [edge("t.c<s.filter", Subtype.FILTER), edge("t.c<s.value", Subtype.AGGREGATION)]
    assert [one.column for one in row(index(edges), "t", "c").upstream.listed] == [
        "value",
        "filter",
    ]


def test_a_column_feeds_columns_and_rows() -> None:
    edges = [edge("t.c<s.d"), edge("t.*<s.d", Subtype.FILTER), edge("u.*<s.d", Subtype.JOIN)]
    downstream = row(index(edges), "s", "d").downstream
    assert [(one.dataset, one.column) for one in downstream.listed] == [
        (table("t"), "c"),
        (table("u"), ""),
        (table("t"), ""),
    ]
    assert (downstream.columns, downstream.rows) == (1, 2)


def test_the_line_goes_on_to_its_consumers() -> None:
    edges = [edge("t.c<s.d"), edge("u.c<t.c"), edge("v.e<u.c", Subtype.AGGREGATION)]
    consumers = [
        Consumer("exposure.x.sales", "sales", "dashboard", (table("v"),)),
        Consumer("exposure.x.ads", "ads", "dashboard", (table("u"), table("other"))),
        Consumer("exposure.x.api", "api", "application", (table("t"),)),
        Consumer("exposure.x.apart", "apart", "dashboard", (table("other"),)),
    ]
    further = row(index(edges, consumers), "s", "d").further
    assert further.consumers == (("application", ("api",)), ("dashboard", ("ads", "sales")))
    assert (further.columns, further.steps, further.is_complete) == (2, 3, True)


def test_a_cycle_of_columns_ends() -> None:
    edges = [edge("t.c<s.c"), edge("u.c<t.c"), edge("s.c<u.c")]
    consumers = [Consumer("exposure.x.sales", "sales", "dashboard", (table("t"),))]
    found = index(edges, consumers)
    for name in ("s", "t", "u"):
        further = row(found, name, "c").further
        assert further.columns == 1
        assert further.consumers == (("dashboard", ("sales",)),)


def test_a_column_that_feeds_5000_others_lists_fifty_and_the_count() -> None:
    edges = [edge(f"t{n}.c<s.d") for n in range(5000)]
    edges += [edge(f"u{n}.c<t0.c") for n in range(5000)]
    found = row(index(edges), "s", "d")
    assert len(found.downstream.listed) == 50
    assert (found.downstream.columns, found.downstream.omitted) == (5000, 4950)
    assert (found.further.columns, found.further.is_complete) == (50, False)


def test_a_table_of_1000_columns_lists_four_of_each_and_the_count() -> None:
    edges = [edge(f"t{t}.c{c}<s.c{c}") for c in range(1000) for t in range(6)]
    rows = column_table(index(edges), table("s"), "").rows
    assert len(rows) == 1000
    assert all(row.downstream.columns == 6 for row in rows)
    assert [len(row.downstream.listed) for row in rows] == [6] * 30 + [4] * 970


def test_names_that_differ_in_case_are_one_column_with_one_anchor() -> None:
    dataset = Dataset(table("t"), columns=(Column("Amount", "int"), Column("amount", "string")))
    lineage = Lineage({dataset.id: dataset}, column_edges=(edge("t.AMOUNT<s.x"),))
    [only] = column_table(Index(DescribedLineage(lineage)), dataset.id, "").rows
    assert (only.anchor, only.upstream.columns) == ("column-amount", 1)


def test_a_column_that_the_newest_table_has_not_is_gone() -> None:
    edges = (edge("t.x<s.x"), edge("t.y<s.y"))
    made_anew = Dataset(table("t"), columns=(Column("Y"),), has_all_columns=True)
    lineage = Lineage({made_anew.id: made_anew}, column_edges=edges)
    index = Index(DescribedLineage(lineage))
    rows = column_table(index, made_anew.id, "").rows
    assert [(row.name, row.is_gone) for row in rows] == [("Y", False), ("x", True)]
    page = dataset_page(index, made_anew.id)
    rendered = render(page, environment(design_folder() / "templates"))
    assert rendered.count(">gone</span>") == 1


def test_only_evidence_that_no_log_shows_is_explained() -> None:
    edges = [edge("t.c<s.d"), edge("t.e<s.d", evidence=INFERRED)]
    assert column_table(index(edges), table("t"), "").evidence == (INFERRED,)
    assert column_table(index(edges[:1]), table("t"), "").evidence == ()


def test_a_task_writes_columns_by_dataset_up_to_a_limit() -> None:
    edges = [edge("t.c<s.d"), edge("t.*<s.e", Subtype.FILTER), edge("u.x<s.d")]
    written = written_columns(index(edges), edges)
    assert [(one.dataset, [name for name, _ in one.columns]) for one in written] == [
        (table("t"), ["c", ""]),
        (table("u"), ["x"]),
    ]
    edges = [edge(f"t.c{n:04}<s.d") for n in range(1000)]
    [many] = written_columns(index(edges), edges)
    assert (len(many.columns), many.omitted) == (300, 700)


def test_the_columns_of_a_table_of_15_stay_below_20_kilobytes() -> None:
    edges = [
        edge(f"{target}.column_{c:02}<{source}.column_{c:02}", Subtype.TRANSFORMATION, DECLARED)
        for c in range(15)
        for target, source in (
            *(("orders", parent) for parent in ("stg_orders", "stg_payments")),
            *((f"mart_{n}", "orders") for n in range(2)),
            *((f"report_{n}", "mart_0") for n in range(2)),
        )
    ]
    reports = Consumer("exposure.x.sales", "sales", "dashboard", (table("report_0"),))
    page = dataset_page(index(edges, [reports]), table("orders"))
    rendered = render(page, environment(design_folder() / "templates"))
    columns = rendered[rendered.index('id="columns"') : rendered.index('id="written-by"')]
    assert columns.count("<tr id=") == 15
    assert len(columns) + len(HtmlReader(rendered).data) < 20_000
