"""The contents of manifests and catalogs of real projects: each line is survived and handled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.injector import integrity
from dbt_graft.injector.artifacts import Artifacts, dump, read
from dbt_graft.injector.graft import graft
from dbt_graft.injector.manifest import project_name
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.relations import relations, short_names
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import parse_dataset_id

Json = dict[str, Any]
Run = Callable[..., Grafted]
ORDERS = "source.shop.raw.orders"
RAW_ORDERS = "model.python_tasks.raw_orders"


def _sound(project: Any, grafted: Grafted) -> None:
    """No defect that dbt's own artifacts did not have."""
    before = integrity.check(project.manifest, project.catalog)
    after = integrity.check(grafted.manifest, grafted.catalog)
    assert integrity.new_defects(before, after, grafted.redirects) == []


@pytest.mark.parametrize("version", ["v9", "v10", "v11", "v12"])
def test_manifests_of_dbt_1_5_to_1_12_are_read(project: Any, tmp_path: Path, version: str) -> None:
    url = f"https://schemas.getdbt.com/dbt/manifest/{version}.json"
    project.manifest["metadata"]["dbt_schema_version"] = url
    (tmp_path / "manifest.json").write_bytes(dump(project.manifest))

    assert read(tmp_path).manifest == project.manifest


PARTS_BY_VERSION = {
    "v9": ("semantic_models", "saved_queries", "unit_tests", "functions", "disabled"),
    "v10": ("saved_queries", "unit_tests", "functions"),
    "v11": ("unit_tests", "functions"),
}


@pytest.mark.parametrize("version", PARTS_BY_VERSION)
def test_parts_that_a_version_does_not_have_stay_missing(
    project: Any, log: Any, run: Run, version: str
) -> None:
    for part in PARTS_BY_VERSION[version]:
        del project.manifest[part]

    grafted = run(project, log)

    assert grafted.manifest.keys() == project.manifest.keys()
    assert RAW_ORDERS in grafted.manifest["nodes"]


def test_the_project_of_a_v9_manifest_is_known_by_its_digest(project: Any) -> None:
    del project.manifest["metadata"]["project_name"]
    project.manifest["metadata"]["project_id"] = "6a2f0e7a" * 4
    assert project_name(project.manifest) is None
    # The MD5 of `shop`, as dbt writes it.
    project.manifest["metadata"]["project_id"] = "fb54f3c5992b96d001bb16e8e92d968d"
    assert project_name(project.manifest) == "shop"


def test_unknown_keys_and_the_order_of_keys_survive(project: Any, log: Any, run: Run) -> None:
    project.manifest = {"fusion": {"a": [1]}, **project.manifest, "last": None}
    node = project.manifest["nodes"]["model.shop.stg_orders"]
    project.manifest["nodes"]["model.shop.stg_orders"] = {"__base_attr__": {"x": 1}, **node}

    manifest = run(project, log).manifest

    assert list(manifest) == list(project.manifest)
    assert manifest["fusion"] == {"a": [1]}
    changed = manifest["nodes"]["model.shop.stg_orders"]
    assert list(changed) == list(project.manifest["nodes"]["model.shop.stg_orders"])
    assert changed["__base_attr__"] == {"x": 1}


def test_a_source_that_dbt_itself_builds_stays_one(project: Any, log: Any, run: Run) -> None:
    log.statement("load_categories", [], ["spark/analytics.product_categories"])
    grafted = run(project, log)

    (second,) = grafted.report.second_writers
    assert (second.node_id, second.tasks) == ("seed.shop.product_categories", ("load_categories",))
    assert "source.shop.lookup.product_categories" in grafted.manifest["sources"]
    _sound(project, grafted)


def test_one_table_name_in_many_groups_makes_as_many_names(
    empty_project: Any, empty_log: Any, run: Run
) -> None:
    groups = [f"shop_{n}" for n in range(40)]
    for group in groups:
        empty_project.source(group, "orders", schema=group)
        empty_log.statement("load", [], [f"spark/{group}.orders"])
    grafted = run(empty_project, empty_log)

    assert sorted(b.name for b in grafted.report.promoted) == sorted(f"{g}_orders" for g in groups)
    _sound(empty_project, grafted)


SPELLINGS: dict[str, tuple[Json, str]] = {
    "identifier differs from name": ({"identifier": "Orders_V2"}, "raw.orders_v2"),
    "null database": ({"database": None}, "raw.orders"),
    "database": ({"database": "Shop"}, "shop.raw.orders"),
    "upper case": ({"schema": "RAW", "identifier": "ORDERS"}, "raw.orders"),
    "hyphens and blanks": ({"schema": "raw-eu", "identifier": "all orders"}, "raw-eu.all orders"),
    "double quoted": ({"relation_name": '"raw"."orders"'}, "raw.orders"),
    "backticked": ({"relation_name": "`raw`.`orders`"}, "raw.orders"),
    "bracketed": ({"relation_name": "[raw].[orders]"}, "raw.orders"),
    "a call": ({"relation_name": "read_csv('x/*.csv')"}, "raw.orders"),
    "a UNC path": ({"relation_name": r"'\\srv\share\orders.csv'"}, "raw.orders"),
    "none": ({"relation_name": None}, "raw.orders"),
    "name differs from the id": ({"name": "Orders of today"}, "raw.orders"),
}


@pytest.mark.parametrize(("fields", "name"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_source_is_found_however_it_is_spelled(
    empty_project: Any, empty_log: Any, run: Run, fields: Json, name: str
) -> None:
    source = empty_project.source("raw", "orders", **fields)
    reader = empty_project.model("stg_orders", [source])
    empty_log.statement("load_orders", [], [f"spark/{name}"])
    grafted = run(empty_project, empty_log)

    (built,) = grafted.report.promoted
    node = grafted.manifest["nodes"][built.node_id]
    wanted = empty_project.manifest["sources"][source]
    assert node["relation_name"] == wanted["relation_name"]
    assert (node["database"], node["schema"]) == (wanted["database"], wanted["schema"])
    assert node["alias"] == wanted["identifier"]
    assert grafted.manifest["nodes"][reader]["depends_on"]["nodes"] == [built.node_id]
    _sound(empty_project, grafted)


def test_a_log_that_leaves_the_database_out_means_the_one_relation(empty_project: Any) -> None:
    empty_project.source("raw", "orders", database="Shop")
    empty_project.source("eu", "rates", schema="fx", database="eu")
    empty_project.source("us", "rates", schema="fx", database="us")
    empty_project.source("bare", "days", schema="cal", database=None)
    empty_project.source("cal", "days", schema="cal", database="eu")
    manifest = empty_project.manifest
    names = short_names(manifest, relations(manifest, "spark"))

    assert str(names(parse_dataset_id("spark/RAW.orders"))) == "spark/Shop.raw.orders"
    # dbt knows a relation of just this name.
    assert str(names(parse_dataset_id("spark/cal.days"))) == "spark/cal.days"
    rates = parse_dataset_id("spark/fx.rates")
    assert names(rates) == rates
    assert [str(one) for one in names.ambiguous[rates]] == [
        "spark/eu.fx.rates",
        "spark/us.fx.rates",
    ]


def test_two_sources_on_one_relation_that_a_task_reads_are_reported(
    project: Any, log: Any, run: Run
) -> None:
    project.source("fx", "rates", identifier="exchange_rates")
    project.source("shop", "orders", identifier="orders")
    log.statement("read_rates", ["spark/raw.exchange_rates"])
    grafted = run(project, log)

    # Both sources of orders, which a task writes, become one model.
    (ambiguous,) = grafted.report.ambiguous
    assert str(ambiguous.dataset) == "spark/raw.exchange_rates"
    assert ambiguous.candidates == ("source.shop.fx.rates", "source.shop.raw.exchange_rates")


def test_ids_that_dbt_fusion_writes_with_their_place_are_promoted_too(
    project: Any, log: Any, run: Run
) -> None:
    stg_orders = project.manifest["nodes"]["model.shop.stg_orders"]
    place = {"line": 1, "col": 15, "file": "models/stg_orders.sql"}
    stg_orders["depends_on"]["nodes_with_ref_location"] = [[ORDERS, place]]

    on = run(project, log).manifest["nodes"]["model.shop.stg_orders"]["depends_on"]

    assert on == {
        "macros": [],
        "nodes": [RAW_ORDERS],
        "nodes_with_ref_location": [[RAW_ORDERS, place]],
    }


@pytest.mark.parametrize("missing", [("parent_map",), ("child_map",), ("parent_map", "child_map")])
def test_maps_that_a_manifest_does_not_have_are_built(
    project: Any, log: Any, run: Run, missing: tuple[str, ...]
) -> None:
    expected = run(project, log).manifest
    for part in missing:
        del project.manifest[part]

    manifest = run(project, log).manifest

    for part in ("parent_map", "child_map"):
        assert {key: sorted(ids) for key, ids in manifest[part].items()} == {
            key: sorted(ids) for key, ids in expected[part].items()
        }


@pytest.mark.parametrize(("database", "written"), [("", ""), (None, None), (7, "7")])
def test_the_catalogs_database_stays_as_it_is(
    project: Any, log: Any, run: Run, database: Any, written: str | None
) -> None:
    project.catalog["sources"][ORDERS]["metadata"]["database"] = database

    metadata = run(project, log).catalog["nodes"][RAW_ORDERS]["metadata"]

    assert metadata["database"] == written


def test_two_nodes_on_one_relation_are_one_dataset_and_reported(
    project: Any, log: Any, run: Run
) -> None:
    project.model("orders_again", alias="orders")
    grafted = run(project, log)

    (ambiguous,) = grafted.report.ambiguous
    assert str(ambiguous.dataset) == "spark/analytics.orders"
    assert ambiguous.candidates == ("model.shop.orders", "model.shop.orders_again")


@pytest.mark.parametrize(
    "code",
    [
        "select * from {{ source(var('schema'), 'orders') }}",
        "{% for t in var('tables') %}select * from {{ source('raw', t) }}{% endfor %}",
        "{{ my_package.union_tables() }}",
    ],
    ids=["variable", "loop", "macro"],
)
def test_a_call_that_no_text_shows_stays_and_the_lists_are_right(
    empty_project: Any, empty_log: Any, run: Run, code: str
) -> None:
    source = empty_project.source("raw", "orders")
    model = empty_project.model("stg_orders", [source], raw_code=code)
    empty_log.statement("load_orders", [], ["spark/raw.orders"])
    node = run(empty_project, empty_log).manifest["nodes"][model]

    assert node["raw_code"] == code
    assert node["depends_on"]["nodes"] == [RAW_ORDERS]
    assert [ref["name"] for ref in node["refs"]] == ["raw_orders"]
    assert node["sources"] == []


def test_original_code_stays_in_meta(project: Any, log: Any, run: Run) -> None:
    node = run(project, log).manifest["nodes"]["model.shop.stg_orders"]

    assert node["raw_code"] == "select * from {{ ref('raw_orders') }}"
    original = node["config"]["meta"]["graft"]["raw_code"]
    assert original == "select * from {{ source('raw', 'orders') }}"


def test_a_dead_call_makes_no_reference(empty_project: Any, empty_log: Any, run: Run) -> None:
    empty_project.source("raw", "orders")
    code = "{# {{ source('raw', 'orders') }} #} select 1"
    model = empty_project.model("one", [], raw_code=code)
    empty_log.statement("load_orders", [], ["spark/raw.orders"])
    node = run(empty_project, empty_log).manifest["nodes"][model]

    assert (node["refs"], node["depends_on"]["nodes"]) == ([], [])


def test_a_repeated_pair_makes_one_reference(project: Any, log: Any, run: Run) -> None:
    node = project.manifest["nodes"]["model.shop.stg_orders"]
    node["sources"] = [["raw", "orders"], ["raw", "orders"]]
    node["depends_on"]["nodes"] = [ORDERS, ORDERS]

    grafted = run(project, log)

    node = grafted.manifest["nodes"]["model.shop.stg_orders"]
    assert len(node["refs"]) == 1
    assert node["depends_on"]["nodes"] == [RAW_ORDERS]


def test_sources_of_an_installed_package_are_promoted(
    empty_project: Any, empty_log: Any, run: Run
) -> None:
    source = empty_project.source("raw", "orders", package_name="installed")
    empty_log.statement("load_orders", [], ["spark/raw.orders"])
    grafted = run(empty_project, empty_log)

    assert grafted.redirects == {source: RAW_ORDERS}


@pytest.mark.parametrize(
    ("kwargs", "key"),
    [
        ({"compare_model": "source('raw', 'orders')"}, "compare_model"),
        ({"to": "source('raw','orders')"}, "to"),
        ({"models": ["{{ source('raw', 'orders') }}"]}, "models"),
    ],
    ids=["compare_model", "to", "in a list"],
)
def test_any_argument_of_a_test_names_the_model(
    project: Any, log: Any, run: Run, kwargs: Json, key: str
) -> None:
    stg = "model.shop.stg_orders"
    test = project.test("equal", [ORDERS, stg], kind="equality", attached=stg, **kwargs)
    node = run(project, log).manifest["nodes"][test]

    argument = json.dumps(node["test_metadata"]["kwargs"][key])
    assert "ref('raw_orders')" in argument
    assert "source(" not in argument
    assert node["attached_node"] == stg


def test_a_test_attached_to_the_source_is_attached_to_the_model(
    project: Any, log: Any, run: Run
) -> None:
    test = project.test("fresh", [ORDERS], kind="recent", attached=ORDERS)
    assert run(project, log).manifest["nodes"][test]["attached_node"] == RAW_ORDERS


@pytest.mark.parametrize("key", ["pre-hook", "post-hook"])
def test_hooks_name_the_model(project: Any, log: Any, run: Run, key: str) -> None:
    config = project.manifest["nodes"]["model.shop.stg_orders"]["config"]
    config[key] = [{"sql": "analyze {{ source('raw', 'orders') }}", "transaction": True}]
    node = run(project, log).manifest["nodes"]["model.shop.stg_orders"]

    assert node["config"][key][0]["sql"] == "analyze {{ ref('raw_orders') }}"


OTHERS = {
    "metrics": "metric.shop.orders",
    "semantic_models": "semantic_model.shop.orders",
    "saved_queries": "saved_query.shop.orders",
    "functions": "function.shop.count_orders",
}


@pytest.mark.parametrize(("part", "unique_id"), OTHERS.items(), ids=OTHERS)
def test_whatever_depends_on_the_source_depends_on_the_model(
    project: Any, log: Any, run: Run, part: str, unique_id: str
) -> None:
    name = unique_id.rpartition(".")[2]
    project._add(
        part,
        {
            "unique_id": unique_id,
            "name": f"{name}_{part}",
            "resource_type": unique_id.partition(".")[0],
            "package_name": "shop",
            "original_file_path": "models/x.yml",
            "fqn": ["shop", name],
            "config": {},
            "sources": [["raw", "orders"]],
            "refs": [],
            "depends_on": {"nodes": [ORDERS]},
        },
    )
    grafted = run(project, log)

    node = grafted.manifest[part][unique_id]
    assert node["depends_on"]["nodes"] == [RAW_ORDERS]
    assert (node["sources"], node["refs"][0]["name"]) == ([], "raw_orders")
    assert unique_id in grafted.manifest["child_map"][RAW_ORDERS]
    _sound(project, grafted)


SELECTIONS: list[tuple[Any, Any]] = [
    ("source:raw.orders", "raw_orders"),
    ("+source:raw.orders+1", "+raw_orders+1"),
    ("@source:shop.raw.orders", "@raw_orders"),
    ("source:raw.exchange_rates", "source:raw.exchange_rates"),
    ("source:other.raw.orders", "source:other.raw.orders"),
    ("tag:source:raw", "tag:source:raw"),
    ("source:erp", "erp_suppliers"),
    ("source:raw+", {"union": ["source:raw+", "raw_orders+", "raw_customers+"]}),
    (
        {"method": "source", "value": "raw.orders", "children": True},
        {"method": "fqn", "value": "raw_orders", "children": True},
    ),
    (
        {"method": "source", "value": "raw"},
        {
            "union": [
                {"method": "source", "value": "raw"},
                {"method": "fqn", "value": "raw_orders"},
                {"method": "fqn", "value": "raw_customers"},
            ]
        },
    ),
    ({"intersection": ["source:erp.*", "tag:x"]}, {"intersection": ["erp_suppliers", "tag:x"]}),
]


@pytest.mark.parametrize(("before", "after"), SELECTIONS, ids=[str(b)[:40] for b, _ in SELECTIONS])
def test_a_selector_finds_what_it_found(
    project: Any, log: Any, run: Run, before: Any, after: Any
) -> None:
    project.manifest["selectors"] = {"one": {"name": "one", "definition": before}}

    selectors = run(project, log).manifest["selectors"]

    assert selectors["one"]["definition"] == after


# Catalogs.
def _empty(catalog: Json) -> None:
    catalog |= {"nodes": {}, "sources": {}}


def _no_sources(catalog: Json) -> None:
    catalog["sources"] = {}


def _upper(catalog: Json) -> None:
    for entry in (*catalog["nodes"].values(), *catalog["sources"].values()):
        entry["metadata"]["name"] = entry["metadata"]["name"].upper()
        entry["columns"] = {
            name.upper(): {**column, "name": name.upper()}
            for name, column in entry["columns"].items()
        }


def _other_schema(catalog: Json) -> None:
    for entry in (*catalog["nodes"].values(), *catalog["sources"].values()):
        entry["metadata"]["schema"] = "dev_ana"


def _stranger(catalog: Json) -> None:
    catalog["nodes"]["model.shop.gone"] = {**catalog["nodes"]["model.shop.orders"]}


def _bare_entry(catalog: Json) -> None:
    catalog["sources"][ORDERS] = {"metadata": {"type": "BASE TABLE"}, "unique_id": ORDERS}


CATALOGS = [_empty, _no_sources, _upper, _other_schema, _stranger, _bare_entry]


@pytest.mark.parametrize("spoil", CATALOGS)
def test_a_catalog_of_any_kind_is_grafted(
    project: Any, log: Any, run: Run, spoil: Callable[[Json], None]
) -> None:
    spoil(project.catalog)
    grafted = run(project, log)

    entry = grafted.catalog["nodes"][RAW_ORDERS]
    assert entry["metadata"]["type"]
    assert entry["unique_id"] == RAW_ORDERS
    assert ORDERS not in grafted.catalog["sources"]
    _sound(project, grafted)


def test_columns_are_one_whatever_their_case(project: Any, log: Any, run: Run) -> None:
    _upper(project.catalog)
    node = run(project, log).manifest["nodes"][RAW_ORDERS]

    assert list(node["columns"]) == ["id", "AMOUNT"]
    assert node["columns"]["id"]["data_type"] == "int"


# Broken before anybody grafts.
def _test_of_nothing(manifest: Json) -> None:
    manifest["nodes"]["test.shop.not_null_orders_id"]["depends_on"]["nodes"] = ["model.shop.gone"]


def _ref_to_nothing(manifest: Json) -> None:
    manifest["nodes"]["model.shop.orders"]["refs"].append({"name": "gone"})
    manifest["nodes"]["model.shop.orders"]["depends_on"]["nodes"].append("model.shop.gone")


def _child_of_nothing(manifest: Json) -> None:
    manifest["child_map"]["model.shop.orders"].append("model.shop.gone")


def _disabled_and_enabled(manifest: Json) -> None:
    manifest["disabled"]["model.shop.orders"] = [manifest["nodes"]["model.shop.orders"]]


def _no_config(manifest: Json) -> None:
    del manifest["nodes"]["model.shop.stg_orders"]["config"]
    manifest["nodes"]["model.shop.orders"]["config"] = None


def _no_meta(manifest: Json) -> None:
    for node in (*manifest["nodes"].values(), *manifest["sources"].values()):
        for key in ("meta", "tags", "columns", "docs", "quoting", "freshness"):
            node[key] = None


def _no_depends(manifest: Json) -> None:
    manifest["nodes"]["model.shop.customers"]["depends_on"] = None


def _repeated_parents(manifest: Json) -> None:
    manifest["parent_map"]["model.shop.stg_orders"] *= 3


def _maps_of_null(manifest: Json) -> None:
    manifest["parent_map"]["model.shop.customers"] = None
    manifest["child_map"]["model.shop.customers"] = None


def _no_maps(manifest: Json) -> None:
    manifest |= {"parent_map": None, "child_map": None}


def _null_parts(manifest: Json) -> None:
    for part in ("exposures", "groups", "selectors", "disabled", "group_map", "unit_tests"):
        manifest[part] = None


BROKEN = [
    _test_of_nothing,
    _ref_to_nothing,
    _child_of_nothing,
    _disabled_and_enabled,
    _no_config,
    _no_meta,
    _no_depends,
    _repeated_parents,
    _maps_of_null,
    _no_maps,
    _null_parts,
]


@pytest.mark.parametrize("spoil", BROKEN)
def test_what_was_broken_before_is_survived(
    project: Any, log: Any, run: Run, spoil: Callable[[Json], None]
) -> None:
    spoil(project.manifest)
    grafted = run(project, log)

    assert RAW_ORDERS in grafted.manifest["nodes"]
    assert orjson.loads(dump(grafted.manifest)) == grafted.manifest
    _sound(project, grafted)


# Descriptions and configuration of a source.
def test_the_documentation_of_the_group_carries_over(project: Any, log: Any) -> None:
    project.manifest["sources"][ORDERS] |= {
        "source_description": "Everything from the web shop.",
        "source_meta": {"domain": "sales", "pii": "yes"},
        "meta": {"pii": "no", "owner": "Web team"},
        "quoting": {"identifier": True},
        "loader": "fivetran",
        "loaded_at_field": "loaded_at",
        "freshness": {"warn_after": {"count": 12, "period": "hour"}, "error_after": {}},
    }
    checked = {"status": "warn", "max_loaded_at": "2026-11-19T02:00:00Z", "unique_id": ORDERS}
    artifacts = Artifacts(
        project.manifest, project.catalog, "spark", "1.11.16", freshness={ORDERS: checked}
    )
    grafted = graft(artifacts, log.lineage(), GraftOptions("spark"))
    node = grafted.manifest["nodes"][RAW_ORDERS]

    assert node["description"].startswith("orders as they arrive.\n\nEverything from the web shop.")
    assert {key: node["meta"][key] for key in ("domain", "pii", "owner")} == {
        "domain": "sales",
        "pii": "no",
        "owner": "Web team",
    }
    assert node["config"]["quoting"] == {"identifier": True}
    assert node["meta"]["graft"]["loader"] == "fivetran"
    assert node["meta"]["graft"]["freshness"] == {
        "warn_after": {"count": 12, "period": "hour"},
        "loaded_at_field": "loaded_at",
        "status": "warn",
        "max_loaded_at": "2026-11-19T02:00:00Z",
    }
    stats = grafted.catalog["nodes"][RAW_ORDERS]["stats"]
    shown = {stat["label"]: stat["value"] for stat in stats.values() if stat["include"]}
    assert (shown["Freshness"], shown["Newest record"]) == ("warn", "2026-11-19T02:00:00Z")


def test_freshness_is_read_where_there_is_one(project: Any, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(dump(project.manifest))
    assert read(tmp_path).freshness == {}
    result = {"unique_id": ORDERS, "status": "pass"}
    (tmp_path / "sources.json").write_bytes(orjson.dumps({"results": [result, None]}))
    assert read(tmp_path).freshness == {ORDERS: result}
    (tmp_path / "sources.json").write_bytes(b"{")
    damaged = read(tmp_path)
    assert damaged.freshness == {}
    assert any("sources.json" in notice for notice in damaged.notices)


def test_versions_and_ephemeral_models_keep_their_nodes(
    empty_project: Any, empty_log: Any, run: Run
) -> None:
    for version in (1, 2):
        name, alias = f"orders.v{version}", f"orders_v{version}"
        empty_project.model(name, version=version, alias=alias)
        node = empty_project.manifest["nodes"][f"model.shop.{name}"]
        node |= {"name": "orders", "latest_version": 2}
    empty_project.model("helper", materialized="ephemeral")
    known = relations(empty_project.manifest, "spark")
    assert "model.shop.helper" not in known.datasets
    empty_log.statement("report", ["spark/analytics.orders_v2"], ["spark/out.report"])
    grafted = run(empty_project, empty_log)

    node = grafted.manifest["nodes"]["model.python_tasks.out_report"]
    assert node["depends_on"]["nodes"] == ["model.shop.orders.v2"]
    assert node["refs"] == [{"name": "orders", "package": None, "version": 2}]
