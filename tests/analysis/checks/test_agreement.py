"""Columns by dbt's SQL and by the log of its runs: one edge where both agree, else a difference."""

from __future__ import annotations

from dbt_graft.analysis.checks.agreement import Agreement, ColumnDifference, agreement, findings
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.definition import DefinitionColumns
from dbt_graft.lineage.records import ColumnEdge, Evidence
from tests import notation
from tests.cases import for_each

BUILT = ("stg", "mart", "other")
BUILDERS = {parse_dataset_id(f"spark/dw.{name}"): f"model.shop.{name}" for name in BUILT}
VIEWS = {parse_dataset_id("spark/dw.stg")}


def edge(text: str, evidence: Evidence = Evidence.DECLARED) -> ColumnEdge:
    """`mart.id <- raw.orders.id`, an identity unless another subtype follows."""
    to, _, source = text.partition(" <- ")
    task = "dbt" if evidence is Evidence.OBSERVED else f"model.shop.{to.partition('.')[0]}"
    return notation.edge(f"spark/dw.{to} < spark/{source}", task, evidence=evidence)


def compared(
    declared: list[str], observed: list[str], gaps: dict[str, str] | None = None
) -> Agreement:
    edges: dict[str, tuple[ColumnEdge, ...]] = {}
    for one in map(edge, declared):
        edges[one.task] = (*edges.get(one.task, ()), one)
    log = [edge(text, Evidence.OBSERVED) for text in observed]
    return agreement(DefinitionColumns(edges, gaps or {}), log, BUILDERS, VIEWS)


def shown(found: Agreement, node: str = "model.shop.mart") -> list[str]:
    """`id <- raw.orders.id observed` of each edge of a model."""
    return [
        f"{e.to_column} <- {e.from_dataset.name}.{e.from_column} {e.evidence}"
        for e in found.columns.edges.get(node, ())
    ]


VIEW = ["stg.id <- raw.o.id", "stg.sum <- raw.o.price TRANSFORMATION", "stg.sum <- raw.o.pieces"]


@for_each(
    "declared, observed, edges",
    [
        (["mart.id <- raw.o.id"], ["mart.id <- raw.o.id"], ["id <- raw.o.id observed"]),
        (["mart.id <- raw.o.id"], ["mart.ID <- RAW.O.Id"], ["id <- raw.o.id observed"]),
        # How a value changes is not compared: engines cast.
        (
            ["mart.id <- raw.o.id"],
            ["mart.id <- raw.o.id TRANSFORMATION"],
            ["id <- raw.o.id observed"],
        ),
        (["mart.id <- raw.o.id"], [], ["id <- raw.o.id declared"]),
        (["mart.id <- raw.o.id"], ["other.id <- raw.o.id"], ["id <- raw.o.id declared"]),
        # A decision on rows is not a value.
        (
            ["mart.id <- raw.o.id FILTER"],
            ["mart.id <- raw.o.id"],
            ["id <- raw.o.id declared", "id <- raw.o.id observed"],
        ),
        # The engine read the table behind the view.
        (
            [*VIEW, "mart.all <- dw.stg.sum AGGREGATION"],
            ["mart.all <- raw.o.price AGGREGATION", "mart.all <- raw.o.pieces AGGREGATION"],
            ["all <- dw.stg.sum observed"],
        ),
        (
            [*VIEW, "mart.* <- dw.stg.id JOIN"],
            ["mart.* <- raw.o.id JOIN", "mart.* <- raw.o.day FILTER"],
            ["* <- dw.stg.id observed"],
        ),
        # A model without SQL to follow, such as a Python model, has what the log shows.
        ([], ["mart.id <- raw.o.id"], ["id <- raw.o.id observed"]),
    ],
)
def test_an_edge_in_both_is_one_observed_edge(
    declared: list[str], observed: list[str], edges: list[str]
) -> None:
    assert shown(compared(declared, observed)) == edges


def difference(column: str, declared: str = "", observed: str = "") -> ColumnDifference:
    return ColumnDifference(
        "model.shop.mart", column, tuple(declared.split()), tuple(observed.split())
    )


@for_each(
    "declared, observed, differences",
    [
        (
            ["mart.id <- raw.o.id", "mart.sum <- raw.o.price"],
            ["mart.id <- raw.o.id", "mart.sum <- raw.o.fee"],
            [difference("sum", "raw.o.price", "raw.o.fee")],
        ),
        (
            ["mart.id <- raw.o.id"],
            ["mart.id <- raw.o.id", "mart.id <- raw.o.fee"],
            [difference("id", observed="raw.o.fee")],
        ),
        (
            [*VIEW, "mart.all <- dw.stg.sum AGGREGATION"],
            ["mart.all <- raw.o.price AGGREGATION"],
            [difference("all", declared="raw.o.pieces")],
        ),
        # A table that one side alone knows may have another name on the other.
        (["mart.id <- raw.o.id"], ["mart.id <- lake.o.id"], []),
        # Columns that are not known.
        (["mart.* <- raw.o.*"], ["mart.id <- raw.o.id"], []),
        (["mart.id <- raw.o.key"], ["mart.id <- raw.o.id", "mart.* <- raw.o.*"], []),
        (["stg.* <- raw.o.*", "mart.id <- dw.stg.id"], ["mart.id <- raw.o.other"], []),
        # The optimizer's own conditions, and those that it can do without.
        (
            ["mart.id <- raw.o.id", "mart.* <- raw.o.day SORT"],
            ["mart.id <- raw.o.id", "mart.* <- raw.o.id FILTER"],
            [],
        ),
        ([], ["mart.id <- raw.o.id"], []),
    ],
)
def test_a_value_that_only_one_side_has_is_a_difference(
    declared: list[str], observed: list[str], differences: list[ColumnDifference]
) -> None:
    assert list(compared(declared, observed).differences) == differences


def test_what_only_the_log_has_is_an_observed_edge_too() -> None:
    found = compared(["mart.id <- raw.o.id"], ["mart.id <- raw.o.fee"])
    assert shown(found) == ["id <- raw.o.id declared", "id <- raw.o.fee observed"]
    assert {one.task for one in found.columns.edges["model.shop.mart"]} == {"model.shop.mart"}


def test_the_log_fills_the_gaps_of_a_model_without_differences() -> None:
    found = compared(
        ["mart.id <- raw.o.id"],
        ["mart.id <- raw.o.fee", "mart.sum <- raw.o.price"],
        {"model.shop.mart": "some columns are unknown"},
    )
    assert shown(found) == ["id <- raw.o.id declared", "sum <- raw.o.price observed"]
    assert found.differences == ()
    assert found.columns.gaps == {"model.shop.mart": "some columns are unknown"}


def test_a_model_that_only_the_log_shows_has_no_gap() -> None:
    found = compared([], ["mart.id <- raw.o.id"], {"model.shop.mart": "a Python model"})
    assert found.columns.gaps == {}


def test_views_on_views_and_in_circles_end() -> None:
    builders = {parse_dataset_id(f"spark/dw.v{n}"): f"model.shop.v{n}" for n in range(2_000)}
    declared = [edge(f"v{n}.id <- dw.v{(n + 1) % 2_000}.id") for n in range(2_000)]
    columns = DefinitionColumns({one.task: (one,) for one in declared})
    log = [edge("v0.id <- raw.o.id", Evidence.OBSERVED)]

    found = agreement(columns, log, builders, builders.keys())

    assert found.differences == ()


def test_findings_are_bounded() -> None:
    differences = [
        ColumnDifference(f"model.shop.m{n}", f"c{at}", ("a.b",), ("a.c",))
        for n in range(9)
        for at in range(5)
    ]

    found = list(findings(differences))

    assert [finding.subject for finding in found] == [
        *(f"model.shop.m{n}" for n in range(5)),
        "4 more models",
    ]
    assert found[0].problem == (
        "c0: dbt's SQL says a.b, the log shows a.c; c1: dbt's SQL says a.b, the log shows a.c; "
        "c2: dbt's SQL says a.b, the log shows a.c; and 2 more"
    )
