"""Columns of grafted nodes: people's words first, then where the values come from."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.injector import artifacts, docs
from dbt_graft.injector.artifacts import dump
from dbt_graft.injector.columns import columns, with_meta
from dbt_graft.injector.graft import graft
from dbt_graft.injector.integrity import faults
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.definition import DefinitionEdges
from dbt_graft.lineage.records import Column, ColumnEdge, Evidence, Masking, Subtype
from tests import notation
from tests.cases import for_each
from tests.notation import column_edge

REVENUE = parse_dataset_id("spark/mart.revenue")
MART = "model.shop.orders"
Json = dict[str, Any]


def _edge(to: str, source: str, subtype: Subtype, masking: bool = False) -> ColumnEdge:
    dataset, _, column = source.rpartition(".")
    ends = (REVENUE, to, parse_dataset_id(f"spark/{dataset}"), column, subtype)
    return column_edge(*ends, masking=masking, shape_id="shape-1")


CASES: list[tuple[list[ColumnEdge], str]] = [
    ([_edge("amount", "raw.orders.amount", Subtype.IDENTITY)], "From raw.orders.amount."),
    (
        [_edge("Amount", "raw.orders.amount", Subtype.AGGREGATION)],
        "From raw.orders.amount (aggregation).",
    ),
    (
        [_edge("amount", "raw.users.mail", Subtype.TRANSFORMATION, masking=True)],
        "From raw.users.mail (transformation, masked).",
    ),
    (
        [
            _edge("amount", "raw.orders.amount", Subtype.IDENTITY),
            _edge("amount", "raw.orders.Amount", Subtype.IDENTITY),
            _edge("amount", "raw.rates.rate", Subtype.IDENTITY),
            _edge("amount", "raw.orders.status", Subtype.CONDITIONAL),
        ],
        "From raw.orders.amount, raw.rates.rate. Decided by raw.orders.status (conditional).",
    ),
    (
        [_edge("amount", f"raw.t{n:02}.a", Subtype.IDENTITY) for n in range(14)],
        "From " + ", ".join(f"raw.t{n:02}.a" for n in range(12)) + " and 2 more.",
    ),
    (
        [_edge("amount", "raw.o`[x](javascript:1)`.a", Subtype.IDENTITY)],
        r"From raw.o\`\[x\](javascript:1)\`.a.",
    ),
    ([_edge("*", "raw.orders.day", Subtype.FILTER)], ""),
    (
        [
            replace(
                _edge("amount", "raw.orders.price", Subtype.TRANSFORMATION),
                evidence=Evidence.CODE,
                place="tasks/*load.py:41",
            )
        ],
        r"From raw.orders.price (transformation, in \*load.py, line 41).",
    ),
]


@for_each("edges, line", CASES)
def test_a_column_shows_its_upstream_columns(edges: list[ColumnEdge], line: str) -> None:
    described = {"amount": {"name": "amount", "description": "In euros."}}
    nodes, _ = columns(described, [Column("amount", "int")], edges)

    assert nodes["amount"]["description"] == "\n\n".join(filter(None, ("In euros.", line)))


def test_edges_stand_under_the_columns_own_spelling() -> None:
    edges = [_edge("AMOUNT", "raw.orders.a", Subtype.IDENTITY), _edge("*", "raw.o.d", Subtype.JOIN)]
    _, meta = columns({}, [Column("Amount")], edges)

    assert list(meta) == ["*", "Amount"]
    assert meta["Amount"] == [
        {
            "dataset": "spark/raw.orders",
            "column": "a",
            "type": "DIRECT",
            "subtype": "IDENTITY",
            "masking": False,
            "task": "load",
            "evidence": "observed",
        }
    ]


def test_columns_known_from_edges_alone_are_listed() -> None:
    nodes, _ = columns({}, [], [_edge("amount", "raw.orders.a", Subtype.IDENTITY)])
    assert list(nodes) == ["amount"]
    nodes, _ = columns({}, [Column("id")], [_edge("gone", "raw.orders.a", Subtype.IDENTITY)])
    assert list(nodes) == ["id"]


def test_what_people_wrote_is_not_changed_in_place() -> None:
    described: dict[str, Any] = {"amount": {"name": "amount", "description": "In euros."}}
    columns(described, [], [_edge("amount", "raw.orders.a", Subtype.IDENTITY)])
    assert described == {"amount": {"name": "amount", "description": "In euros."}}


def edge(
    to: str,
    source: str,
    subtype: Subtype = Subtype.IDENTITY,
    evidence: Evidence = Evidence.DECLARED,
    into: str = "analytics.orders",
) -> ColumnEdge:
    text = f"spark/{into}.{to} < spark/{source} {subtype}"
    return notation.edge(text, MART, evidence=evidence, shape_id="shape")


EDGES = [
    edge("id", "analytics.stg_orders.id"),
    edge("amount", "analytics.stg_orders.price", Subtype.AGGREGATION),
    edge("*", "analytics.stg_orders.status", Subtype.FILTER),
]


def graft_with(project: Any, log: Any, edges: Iterable[ColumnEdge] = EDGES) -> Grafted:
    lineage = replace(log.lineage(), column_edges=tuple(edges))
    return graft(project.artifacts(), lineage, GraftOptions("spark"))


def columns_on_page(grafted: Grafted, node_id: str = MART, **settings: bool) -> Json:
    page = docs.page(grafted, docs.DocsPageSettings("Shop", **settings)).decode()
    [match] = re.findall('id="graft-manifest">([^<]*)</script>', page)
    shown: Json = json.loads(match)["nodes"][node_id]["columns"]
    return shown


def test_the_artifact_differs_by_its_edges_alone(project: Any, log: Any) -> None:
    node = project.manifest["nodes"][MART]
    node |= {
        "columns": {"ID": {"name": "ID", "description": "Ours. \n"}},
        "meta": {"owner": "Ana"},
    }
    before = copy.deepcopy(node)

    after = copy.deepcopy(graft_with(project, log).manifest["nodes"][MART])

    assert list(after["meta"]["graft"]["columns"]) == ["*", "amount", "ID"]
    assert after["meta"]["graft"]["columns"]["ID"] == [
        {
            "dataset": "spark/analytics.stg_orders",
            "column": "id",
            "type": "DIRECT",
            "subtype": "IDENTITY",
            "masking": False,
            "task": MART,
            "evidence": "declared",
        }
    ]
    del after["meta"]["graft"]
    assert dump(after) == dump(before)


@pytest.mark.parametrize(
    ("meta", "grafted"),
    [
        ({}, True),
        (None, True),
        ({"graft": {"owner": "Ana"}}, True),
        ({"graft": {"columns": "ours"}}, False),
        ({"graft": "a tree"}, False),
        ("a text", False),
    ],
)
def test_what_a_team_has_in_its_meta_stays(
    project: Any, log: Any, meta: Any, grafted: bool
) -> None:
    project.manifest["nodes"][MART]["meta"] = copy.deepcopy(meta)

    found = graft_with(project, log).manifest["nodes"][MART]["meta"]

    assert (found != meta) is grafted
    if grafted:
        ours = found["graft"].pop("columns")
        assert ours.keys() == {"*", "id", "amount"}
        assert found == {"graft": {}, **(meta or {})}


@for_each(
    "columns",
    [
        pytest.param([("A", "raw.orders.a"), ("b", "raw.orders.B")], id="copies"),
        pytest.param([("a", "raw.orders.x raw.Orders.X raw.users.x")], id="an input in two cases"),
        pytest.param([("a", "raw.orders.x"), ("A", "raw.orders.y")], id="a column in two cases"),
        pytest.param([("a", "raw.orders.*"), ("*", "raw.orders.status")], id="all columns"),
        pytest.param([("a", ""), ("b", "raw.orders.b")], id="a column of nothing"),
        pytest.param([("a", "raw.orders.\ud800")], id="a lone surrogate"),
        pytest.param([("a", " ".join(f"raw.orders.c{n}" for n in range(250)))], id="many inputs"),
    ],
)
def test_the_edges_of_a_model_are_written_as_those_of_a_log(columns: list[tuple[str, str]]) -> None:
    ends = [
        (name, [(parse_dataset_id(f"spark/{table}"), column, Subtype.IDENTITY, Masking.NONE)])
        for name, inputs in columns
        for table, _, column in (text.rpartition(".") for text in inputs.split())
    ]
    edges = DefinitionEdges(
        MART, REVENUE, lambda: ends, lambda: "shape-1", "dbt:manifest.json", "identity"
    )
    manifest, catalog = {"nodes": {MART: {"columns": {"B": {}}}}}, {"nodes": {}}
    made, logged = (
        with_meta(manifest, catalog, {MART: declared}, {}, {REVENUE: MART})
        for declared in (edges, tuple(edges))
    )

    assert made == logged
    assert dump(made) == dump(logged)


def test_grafting_again_gives_the_same_bytes_and_undo_takes_it_back(
    project: Any, log: Any, tmp_path: Path
) -> None:
    original = dump(project.manifest)
    first, second = (graft_with(project, log) for _ in range(2))
    assert dump(first.manifest) == dump(second.manifest)

    artifacts.write(first, tmp_path)
    artifacts.undo(tmp_path)

    assert (tmp_path / "manifest.json").read_bytes() == original


def test_dbt_loads_it_and_its_schema_has_no_fault(project: Any, log: Any) -> None:
    assert faults(project.artifacts(), graft_with(project, log)) == ([], [])


def test_the_page_s_copy_says_it_below_what_the_team_wrote(project: Any, log: Any) -> None:
    project.manifest["nodes"][MART]["columns"] = {
        "ID": {"name": "ID", "description": "The key."},
        "gone": {"name": "gone", "description": "Not in the table any more."},
    }

    shown = columns_on_page(graft_with(project, log))

    assert shown["ID"]["description"] == "The key.\n\nFrom analytics.stg_orders.id."
    assert shown["gone"]["description"] == "Not in the table any more."


def test_a_column_that_only_the_catalog_has_gets_a_description_too(project: Any, log: Any) -> None:
    shown = columns_on_page(graft_with(project, log))

    assert shown["amount"]["description"] == (
        "From analytics.stg_orders.price (aggregation), filtered by analytics.stg_orders.status."
    )


def test_without_a_catalog_the_columns_are_those_of_the_edges(project: Any, log: Any) -> None:
    del project.catalog["nodes"][MART]

    assert list(columns_on_page(graft_with(project, log))) == ["id", "amount"]


def test_the_page_says_nothing_where_it_shall_not(project: Any, log: Any) -> None:
    assert columns_on_page(graft_with(project, log), columns=False) == {}


def test_the_slim_page_has_no_edges_for_programs(project: Any, log: Any) -> None:
    page = docs.page(graft_with(project, log), docs.DocsPageSettings("Shop")).decode()

    assert '"subtype"' not in page


def test_hostile_names_are_no_markup(project: Any, log: Any) -> None:
    source = DatasetId("spark", "raw.o`[x](javascript:alert(1))`</script>\n\n# big")
    hostile = replace(edge("id", "raw.o.a"), from_dataset=source, from_column="a`b")

    shown = columns_on_page(graft_with(project, log, [hostile]))

    assert shown["id"]["description"] == (
        r"From raw.o\`\[x\](javascript:alert(1))\`\</script\> # big.a\`b."
    )


def test_no_column_gets_longer_than_its_limits(project: Any, log: Any) -> None:
    edges = [edge("id", f"raw.t{n}.a", Subtype.AGGREGATION) for n in range(500)]
    edges += [edge("*", f"raw.t{n}.b", Subtype.FILTER) for n in range(500)]

    grafted = graft_with(project, log, edges)

    columns = grafted.manifest["nodes"][MART]["meta"]["graft"]["columns"]
    assert [len(column) for column in columns.values()] == [200, 200]
    text = columns_on_page(grafted)["id"]["description"]
    assert "and 488 more, filtered by" in text
    assert text.endswith("and 496 more.")


@pytest.mark.parametrize(
    ("evidences", "text"),
    [
        ("observed observed", "From raw.a.x, raw.b.x."),
        ("declared declared", "From raw.a.x, raw.b.x."),
        ("inferred inferred", "From raw.a.x, raw.b.x. Inferred."),
        ("observed declared", "From raw.a.x, raw.b.x (declared)."),
        ("inferred declared", "From raw.a.x (inferred), raw.b.x (declared)."),
    ],
)
def test_edges_that_no_log_showed_say_so(project: Any, log: Any, evidences: str, text: str) -> None:
    first, second = map(Evidence, evidences.split())
    edges = [edge("id", "raw.a.x", evidence=first), edge("id", "raw.b.x", evidence=second)]

    assert columns_on_page(graft_with(project, log, edges))["id"]["description"] == text


def test_a_node_that_dbt_does_not_build_has_its_edges_once(project: Any, log: Any) -> None:
    edges = [edge("id", "landing.orders.id", evidence=Evidence.OBSERVED, into="raw.orders")]

    shown = columns_on_page(graft_with(project, log, edges), "model.python_tasks.raw_orders")

    assert shown["id"]["description"].count("From") == 1
