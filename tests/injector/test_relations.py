"""dbt's nodes as datasets, and dbt's own lineage."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.injector.dbt_lineage import exposures, own_lineage
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.platform import Connection, platform
from dbt_graft.injector.relations import relations, short_names
from dbt_graft.injector.report import AmbiguousName
from dbt_graft.lineage.dataset import Kind, parse_dataset_id
from dbt_graft.lineage.definition import DefinitionColumns, DefinitionKind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, ColumnEdge, EdgeType, Subtype


@pytest.mark.parametrize(
    ("fields", "dataset"),
    [
        ({"identifier": "orders"}, "spark/raw.orders"),
        ({"identifier": "Orders_V2"}, "spark/raw.Orders_V2"),
        ({"identifier": None}, "spark/raw.orders"),
        ({"database": "Shop", "identifier": "orders"}, "spark/Shop.raw.orders"),
        ({"schema": None, "identifier": "orders"}, "spark/orders"),
    ],
)
def test_a_source_is_the_dataset_of_its_relation(
    empty_project: Any, fields: dict[str, Any], dataset: str
) -> None:
    source = empty_project.source("raw", "orders")
    empty_project.manifest["sources"][source] |= fields

    found = relations(empty_project.manifest, "spark")

    assert str(found.datasets[source]) == dataset


def test_names_match_without_case(empty_project: Any) -> None:
    source = empty_project.source("raw", "orders", schema="RAW", identifier="Orders")

    found = relations(empty_project.manifest, "spark")

    assert found.sources[parse_dataset_id("spark/raw.orders")] == (source,)


def test_a_model_is_known_by_its_alias(empty_project: Any) -> None:
    model = empty_project.model("orders_v2", alias="orders")

    found = relations(empty_project.manifest, "spark")

    assert found.builders[parse_dataset_id("spark/analytics.orders")] == model


def test_a_seed_that_builds_a_source_stands_for_the_dataset(project: Any) -> None:
    found = relations(project.manifest, "spark")

    dataset = parse_dataset_id("spark/analytics.product_categories")
    assert found.node_of(dataset) == "seed.shop.product_categories"


def test_the_projects_own_source_comes_before_an_installed_packages(empty_project: Any) -> None:
    empty_project.source("a_raw", "orders", package_name="a_package")
    own = empty_project.source("raw", "orders")

    found = relations(empty_project.manifest, "spark")

    assert found.node_of(parse_dataset_id("spark/raw.orders")) == own


def test_flows_of_dbt_go_through_ephemeral_models(project: Any) -> None:
    known = relations(project.manifest, "spark")
    lineage = own_lineage(project.manifest, project.catalog, known)

    flows = {(str(f.source), str(f.target)) for f in lineage.flows if f.task == "model.shop.orders"}

    assert flows == {
        ("spark/raw.customers", "spark/analytics.orders"),
        ("spark/analytics.stg_orders", "spark/analytics.orders"),
    }


def test_each_model_seed_and_snapshot_is_a_definition_of_dbts(project: Any) -> None:
    lineage = own_lineage(project.manifest, project.catalog, relations(project.manifest, "spark"))

    assert lineage.tasks == {}
    assert {definition.kind for definition in lineage.definitions.values()} == {DefinitionKind.DBT}
    assert {flow.definition for flow in lineage.flows} == {DefinitionKind.DBT}
    assert set(lineage.definitions) == {
        "model.shop.stg_orders",
        "model.shop.orders",
        "model.shop.customers",
        "model.shop.customer_segments",
        "model.shop.supplier_margins",
        "seed.shop.product_categories",
        "snapshot.shop.orders_snapshot",
    }
    assert lineage.definitions["model.shop.stg_orders"].operation is Operation.CREATE_VIEW


def test_definitions_have_their_column_edges_and_gaps(project: Any) -> None:
    known = relations(project.manifest, "spark")
    target, task = parse_dataset_id("spark/analytics.orders"), "model.shop.orders"
    named = parse_dataset_id("spark/other.place")
    identity = (EdgeType.DIRECT, Subtype.IDENTITY)
    edge = ColumnEdge(task, target, "id", named, "id", *identity, masking=False, shape_id="1")
    followed = DefinitionColumns({task: (edge,)}, {task: "a reason"})

    lineage = own_lineage(project.manifest, project.catalog, known, followed=followed)
    part = own_lineage(
        project.manifest, project.catalog, known, [parse_dataset_id("spark/raw.orders")], followed
    )

    assert lineage.column_edges == (edge,)
    assert lineage.definitions[task].gap == "a reason"
    assert lineage.definitions["model.shop.customers"].gap is None
    # A table that the SQL names without `ref` is an input like the others.
    assert named in lineage.definitions[task].reads
    assert named in lineage.datasets
    assert named in {flow.source for flow in lineage.flows}
    assert part.column_edges == ()


def test_datasets_have_the_warehouses_columns_in_their_order(project: Any) -> None:
    entry = project.catalog["nodes"]["model.shop.stg_orders"]
    entry["columns"] = dict(reversed(entry["columns"].items()))
    lineage = own_lineage(project.manifest, project.catalog, relations(project.manifest, "spark"))

    dataset = lineage.datasets[parse_dataset_id("spark/analytics.stg_orders")]

    assert dataset.kind is Kind.VIEW
    assert dataset.columns == (Column("id", "int"), Column("amount", "decimal(10,2)"))


def test_an_exposure_reads_through_metrics_and_ephemeral_models(project: Any) -> None:
    project.manifest["metrics"]["metric.shop.headcount"] = {
        "unique_id": "metric.shop.headcount",
        "resource_type": "metric",
        "depends_on": {"nodes": ["model.shop.stg_customers"]},
    }
    exposure = project.manifest["exposures"]["exposure.shop.revenue_dashboard"]
    exposure["depends_on"]["nodes"] = ["metric.shop.headcount"]

    (consumer,) = exposures(project.manifest, relations(project.manifest, "spark"))

    assert [str(dataset) for dataset in consumer.reads] == ["spark/raw.customers"]
    assert (consumer.kind, consumer.owner, consumer.url) == (
        "dashboard",
        "Ana",
        "https://bi.example/revenue",
    )


@pytest.mark.parametrize(
    ("named", "columns"),
    [
        (["stg_orders.amount"], ["amount"]),
        (["ANALYTICS.Stg_Orders.ID", "elsewhere.x", "amount", 7], ["ID"]),
        ("stg_orders.amount", []),
        (None, []),
    ],
)
def test_an_exposure_names_columns_in_its_meta(
    project: Any, named: object, columns: list[str]
) -> None:
    exposure = project.manifest["exposures"]["exposure.shop.revenue_dashboard"]
    exposure["depends_on"]["nodes"] = ["model.shop.stg_orders"]
    exposure["config"] = {"meta": {"columns": named}}

    (consumer,) = exposures(project.manifest, relations(project.manifest, "spark"))

    dataset = parse_dataset_id("spark/analytics.stg_orders")
    assert consumer.columns == tuple((dataset, column) for column in columns)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("spark/raw.orders", "spark/raw.orders"),
        ("spark/RAW.Orders", "spark/raw.orders"),
        ("SPARK/analytics.ORDERS", "spark/analytics.orders"),
        ("spark/other.Table", "spark/other.Table"),
    ],
)
def test_a_relation_goes_by_the_spelling_of_dbt(project: Any, written: str, named: str) -> None:
    names = short_names(project.manifest, relations(project.manifest, "spark"))
    assert str(names(parse_dataset_id(written))) == named


@pytest.mark.parametrize(
    ("adapter", "written", "named"),
    [
        ("duckdb", "dbt/raw.orders", "shop-db/raw.orders"),
        ("duckdb", "DBT/raw.unknown", "shop-db/raw.unknown"),
        # Spark does not write into DuckDB: its table is another one.
        ("duckdb", "spark/raw.orders", "spark/raw.orders"),
        ("databricks", "spark/raw.orders", "shop-db/raw.orders"),
        ("databricks", "spark/raw.unknown", "shop-db/raw.unknown"),
    ],
)
def test_other_names_of_dbts_platform_are_its_namespace(
    project: Any, adapter: str, written: str, named: str
) -> None:
    where = platform(adapter, namespace="shop-db")
    names = short_names(project.manifest, relations(project.manifest, "shop-db"), where)
    assert str(names(parse_dataset_id(written))) == named


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("spark/RAW.orders", "shop-db/raw.orders"),
        ("spark/raw.unknown", "spark/raw.unknown"),
        ("other/raw.orders", "other/raw.orders"),
    ],
)
def test_a_rule_may_name_a_relation_in_a_former_namespace(
    project: Any, written: str, named: str
) -> None:
    where = platform("duckdb", namespace="shop-db")
    names = short_names(project.manifest, relations(project.manifest, "shop-db"), where)
    assert str(names.formerly(parse_dataset_id(written), ("spark",))) == named


@pytest.fixture
def shop(empty_project: Any) -> Any:
    """A project in DuckDB: the schema `main` in one database, `old` in two."""
    for table, schema, database in (
        ("stg", "main", "Shop"),
        ("a", "old", "Shop"),
        ("b", "old", "archive"),
        ("orders", "old", "archive"),
    ):
        source = empty_project.source("raw", table, schema=schema)
        empty_project.manifest["sources"][source]["database"] = database
    return empty_project


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("dbt/main.stg", "duckdb/Shop.main.stg"),
        ("dbt/main.scores", "duckdb/Shop.main.scores"),
        ("duckdb/MAIN.scores", "duckdb/Shop.MAIN.scores"),
        ("dbt/shop.main.scores", "duckdb/shop.main.scores"),
        # Of several databases the one that has the relation; else it may be in any.
        ("dbt/old.orders", "duckdb/archive.old.orders"),
        ("dbt/old.scores", "duckdb/old.scores"),
        # A schema that dbt does not have is in the database of its connection.
        ("dbt/ml.scores", "duckdb/warehouse.ml.scores"),
        ("spark/main.scores", "spark/main.scores"),
        ("dbt/scores", "duckdb/scores"),
    ],
)
def test_a_name_without_a_database_has_the_one_of_its_schema(
    shop: Any, written: str, named: str
) -> None:
    connection = Connection({"type": "duckdb", "path": "/data/warehouse.duckdb"})
    where = platform("duckdb", connection, "duckdb")
    names = short_names(shop.manifest, relations(shop.manifest, "duckdb"), where)
    assert str(names(parse_dataset_id(written))) == named


def test_a_name_that_may_be_in_several_databases_is_ambiguous(shop: Any, log: Any) -> None:
    log.statement("a_writes", ["duckdb/shop.main.stg"], ["duckdb/old.scores"])
    grafted = graft(shop.artifacts(), log.lineage(), GraftOptions("duckdb"))
    assert (
        AmbiguousName(
            parse_dataset_id("duckdb/old.scores"),
            ("duckdb/archive.old.scores", "duckdb/Shop.old.scores"),
        )
        in grafted.report.ambiguous
    )


def test_a_name_that_nothing_places_is_ambiguous_beside_a_full_one(shop: Any, log: Any) -> None:
    log.statement("a_writes", ["duckdb/shop.main.stg"], ["duckdb/shop.new.scores"])
    log.statement("b_reads", ["duckdb/new.scores"], ["duckdb/shop.main.report"])
    grafted = graft(shop.artifacts(), log.lineage(), GraftOptions("duckdb"))
    [found] = grafted.report.ambiguous
    assert (str(found.dataset), found.candidates) == (
        "duckdb/new.scores",
        ("duckdb/shop.new.scores",),
    )


def test_a_file_that_the_sql_of_a_model_reads_is_an_input_and_a_path(empty_project: Any) -> None:
    model = empty_project.model("payments")
    file = parse_dataset_id("file/shop/payments.csv")
    found = relations(empty_project.manifest, "duckdb")

    lineage = own_lineage(
        empty_project.manifest,
        empty_project.catalog,
        found,
        followed=DefinitionColumns(reads={model: (file,)}),
    )

    assert [(flow.source, flow.task) for flow in lineage.flows] == [(file, model)]
    assert lineage.datasets[file].kind is Kind.PATH
