"""Selections of a manifest select what dbt itself selects from it."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path, PurePosixPath
from typing import Any

import networkx
import pytest

from dbt_graft.injector.selection import SelectableNodes, parse, select_nodes
from dbt_graft.injector.selection_methods import selections
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each
from tests.dbt_artifacts import dbt_class


def _node(key: str, path: str = "", **fields: Any) -> dict[str, Any]:
    kind, package, name = key.split(".", 2)
    return {
        "unique_id": key, "resource_type": kind, "package_name": package, "name": name,
        "fqn": [package, *path.split("/")[1:-1], name], "tags": [], "config": {"enabled": True},
        "original_file_path": path, **fields,
    }  # fmt: skip


SMALL = {
    "metadata": {"project_name": "shop"},
    "nodes": {
        node["unique_id"]: node
        for node in (
            _node("model.shop.stage", "models/staging/stage.sql", tags=["nightly"]),
            _node("model.shop.mart", "models/marts/finance/mart.sql", tags=["finance", "monthly"]),
            _node("model.shop.last", "models/marts/last.sql", access="public"),
            _node("model.other.mart", "models/mart.sql", config={"group": "sales"}),
            _node("model.shop.off", "models/off.sql", config={"enabled": False}),
            _node(
                "model.shop.rates.v2",
                "models/rates.sql",
                name="rates",
                version=2,
                latest_version=10,
                fqn=["shop", "rates", "v2"],
                patch_path="shop://models/docs/rates.yml",
            ),
            _node(
                "test.shop.not_null_mart", "models/m.yml", test_metadata={"name": "not_null"},
                config={"severity": "WARN"},
            ),
            _node("test.shop.one_day", "tests/one_day.sql"),
        )
    },
    "sources": {"source.shop.raw.orders": _node("source.shop.raw.orders", name="orders")},
    "unit_tests": {
        "unit_test.shop.rates.rounds_v2": _node(
            "unit_test.shop.rates.rounds_v2", name="rounds", version=2, config={"tags": ["quick"]},
            fqn=["shop", "rates", "rounds"],
        )
    },
    "semantic_models": {
        "semantic_model.shop.sales": _node("semantic_model.shop.sales", config={"group": "sales"})
    },
    "exposures": {"exposure.shop.report": _node("exposure.shop.report", "models/m.yml")},
    "parent_map": {
        "model.shop.stage": ["source.shop.raw.orders", "model.shop.off"],
        "model.shop.mart": ["model.shop.stage", "model.shop.rates.v2"],
        "model.shop.last": ["model.shop.mart"],
        "test.shop.not_null_mart": ["model.shop.mart"],
        "exposure.shop.report": ["model.shop.last"],
    },
}  # fmt: skip
MART = {"model.shop.mart", "test.shop.not_null_mart"}


@for_each(
    "selection, expected",
    [
        ("stage", {"model.shop.stage"}),
        ("tag:finance", MART),
        ("tag:f*", MART),
        ("tag:finance,tag:nightly last", {"model.shop.last"}),
        ("path:models/marts/finance", MART),
        ("models/marts/**/mart.sql", MART),
        (r"models\marts\finance", MART),
        ("path:models/mart.sql", set()),  # a file of a package, not of the project
        ("path:models,package:other", {"model.other.mart"}),
        ("tag:quick", {"unit_test.shop.rates.rounds_v2"}),
        ("rounds", {"unit_test.shop.rates.rounds_v2"}),
        ("config.group:SALES", set()),
        ("path:models/docs/rates.yml", {"model.shop.rates.v2"}),
        ("rates.v2", {"model.shop.rates.v2"}),
        ("rates_v2", {"model.shop.rates.v2"}),
        ("version:old", {"model.shop.rates.v2"}),  # 2 before 10
        ("version:latest", set()),
        ("version:none,package:other", {"model.other.mart"}),
        ("package:other", {"model.other.mart"}),
        ("package:this,resource_type:exposure", {"exposure.shop.report"}),
        ("group:sales", {"model.other.mart"}),
        ("access:public", {"model.shop.last"}),
        ("shop.marts.finance", MART),
        ("marts.last", {"model.shop.last"}),
        ("config.severity:warn", {"test.shop.not_null_mart"}),
        ("test_type:singular", {"test.shop.one_day"}),
        ("test_name:not_null", {"test.shop.not_null_mart"}),
        ("source:raw", {"source.shop.raw.orders"}),
        ("1+shop.marts.last+", {*MART, "model.shop.last", "exposure.shop.report"}),
        ("+exposure:report,resource_type:source", {"source.shop.raw.orders"}),
        ("@source:raw,package:shop,rates.v2", {"model.shop.rates.v2"}),
        ("off", set()),
    ],
)
def test_a_selection_selects(selection: str, expected: set[str]) -> None:
    if expected:
        assert select_nodes(SMALL, selection) == expected
    else:
        with pytest.raises(GraftError, match="selects no node"):
            select_nodes(SMALL, selection)


def test_a_source_that_became_a_model_is_still_selected_as_a_source() -> None:
    promoted = {"source.shop.raw.returns": "model.shop.last"}
    assert select_nodes(SMALL, "source:raw.returns", promoted) == {"model.shop.last"}
    assert select_nodes(SMALL, "source:raw", promoted) == {
        "source.shop.raw.orders",
        "model.shop.last",
    }


@for_each(
    "path, expected",
    [
        ("models/marts/refunds.sql", "refunds"),
        ("models/orders/orders.sql", "shop.orders.orders"),
        ("models/orders/parts/lines.sql", "lines"),
        ("models/shop.sql", "shop.shop"),
        ("models/stage.raw.sql", "stage.raw"),
        ("packages/rates.sql", "shop.rates"),
    ],
)
def test_a_node_has_a_selection_of_its_own(path: str, expected: str) -> None:
    paths = (
        "models/marts/refunds.sql", "models/orders/orders.sql", "models/orders/parts/lines.sql",
        "models/shop.sql", "models/stage.raw.sql", "packages/rates.sql",
    )  # fmt: skip
    names = {one: PurePosixPath(one).stem for one in paths}
    nodes = {f"model.shop.{name}": _node(f"model.shop.{name}", one) for one, name in names.items()}
    nodes["model.other.rates"] = _node("model.other.rates", "models/rates.sql")
    wanted = f"model.shop.{names[path]}"
    assert selections(nodes)[wanted] == expected
    assert select_nodes({"nodes": nodes}, expected) == {wanted}


@for_each(
    "selected, excluded, count",
    [
        ("", "", 11),
        ("", "package:shop", 1),
        ("+last", "path:models/staging resource_type:test", 4),
        ("off", "", 0),
    ],
)
def test_a_command_selects_and_excludes(selected: str, excluded: str, count: int) -> None:
    assert len(SelectableNodes.from_manifest(SMALL).of_command(selected, excluded)) == count


def test_what_a_default_selector_selects_is_not_known() -> None:
    selectors = {"nightly": {"name": "nightly", "default": True, "definition": {}}}
    nodes = SelectableNodes.from_manifest({**SMALL, "selectors": selectors})
    with pytest.raises(ValueError, match="a selector that is the default"):
        nodes.of_command("", "")
    assert nodes.of_command("last", "") == {"model.shop.last"}


@for_each(
    "selection, problem",
    [
        (" ", "write a selection"),
        ("state:modified", "'state' is not one of the methods access, config"),
        ("tags:finance", "'tags' is not one of the methods"),
        ("tag:", "is not a selection"),
        ("version:2", "`version` is one of latest, none, old, prerelease"),
        ("@orders+", "leave out the"),
        ("config:table", r"write config\.<key>:<value>"),
        ("tag.x:table", "other methods without a dot"),
    ],
)
def test_an_unknown_selection_is_an_error(selection: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse(selection)
    with pytest.raises(GraftError, match=problem):
        select_nodes(SMALL, selection)


SELECTIONS = [
    "*", "orders", "+orders", "orders+", "1+orders+1", "2+orders", "@stg_orders", "tag:daily",
    "tag:d*", "path:models/marts", "path:models/*/orders.sql", "models/marts", "models/**/*.yml",
    "file:orders.sql", "orders.sql", "file:orders", "package:shop", "package:this", "shop.marts",
    "shop.marts.*", "marts.orders", "s*", "*orders", "source:raw", "source:raw.exchange_rates+",
    "source:shop.raw.*", "+exposure:revenue_dashboard", "group:sales", "group:*",
    "config.materialized:table", "config.tags:staging", "config.enabled:true",
    "config.severity:error", "test_type:data", "orders,tag:daily", "orders customers",
    "orders+,package:python_tasks customers", "resource_type:model", "resource_type:unit_test",
    "access:protected", "unit_test:*", "@source:raw", "version:none",
]  # fmt: skip


@pytest.mark.demo
def test_it_selects_what_dbt_selects(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "build" / "graft" / "manifest.json"
    if not file.is_file():
        pytest.skip("build/graft does not exist: run `make docs` first")
    # Imported here: it takes seconds.
    from dbt.contracts.graph.manifest import Manifest
    from dbt.flags import set_from_args
    from dbt.graph.cli import parse_union
    from dbt.graph.graph import Graph
    from dbt.graph.selector import NodeSelector

    document = json.loads(file.read_text("utf-8"))
    set_from_args(Namespace(INDIRECT_SELECTION="eager", warn_error=False), None)
    manifest = Manifest.from_writable_manifest(dbt_class("manifest").from_dict(document))
    graph = networkx.DiGraph()
    for key, parents in document["parent_map"].items():
        graph.add_node(key)
        graph.add_edges_from((parent, key) for parent in parents)
    selector = NodeSelector(Graph(graph), manifest)
    monkeypatch.chdir(root / "dbt_project")  # dbt looks for paths below it
    for selection in SELECTIONS:
        expected, _ = selector.select_nodes(parse_union([selection], True))
        assert expected, selection
        assert select_nodes(document, selection) == expected, selection
