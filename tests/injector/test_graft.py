"""The nodes that a graft makes of tasks and datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.injector.artifacts import Artifacts, dump
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Column, Status

RAW_ORDERS = "model.python_tasks.raw_orders"
RAW_RETURNS = "model.python_tasks.raw_returns"
Run = Callable[..., Grafted]


@pytest.mark.parametrize(
    ("dataset", "role", "node_id"),
    [
        ("spark/raw.orders", Role.PROMOTED, RAW_ORDERS),
        ("spark/raw.suppliers", Role.PROMOTED, "model.python_tasks.erp_suppliers"),
        ("spark/ml.customer_scores", Role.PROMOTED, "model.python_tasks.ml_customer_scores"),
        ("spark/raw.returns", Role.ADDED, RAW_RETURNS),
        ("spark/raw.exchange_rates", Role.SOURCE, "source.shop.raw.exchange_rates"),
        ("spark/analytics.orders", Role.MODEL, "model.shop.orders"),
        ("spark/analytics.product_categories", Role.SEED, "seed.shop.product_categories"),
        ("spark/analytics.orders_snapshot", Role.SNAPSHOT, "snapshot.shop.orders_snapshot"),
        ("landing/orders", Role.NEW_SOURCE, "source.python_tasks.files.landing_orders"),
        (
            "mssql://sql01:1433/Crm.dbo.SupplierFeed",
            Role.NEW_SOURCE,
            "source.python_tasks.mssql.dbo_SupplierFeed",
        ),
    ],
)
def test_each_dataset_has_its_role_and_node(
    grafted: Grafted, dataset: str, role: Role, node_id: str
) -> None:
    description = grafted.descriptions[parse_dataset_id(dataset)]

    assert (description.role, description.node_id) == (role, node_id)
    everything = {**grafted.manifest["nodes"], **grafted.manifest["sources"]}
    assert everything[node_id]["name"] == description.name


def test_a_failed_write_builds_nothing(grafted: Grafted) -> None:
    assert parse_dataset_id("spark/ml.return_risk") not in grafted.descriptions


VIEW = "CREATE VIEW v AS SELECT a FROM o WHERE b = ?"


@pytest.mark.parametrize(
    ("view", "role", "node_id"),
    [
        ("spark/raw.exchange_rates", Role.PROMOTED, "model.python_tasks.raw_exchange_rates"),
        ("spark/raw.v_orders", Role.ADDED, "model.python_tasks.raw_v_orders"),
    ],
)
def test_a_view_is_a_model_of_its_definition(
    project: Any, log: Any, run: Run, view: str, role: Role, node_id: str
) -> None:
    log.task("Shop.dbo.v", engine="view")
    log.statement("Shop.dbo.v", ["spark/raw.orders"], [view], "CREATE VIEW", text=VIEW)
    grafted = run(project, log)
    description = grafted.descriptions[parse_dataset_id(view)]
    assert (description.role, description.node_id) == (role, node_id)
    node = grafted.manifest["nodes"][node_id]
    assert (node["language"], node["config"]["materialized"]) == ("sql", "view")
    assert node["raw_code"] == f"{VIEW}\n"
    assert node["depends_on"]["nodes"] == [RAW_ORDERS]
    assert "View on [raw.orders](../datasets/spark/raw/orders/)." in node["description"]
    assert "view" in node["tags"]
    assert "ython" not in f"{node['raw_code']}{node['description']}{node['meta']}{node['tags']}"


def test_a_task_that_makes_a_view_comes_before_its_definition(
    project: Any, log: Any, run: Run
) -> None:
    log.task("Shop.dbo.v", engine="view")
    log.statement("make_view", ["spark/raw.orders"], ["spark/raw.v"], "CREATE VIEW", text=VIEW)
    log.statement("Shop.dbo.v", ["spark/raw.orders"], ["spark/raw.v"], "CREATE VIEW", text=VIEW)
    grafted = run(project, log)
    (built,) = (b for b in grafted.report.added if b.name == "raw_v")
    assert built.tasks == ("make_view",)
    assert built not in grafted.report.shared


def test_what_dbt_builds_as_a_view_has_no_second_writer(project: Any, log: Any, run: Run) -> None:
    before = run(project, log).report
    log.task("analytics.stg_orders", engine="view")
    log.statement(
        "analytics.stg_orders", ["spark/raw.orders"], ["spark/analytics.stg_orders"], "CREATE VIEW"
    )
    assert run(project, log).report.second_writers == before.second_writers


def test_a_model_lists_the_procedures_that_write_it(project: Any, log: Any, run: Run) -> None:
    log.statement("call_it", [], ["spark/raw.called"], procedure="Shop.dbo.*load*")
    node = run(project, log).manifest["nodes"]["model.python_tasks.raw_called"]
    assert node["meta"]["graft"]["procedures"] == ["Shop.dbo.*load*"]
    assert r"(INSERT) in procedure Shop.dbo.\*load\*." in node["description"]


def test_the_sandwich_is_mart_python_mart(grafted: Grafted) -> None:
    nodes = grafted.manifest["nodes"]
    scores = nodes["model.python_tasks.ml_customer_scores"]

    assert scores["depends_on"]["nodes"] == ["model.shop.customers"]
    assert scores["refs"] == [{"name": "customers", "package": None, "version": None}]
    assert scores["unique_id"] in nodes["model.shop.customer_segments"]["depends_on"]["nodes"]
    assert scores["unique_id"] in grafted.manifest["child_map"]["model.shop.customers"]


def test_a_promoted_model_keeps_the_documentation_of_the_source(grafted: Grafted) -> None:
    node = grafted.manifest["nodes"][RAW_ORDERS]

    assert node["description"].startswith("orders as they arrive.\n\n")
    assert node["columns"]["id"]["description"] == "The **key**."
    assert node["columns"]["id"]["data_type"] == "int"
    assert node["meta"]["pii"] == "no"
    assert (node["schema"], node["alias"]) == ("raw", "orders")


def test_tags_name_the_task_its_engine_and_what_its_team_wrote(grafted: Grafted) -> None:
    assert grafted.manifest["nodes"][RAW_ORDERS]["tags"] == [
        "landed",
        "python_task",
        "spark",
        "task:land_shop_files",
        "daily",
    ]


def test_a_tag_that_is_no_string_does_not_travel(project: Any, log: Any, run: Run) -> None:
    project.manifest["sources"]["source.shop.raw.orders"]["tags"] = ["landed", 7]

    tags = run(project, log).manifest["nodes"][RAW_ORDERS]["tags"]

    assert "landed" in tags
    assert all(isinstance(tag, str) for tag in tags)


def test_the_owner_is_shown_once_and_known_to_programs(grafted: Grafted) -> None:
    node = grafted.manifest["nodes"][RAW_ORDERS]

    # The docs page lists `meta` below the owner of the group.
    assert "owner" not in node["meta"]
    assert node["meta"]["graft"]["owners"] == ["platform"]
    assert node["group"] == "platform"
    group = grafted.manifest["groups"]["group.python_tasks.platform"]
    assert group["owner"] == {"email": None, "name": "platform"}
    assert RAW_ORDERS in grafted.manifest["group_map"]["platform"]
    assert grafted.catalog["nodes"][RAW_ORDERS]["metadata"]["owner"] == "platform"
    assert grafted.descriptions[parse_dataset_id("spark/raw.orders")].owner == "platform"


def test_the_description_links_task_and_catalog_page(grafted: Grafted) -> None:
    text = grafted.manifest["nodes"][RAW_ORDERS]["description"]

    assert "[land_shop_files](../tasks/land_shop_files/)" in text
    assert "[code](https://git.example/shop)" in text
    # Markdown runs lines of one paragraph together.
    assert [line for line in text.split("\n\n") if "\n" in line] == []
    assert "Last run 2026-11-20 02:15 UTC: ok, 1,234 rows written." in text.split("\n\n")
    assert text.endswith("[Catalog page](../datasets/spark/raw/orders/)")


@pytest.mark.parametrize(
    ("part", "node_id", "page"),
    [
        ("nodes", "model.shop.orders", "../datasets/spark/analytics/orders/"),
        (
            "nodes",
            "seed.shop.product_categories",
            "../datasets/spark/analytics/product_categories/",
        ),
        ("sources", "source.shop.raw.exchange_rates", "../datasets/spark/raw/exchange_rates/"),
        ("sources", "source.python_tasks.files.landing_orders", "../datasets/landing/orders/"),
    ],
)
def test_every_dataset_links_to_its_catalog_page(
    grafted: Grafted, part: str, node_id: str, page: str
) -> None:
    text = grafted.manifest[part][node_id]["description"]

    assert text.endswith(f"\n\n[Catalog page]({page})")


def test_texts_for_other_faces_are_peoples_own(grafted: Grafted) -> None:
    description = grafted.descriptions[parse_dataset_id("spark/raw.orders")]

    assert description.text == "orders as they arrive."
    assert description.columns["id"] == "The **key**."
    assert len(description.tests) == 3


def test_a_new_models_columns_come_from_the_log(grafted: Grafted) -> None:
    columns = grafted.manifest["nodes"][RAW_RETURNS]["columns"]
    entry = grafted.catalog["nodes"][RAW_RETURNS]

    assert {name: column["data_type"] for name, column in columns.items()} == {
        "id": "int",
        "reason": "string",
    }
    assert [column["index"] for column in entry["columns"].values()] == [1, 2]
    assert entry["metadata"]["type"] == "TABLE"


def test_the_code_is_the_statements_that_write(grafted: Grafted) -> None:
    node = grafted.manifest["nodes"]["model.python_tasks.erp_suppliers"]

    assert node["language"] == "python"
    assert "MERGE ShopDW.dbo.suppliers USING #incoming" in node["raw_code"]
    compile(node["raw_code"], node["path"], "exec")


def test_stats_show_runs_and_rows(grafted: Grafted) -> None:
    stats = grafted.catalog["nodes"][RAW_ORDERS]["stats"]

    shown = {stat["label"]: stat["value"] for stat in stats.values() if stat["include"]}
    assert shown == {
        "Last run": "2026-11-20 02:15 UTC",
        "Rows written": "1,234",
        "Runs in 30 days": "1",
    }


def test_a_task_that_only_reads_is_an_exposure(grafted: Grafted) -> None:
    node = grafted.manifest["exposures"]["exposure.python_tasks.export_finance_report"]

    assert node["depends_on"]["nodes"] == ["model.shop.customer_segments", "model.shop.orders"]
    assert (node["type"], node["label"]) == ("application", "export_finance_report")
    assert grafted.manifest["parent_map"][node["unique_id"]] == node["depends_on"]["nodes"]
    consumers = {consumer.name: consumer.kind for consumer in grafted.consumers}
    assert consumers == {"revenue_dashboard": "dashboard", "export_finance_report": "task"}


def test_a_task_whose_writes_all_failed_is_reported_and_is_no_exposure(
    project: Any, empty_log: Any, run: Run
) -> None:
    empty_log.statement("doomed", ["spark/raw.orders"], ["spark/x.y"], status=Status.FAILED)

    grafted = run(project, empty_log)

    assert not grafted.report.exposures
    assert "doomed" in grafted.report.notices[0]


def test_what_dbt_builds_keeps_its_model_and_the_second_writer_is_reported(
    project: Any, log: Any, run: Run
) -> None:
    log.statement("patch_orders", ["spark/raw.orders"], ["spark/analytics.orders"], "MERGE")
    log.statement("patch_seed", [], ["spark/analytics.product_categories"])

    grafted = run(project, log)

    writers = {built.node_id: built.tasks for built in grafted.report.second_writers}
    assert writers == {
        "model.shop.orders": ("patch_orders",),
        "seed.shop.product_categories": ("patch_seed",),
    }
    node = grafted.manifest["nodes"]["model.shop.orders"]
    assert node["depends_on"] == project.manifest["nodes"]["model.shop.orders"]["depends_on"]
    assert "[patch_orders](../tasks/patch_orders/), outside dbt" in node["description"]
    assert "source.shop.lookup.product_categories" in grafted.manifest["sources"]


def test_two_tasks_that_write_one_table_are_both_listed_and_reported(
    project: Any, log: Any, run: Run
) -> None:
    log.task("correct_orders", engine="sqlserver")
    log.statement("correct_orders", ["landing/fixes"], ["spark/raw.ORDERS"], "UPDATE")

    grafted = run(project, log)

    (shared,) = grafted.report.shared
    assert shared.tasks == ("correct_orders", "land_shop_files")
    node = grafted.manifest["nodes"][RAW_ORDERS]
    assert {"task:correct_orders", "task:land_shop_files"} <= set(node["tags"])
    assert node["depends_on"]["nodes"] == [
        "source.python_tasks.files.landing_fixes",
        "source.python_tasks.files.landing_orders",
    ]
    assert "[correct_orders]" in node["description"]
    assert grafted.manifest["nodes"][RAW_ORDERS]["meta"]["graft"]["tasks"] == list(shared.tasks)


def test_a_table_read_and_written_by_one_task_gets_no_edge_to_itself(
    project: Any, log: Any, run: Run
) -> None:
    log.statement("dedupe", ["spark/raw.returns"], ["spark/raw.returns"])

    grafted = run(project, log)

    assert ("dedupe", "spark/raw.returns") in {
        (read.task, str(read.dataset)) for read in grafted.report.self_reads
    }
    assert RAW_RETURNS not in grafted.manifest["parent_map"][RAW_RETURNS]


def test_mixed_case_is_one_dataset_in_dbts_spelling(grafted: Grafted) -> None:
    (built,) = [b for b in grafted.report.promoted if b.node_id == RAW_ORDERS]

    assert str(built.dataset) == "spark/raw.orders"


def test_the_lineage_has_logs_and_dbt_in_one(grafted: Grafted) -> None:
    graph = grafted.lineage.dataset_graph()

    upstream = graph.upstream(parse_dataset_id("spark/analytics.customer_segments"))
    assert {str(dataset) for dataset in upstream} == {
        "spark/ml.customer_scores",
        "spark/analytics.customers",
        "spark/raw.customers",
        "landing/customers",
    }
    found = grafted.lineage.datasets[parse_dataset_id("spark/raw.orders")]
    assert found.columns == (Column("id", "int"), Column("amount", "decimal(10,2)"))
    assert found.first_seen


def test_without_a_catalog_the_graft_is_complete(project: Any, log: Any) -> None:
    empty = {"metadata": {}, "nodes": {}, "sources": {}}
    artifacts = Artifacts(project.manifest, empty, "spark", "1.11.16", ("no catalog.json",))

    grafted = graft(artifacts, log.lineage(), GraftOptions("spark"))

    assert grafted.catalog["nodes"][RAW_ORDERS]["metadata"] == {
        "comment": None,
        "type": "TABLE",
        "schema": "raw",
        "name": "orders",
        "database": None,
        "owner": "platform",
    }
    assert "no catalog.json" in grafted.report.notices
    dataset = grafted.lineage.datasets[parse_dataset_id("spark/raw.orders")]
    assert [column.name for column in dataset.columns] == ["id"]


def test_no_two_nodes_share_a_name_through_the_graft(project: Any, log: Any, run: Run) -> None:
    # dbt has models of these names already.
    project.model("raw_orders")
    project.model("RAW_returns")
    project.model("export_finance_report")

    grafted = run(project, log)

    added = {
        **{key: grafted.manifest["nodes"][key] for key in (*grafted.redirects.values(),)},
        **{b.node_id: grafted.manifest["nodes"][b.node_id] for b in grafted.report.added},
        **{r.node_id: grafted.manifest["sources"][r.node_id] for r in grafted.report.new_sources},
        **{r.node_id: grafted.manifest["exposures"][r.node_id] for r in grafted.report.exposures},
    }
    names = [node["name"].casefold() for node in added.values()]
    before = {
        node["name"].casefold()
        for part in ("nodes", "sources", "exposures", "unit_tests")
        for node in project.manifest[part].values()
    }
    assert len(added) == 10
    assert len(set(names)) == len(names)
    assert before.isdisjoint(names)


def test_the_same_inputs_give_the_same_bytes(project: Any, log: Any, run: Run) -> None:
    first, second = run(project, log), run(project, log)

    assert dump(first.manifest) == dump(second.manifest)
    assert dump(first.catalog) == dump(second.catalog)
    assert dump(first.report.to_json()) == dump(second.report.to_json())


def test_the_report_names_datasets_as_text(grafted: Grafted) -> None:
    report = grafted.report.to_json()

    first = grafted.report.promoted[0].dataset
    assert report["promoted"][0]["dataset"] == f"{first.namespace}/{first.name}"


def test_a_grafted_manifest_is_refused(grafted: Grafted, log: Any) -> None:
    artifacts = Artifacts(grafted.manifest, grafted.catalog, "spark", "1.11.16")

    with pytest.raises(GraftError, match="is grafted already"):
        graft(artifacts, log.lineage(), GraftOptions("spark"))


def test_a_declared_task_is_no_python_task(project: Any, log: Any) -> None:
    log.task("upload", engine="declared")
    log.statement("upload", ["sftp/orders"], ["spark/raw.uploads"], text="")

    grafted = graft(project.artifacts(), log.lineage(), GraftOptions("spark"))

    node = grafted.manifest["nodes"]["model.python_tasks.raw_uploads"]
    assert node["tags"] == ["declared", "task:upload"]
    assert (node["language"], node["docs"]["node_color"]) == ("sql", None)
    assert node["raw_code"] == "-- Declared task upload\n"
    assert "Written by upload, as declared." in node["description"]
    source = grafted.manifest["sources"]["source.python_tasks.sftp.sftp_orders"]
    assert source["tags"] == []
