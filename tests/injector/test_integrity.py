"""Every defect that breaks dbt's docs page is a finding, and a graft adds none."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.injector import integrity
from dbt_graft.injector.report import Grafted

Json = dict[str, Any]
TEST = "test.shop.not_null_orders_id"
RELATIONSHIPS = "test.shop.relationships_stg_orders_rate"
RAW_ORDERS = "model.python_tasks.raw_orders"


def _test_target_gone(manifest: Json, catalog: Json) -> None:
    manifest["nodes"][TEST]["depends_on"]["nodes"][0] = "model.shop.gone"


def _relationship_target_gone(manifest: Json, catalog: Json) -> None:
    manifest["nodes"][RELATIONSHIPS]["depends_on"]["nodes"][-1] = "model.shop.gone"


def _catalog_without_nodes(manifest: Json, catalog: Json) -> None:
    del catalog["nodes"]


def _node_without(field: str) -> Callable[[Json, Json], None]:
    def spoil(manifest: Json, catalog: Json) -> None:
        del manifest["nodes"]["model.shop.orders"][field]

    return spoil


def _no_parent_map_entry(manifest: Json, catalog: Json) -> None:
    del manifest["parent_map"]["model.shop.orders"]


def _parent_map_misses_a_parent(manifest: Json, catalog: Json) -> None:
    manifest["parent_map"]["model.shop.orders"].pop()


def _parent_map_has_more(manifest: Json, catalog: Json) -> None:
    manifest["parent_map"]["model.shop.orders"].append("model.shop.customers")


def _child_map_misses_a_child(manifest: Json, catalog: Json) -> None:
    manifest["child_map"]["model.shop.stg_orders"].remove("model.shop.orders")


def _unknown_resource_type(manifest: Json, catalog: Json) -> None:
    manifest["nodes"]["model.shop.orders"]["resource_type"] = "python_task"


def _cycle(manifest: Json, catalog: Json) -> None:
    _edge(manifest, "model.shop.orders", "model.shop.stg_orders")


def _own_table(manifest: Json, catalog: Json) -> None:
    _edge(manifest, "model.shop.orders", "model.shop.orders")


def _edge(manifest: Json, parent: str, child: str) -> None:
    manifest["nodes"][child]["depends_on"]["nodes"].append(parent)
    manifest["parent_map"][child].append(parent)
    manifest["child_map"][parent].append(child)


def _type_null(manifest: Json, catalog: Json) -> None:
    catalog["nodes"]["model.shop.orders"]["metadata"]["type"] = None


def _group_unknown(manifest: Json, catalog: Json) -> None:
    manifest["groups"] = {}


def _group_of_another_package(manifest: Json, catalog: Json) -> None:
    manifest["nodes"]["model.shop.orders"]["package_name"] = "python_tasks"


def _tag_no_string(manifest: Json, catalog: Json) -> None:
    manifest["nodes"]["model.shop.orders"]["tags"] = [{"daily": True}]


def _two_of_one_name(manifest: Json, catalog: Json) -> None:
    manifest["nodes"]["model.shop.orders"]["name"] = "customers"


def _dangling(manifest: Json, catalog: Json) -> None:
    manifest["child_map"]["model.shop.orders"].append("model.shop.gone")


def _no_adapter(manifest: Json, catalog: Json) -> None:
    manifest["metadata"]["adapter_type"] = None


def _no_overview(manifest: Json, catalog: Json) -> None:
    manifest["docs"] = {}


def _other_id(manifest: Json, catalog: Json) -> None:
    manifest["nodes"]["model.shop.orders"]["unique_id"] = "model.shop.order"


def _enabled_and_disabled(manifest: Json, catalog: Json) -> None:
    manifest["disabled"] = {"model.shop.orders": []}


def _catalog_without_node(manifest: Json, catalog: Json) -> None:
    catalog["nodes"]["model.shop.gone"] = catalog["nodes"]["model.shop.orders"]


DEFECTS = [
    (_test_target_gone, "test-target", TEST),
    (_relationship_target_gone, "test-target", RELATIONSHIPS),
    (_catalog_without_nodes, "catalog", "nodes"),
    (_node_without("config"), "config", "model.shop.orders"),
    (_node_without("original_file_path"), "file-path", "model.shop.orders"),
    (_node_without("fqn"), "fqn", "model.shop.orders"),
    (_no_parent_map_entry, "parent-map", "model.shop.orders"),
    (_parent_map_misses_a_parent, "parent-map", "model.shop.orders"),
    (_parent_map_has_more, "parent-map", "model.shop.orders"),
    (_child_map_misses_a_child, "child-map", "model.shop.orders"),
    (_unknown_resource_type, "resource-type", "model.shop.orders"),
    (_cycle, "cycle", "graph"),
    (_own_table, "cycle", "graph"),
    (_type_null, "catalog-type", "model.shop.orders"),
    (_group_unknown, "group", "model.shop.orders"),
    (_group_of_another_package, "group", "model.shop.orders"),
    (_tag_no_string, "tag", "model.shop.orders"),
    (_two_of_one_name, "name", "customers"),
    (_dangling, "dangling", "model.shop.gone"),
    (_no_adapter, "adapter-type", "metadata"),
    (_no_overview, "overview", "docs"),
    (_other_id, "unique-id", "model.shop.orders"),
    (_enabled_and_disabled, "also-disabled", "model.shop.orders"),
    (_catalog_without_node, "catalog-node", "model.shop.gone"),
]


def _findings(manifest: Json, catalog: Json) -> set[tuple[str, str]]:
    return {(f.rule, f.subject) for f in integrity.check(manifest, catalog)}


def test_a_sound_project_has_no_findings(project: Any) -> None:
    assert integrity.check(project.manifest, project.catalog) == []


@pytest.mark.parametrize(("spoil", "rule", "subject"), DEFECTS)
def test_a_defect_is_found(
    project: Any, spoil: Callable[[Json, Json], None], rule: str, subject: str
) -> None:
    spoil(project.manifest, project.catalog)

    assert (rule, subject) in _findings(project.manifest, project.catalog)


def test_a_graft_has_no_findings(grafted: Grafted) -> None:
    assert integrity.check(grafted.manifest, grafted.catalog) == []


@pytest.mark.parametrize(
    ("spoil", "rule", "subject"), [defect for defect in DEFECTS if defect[1] != "catalog"]
)
def test_a_graft_survives_a_defect_reports_it_and_adds_none(
    project: Any,
    log: Any,
    run: Callable[..., Grafted],
    spoil: Callable[[Json, Json], None],
    rule: str,
    subject: str,
) -> None:
    spoil(project.manifest, project.catalog)
    before = integrity.check(project.manifest, project.catalog)

    grafted = run(project, log)

    assert (rule, subject) in {(f.rule, f.subject) for f in grafted.report.defects}
    after = integrity.check(grafted.manifest, grafted.catalog)
    assert integrity.new_defects(before, after, grafted.redirects) == []


def test_a_defect_of_a_promoted_source_is_not_ours(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    source = "source.shop.raw.orders"
    project.manifest["parent_map"].pop(source)
    project.manifest["child_map"].pop(source)
    project.manifest["sources"][source] |= {"tags": [1], "config": None, "fqn": []}
    project.catalog["sources"][source]["metadata"]["type"] = None
    before = integrity.check(project.manifest, project.catalog)

    grafted = run(project, log)

    after = integrity.check(grafted.manifest, grafted.catalog)
    assert before
    assert integrity.new_defects(before, after, grafted.redirects) == []


def _faults(project: Any, grafted: Grafted) -> list[str]:
    new, _ = integrity.faults(project.artifacts(), grafted)
    return new


def test_a_graft_is_sound(project: Any, grafted: Grafted) -> None:
    assert _faults(project, grafted) == []


def _without_config(manifest: Json) -> None:
    del manifest["nodes"][RAW_ORDERS]["config"]


def _own_key(manifest: Json) -> None:
    manifest["nodes"][RAW_ORDERS]["graft"] = {}


def _not_loaded(manifest: Json) -> None:
    del manifest["nodes"][RAW_ORDERS]["checksum"]


@pytest.mark.parametrize(
    ("spoil", "reported"),
    [
        (_without_config, "`config` is missing: all sidebar trees are empty"),
        (_own_key, f"{RAW_ORDERS} does not match the JSON schema of the manifest"),
        (_not_loaded, "dbt does not load"),
    ],
)
def test_a_defect_that_the_graft_makes_is_reported(
    project: Any, grafted: Grafted, spoil: Callable[[Json], None], reported: str
) -> None:
    spoil(grafted.manifest)

    assert reported in "\n".join(_faults(project, grafted))


def test_what_was_wrong_before_is_not_ours(
    project: Any, log: Any, run: Callable[..., Grafted]
) -> None:
    stg = project.manifest["nodes"]["model.shop.stg_orders"]
    stg |= {"unknown_key": 1, "fqn": None, "tags": [7]}

    assert _faults(project, run(project, log)) == []


def test_a_hook_of_dbt_2_needs_no_config(grafted: Grafted) -> None:
    hook = {
        "unique_id": "operation.shop.on_run_end",
        "resource_type": "operation",
        "name": "on_run_end",
        "package_name": "shop",
        "original_file_path": "dbt_project.yml",
        "fqn": ["shop", "on_run_end"],
        "depends_on": {"nodes": []},
    }
    manifest = copy.deepcopy(grafted.manifest)
    manifest["nodes"][hook["unique_id"]] = hook
    manifest["parent_map"][hook["unique_id"]] = manifest["child_map"][hook["unique_id"]] = []
    before = integrity.check(grafted.manifest, grafted.catalog)
    assert integrity.check(manifest, grafted.catalog) == before
