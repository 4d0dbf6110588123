"""Every place of a manifest that names a promoted source names the model afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.injector.artifacts import dump
from dbt_graft.injector.report import Grafted

ORDERS = "source.shop.raw.orders"
RAW_ORDERS = "model.python_tasks.raw_orders"
RAW_CUSTOMERS = "model.python_tasks.raw_customers"
NOT_NULL = "test.shop.source_not_null_raw_orders_id"
RELATIONSHIPS = "test.shop.source_relationships_raw_orders_customer"


def _ref(name: str) -> dict[str, Any]:
    return {"name": name, "package": None, "version": None}


def _get(document: Any, path: str) -> Any:
    for key in path.split("/"):
        document = document[int(key) if isinstance(document, list) else key]
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("nodes/model.shop.stg_orders/depends_on/nodes", [RAW_ORDERS]),
        ("nodes/model.shop.stg_orders/sources", []),
        ("nodes/model.shop.stg_orders/refs", [_ref("raw_orders")]),
        ("nodes/model.shop.stg_orders/raw_code", "select * from {{ ref('raw_orders') }}"),
        ("nodes/snapshot.shop.orders_snapshot/depends_on/nodes", [RAW_ORDERS]),
        ("nodes/snapshot.shop.orders_snapshot/config/relation", "ref('raw_orders')"),
        ("nodes/snapshot.shop.orders_snapshot/sources", []),
        (f"nodes/{NOT_NULL}/depends_on/nodes", [RAW_ORDERS]),
        (f"nodes/{NOT_NULL}/attached_node", RAW_ORDERS),
        (f"nodes/{NOT_NULL}/file_key_name", "models.raw_orders"),
        (
            f"nodes/{NOT_NULL}/test_metadata/kwargs/model",
            "{{ get_where_subquery(ref('raw_orders')) }}",
        ),
        (f"nodes/{RELATIONSHIPS}/depends_on/nodes", [RAW_CUSTOMERS, RAW_ORDERS]),
        (f"nodes/{RELATIONSHIPS}/attached_node", RAW_ORDERS),
        (f"nodes/{RELATIONSHIPS}/test_metadata/kwargs/to", "ref('raw_customers')"),
        (f"nodes/{RELATIONSHIPS}/refs", [_ref("raw_customers"), _ref("raw_orders")]),
        (
            "nodes/test.shop.orders_add_up/depends_on/nodes",
            [RAW_ORDERS, "model.shop.orders"],
        ),
        ("unit_tests/unit_test.shop.stg_orders.sums/given/0/input", "ref('raw_orders')"),
        (
            "exposures/exposure.shop.revenue_dashboard/depends_on/nodes",
            [
                "model.shop.orders",
                "model.shop.customer_segments",
                RAW_ORDERS,
                "source.shop.raw.exchange_rates",
            ],
        ),
        ("exposures/exposure.shop.revenue_dashboard/sources", [["raw", "exchange_rates"]]),
        (
            "exposures/exposure.shop.revenue_dashboard/refs",
            [_ref("orders"), _ref("customer_segments"), _ref("raw_orders")],
        ),
        ("parent_map/model.shop.stg_orders", [RAW_ORDERS]),
        (f"parent_map/{RAW_ORDERS}", ["source.python_tasks.files.landing_orders"]),
        (
            f"child_map/{RAW_ORDERS}",
            [
                "model.shop.stg_orders",
                "snapshot.shop.orders_snapshot",
                NOT_NULL,
                RELATIONSHIPS,
                "test.shop.orders_add_up",
                "exposure.shop.revenue_dashboard",
            ],
        ),
        (
            "selectors/landed/definition/union",
            [
                {"method": "fqn", "value": "raw_orders", "children": True},
                "raw_customers+",
                "source:raw.exchange_rates",
            ],
        ),
    ],
)
def test_it_names_the_model(grafted: Grafted, path: str, value: Any) -> None:
    assert _get(grafted.manifest, path) == value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        # The call goes through a variable: only the lists are right.
        (
            "nodes/model.shop.supplier_margins/raw_code",
            "select * from {{ source(var('erp'), 'suppliers') }}",
        ),
        ("nodes/test.shop.relationships_stg_orders_rate/attached_node", "model.shop.stg_orders"),
        (
            "nodes/test.shop.relationships_stg_orders_rate/test_metadata/kwargs/to",
            "source('raw', 'exchange_rates')",
        ),
        (f"nodes/{NOT_NULL}/name", "source_not_null_raw_orders_id"),
        (f"nodes/{NOT_NULL}/original_file_path", "models/_tests.yml"),
    ],
)
def test_it_stays(grafted: Grafted, path: str, value: Any) -> None:
    assert _get(grafted.manifest, path) == value


def test_no_id_of_a_promoted_source_is_left_but_in_meta(grafted: Grafted) -> None:
    for node in grafted.manifest["nodes"].values():
        node["meta"].pop("graft", None)
        node["config"].get("meta", {}).pop("graft", None)

    text = dump(grafted.manifest) + dump(grafted.catalog)

    assert len(grafted.redirects) == 4
    assert [source for source in grafted.redirects if source.encode() in text] == []


def test_the_catalog_entry_moves_with_the_source(grafted: Grafted) -> None:
    entry = grafted.catalog["nodes"][RAW_ORDERS]

    assert ORDERS not in grafted.catalog["sources"]
    assert entry["unique_id"] == RAW_ORDERS
    assert list(entry["columns"]) == ["id", "amount"]


def test_disabled_nodes_name_the_model_too(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    old = {**project.manifest["nodes"]["model.shop.stg_orders"], "unique_id": "model.shop.old"}
    source = project.manifest["sources"][ORDERS]
    project.manifest["disabled"] = {"model.shop.old": [old], ORDERS: [source]}

    disabled = run(project, log).manifest["disabled"]

    assert list(disabled) == ["model.shop.old"]
    (node,) = disabled["model.shop.old"]
    assert node["depends_on"]["nodes"] == [RAW_ORDERS]
    assert node["raw_code"] == "select * from {{ ref('raw_orders') }}"


def test_two_sources_on_one_relation_become_one_model(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    copy = project.source("legacy", "bestellungen", identifier="ORDERS")
    both = project.model("both", [ORDERS, copy])

    grafted = run(project, log)

    assert grafted.redirects[ORDERS] == grafted.redirects[copy]
    model = grafted.redirects[copy]
    assert grafted.manifest["nodes"][both]["depends_on"]["nodes"] == [model]
    assert grafted.manifest["parent_map"][both] == [model]
    assert grafted.manifest["child_map"][model].count(both) == 1
    assert len(grafted.manifest["nodes"][both]["refs"]) == 1


def test_a_pair_means_the_source_that_the_node_depends_on(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    # An installed package has a source of the same name on another relation.
    other = project.source("raw", "orders", schema="elsewhere")
    node = project.manifest["sources"].pop(other)
    entry = project.catalog["sources"].pop(other)
    other = "source.installed.raw.orders"
    node |= {"unique_id": other, "package_name": "installed"}
    project.manifest["sources"][other] = node
    project.manifest["parent_map"][other] = []
    project.catalog["sources"][other] = {**entry, "unique_id": other}
    project.manifest["sources"][ORDERS] = {**node, "unique_id": ORDERS, "package_name": "shop"}
    project.manifest["sources"][ORDERS]["schema"] = "raw"
    theirs = project.model("theirs", [other])

    grafted = run(project, log)

    assert grafted.manifest["nodes"][theirs]["sources"] == [["raw", "orders"]]
    assert grafted.manifest["nodes"][theirs]["refs"] == []
    assert "source('raw', 'orders')" in grafted.manifest["nodes"][theirs]["raw_code"]


def test_nothing_is_changed_in_place(project: Any, log: Any, run: Callable[..., Grafted]) -> None:
    before = dump(project.manifest), dump(project.catalog)

    run(project, log)

    assert (dump(project.manifest), dump(project.catalog)) == before


def test_with_no_tasks_only_links_are_added(
    project: Any, empty_log: Any, run: Callable[..., Grafted]
) -> None:
    manifest = run(project, empty_log).manifest

    for part in ("nodes", "sources"):
        for node in manifest[part].values():
            node["description"] = node["description"].partition("\n\n[Catalog page](")[0]
    manifest["metadata"]["env"] = {}
    assert manifest == project.manifest
