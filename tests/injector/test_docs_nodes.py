"""The pages of dbt docs that the catalog has none of."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.injector.docs_nodes import docs_nodes
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.describe import DocsNode


def _with(grafted: Grafted, **parts: dict[str, object]) -> tuple[DocsNode, ...]:
    merged = {name: {**(grafted.manifest.get(name) or {}), **some} for name, some in parts.items()}
    return docs_nodes(replace(grafted, manifest={**grafted.manifest, **merged}))


def test_no_node_with_a_page_in_the_catalog_is_listed(grafted: Grafted) -> None:
    ids = {node.node_id for node in docs_nodes(grafted)}
    assert grafted.descriptions
    for description in grafted.descriptions.values():
        assert not ids & {description.node_id, *description.dbt_ids}
    assert not ids & {consumer.node_id for consumer in grafted.consumers}


def test_tests_macros_and_metrics_are_listed(grafted: Grafted) -> None:
    generic = {"resource_type": "test", "name": "unique_a", "test_metadata": {"name": "unique"}}
    found = {
        node.node_id: node
        for node in _with(
            grafted,
            nodes={
                "test.shop.own": {"resource_type": "test", "name": "own", "description": "Why."},
                "test.shop.unique_a": generic,
                "operation.shop.hook": {"resource_type": "operation", "name": "hook"},
            },
            macros={"macro.shop.cents": {"name": "cents", "package_name": "shop"}},
            metrics={"metric.shop.revenue": {"name": "revenue", "resource_type": "metric"}},
        )
    }
    assert found["test.shop.own"] == DocsNode("test.shop.own", "own", "test", "Why.")
    assert found["test.shop.unique_a"].is_generic_test
    assert found["macro.shop.cents"].kind == "macro"
    assert found["metric.shop.revenue"].kind == "metric"
    assert "operation.shop.hook" not in found


def test_macros_of_dbt_itself_have_no_page(grafted: Grafted) -> None:
    adapter = grafted.manifest["metadata"]["adapter_type"]
    found = _with(
        grafted,
        macros={
            "macro.dbt.run": {"name": "run", "package_name": "dbt"},
            "macro.own.run": {"name": "run", "package_name": f"dbt_{adapter}"},
        },
    )
    assert not {"macro.dbt.run", "macro.own.run"} & {node.node_id for node in found}
