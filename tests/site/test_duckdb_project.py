"""A project of another team, on DuckDB: built by dbt, documented by graft, read in a browser.

Its columns come from a table of SQL Server, which a Python task copies, and go through views, a
model without a table, an incremental model, a snapshot, stars, a pivot and names in mixed case.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
from playwright.sync_api import Page, expect

from dbt_graft.collectors.java import java_home
from dbt_graft.lineage import urls
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each
from tests.dbt_process import run_dbt
from tests.site.conftest import Visit, served, watching

Json = dict[str, Any]
NAMESPACE = "duckdb://shop.duckdb"
DESCRIPTION = "With tax; *never* negative."

FILES: dict[str, str] = {
    "dbt_project.yml": """
name: shop
profile: shop
flags: {send_anonymous_usage_stats: false}
seeds: {shop: {+column_types: {vat: "decimal(4, 2)"}}}
""",
    "profiles.yml": """
shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb, schema: main, threads: 1}}}
""",
    "graft.yml": """
collect:
  - sqlserver: {path: logs/, server: "mssql://crm:1433"}
names:
  - {from: "mssql://crm:1433/Stage.dbo.*", to: "dbt/shop.raw.*"}
site: {name: Second shop}
""",
    "seeds/countries.csv": "code,vat\nDE,0.19\nNL,0.21\n",
    "models/schema.yml": f"""
version: 2
sources:
  - {{name: raw, tables: [{{name: Orders}}, {{name: customers}}]}}
models:
  - name: fct_orders
    description: Paid orders.
    columns: [{{name: gross, description: "{DESCRIPTION}", data_tests: [not_null]}}]
exposures:
  - name: board
    type: dashboard
    owner: {{name: Ana}}
    depends_on: [ref('customer_names'), ref('amounts_by_status')]
""",
    "models/stg_orders.sql": """
select
    "OrderID" as order_id,
    "CustomerID" as customer_id,
    "Amount" as amount,
    lower("Status") as status,
    date_trunc('day', "OrderedOn") as ordered_on
from {{ source('raw', 'Orders') }}
""",
    "models/stg_customers.sql": "select * from {{ source('raw', 'customers') }}",
    "models/int_paid.sql": """
{{ config(materialized='ephemeral') }}
select order_id, customer_id, amount, ordered_on from {{ ref('stg_orders') }} where status = 'paid'
""",
    "models/fct_orders.sql": """
{{ config(materialized='incremental', unique_key='order_id') }}
select
    paid.order_id,
    paid.ordered_on,
    customers.name as customer_name,
    paid.amount * (1 + countries.vat) as gross
from {{ ref('int_paid') }} as paid
join {{ ref('stg_customers') }} as customers on paid.customer_id = customers.id
join {{ ref('countries') }} as countries on customers.country = countries.code
{% if is_incremental() %}
where paid.ordered_on > (select max(ordered_on) from {{ this }})
{% endif %}
""",
    "models/all_customers.sql": """
{{ config(materialized='table') }}
select *, upper(name) as shouted from {{ ref('stg_customers') }}
""",
    "models/amounts_by_status.sql": """
{{ config(materialized='table') }}
select *
from (select customer_id, status, amount from {{ ref('stg_orders') }})
pivot (sum(amount) for status in ('paid', 'open') group by customer_id)
""",
    "models/customer_names.sql": """
{{ config(materialized='table', alias='CustomerNames') }}
select
    customer_name as "Customer Name",
    count(distinct order_id) as "Orders",
    sum(gross) as "Gross"
from {{ ref('fct_orders') }}
group by customer_name
""",
    "snapshots/history.yml": """
snapshots:
  - name: customers_history
    relation: ref('stg_customers')
    config: {unique_key: id, strategy: check, check_cols: all}
""",
}
EVENT = """<event name="sql_batch_completed" timestamp="2026-11-20T02:00:00.000Z">
<data name="duration"><value>10</value></data><data name="row_count"><value>3</value></data>
<data name="result"><value>0</value><text>OK</text></data>
<data name="batch_text"><value><![CDATA[
INSERT INTO Stage.dbo.Orders (OrderID, CustomerID, Amount, Status, OrderedOn)
SELECT Id, Customer, Net + Tax, State, At FROM Crm.dbo.OrderFeed WHERE Deleted = 0
]]></value></data>
<action name="client_app_name" package="sqlserver"><value>python_task::copy_orders</value></action>
<action name="database_name" package="sqlserver"><value>Crm</value></action>
<action name="session_id" package="sqlserver"><value>61</value></action>
<action name="event_sequence" package="package0"><value>1</value></action>
</event>
"""
# What the replication of that table leaves in DuckDB.
COPIED = """
create schema raw;
create table raw."Orders" ("OrderID" int, "CustomerID" int, "Amount" decimal(10, 2),
    "Status" text, "OrderedOn" timestamp);
insert into raw."Orders" values (1, 7, 10, 'Paid', now()), (2, 8, 20, 'OPEN', now());
create table raw.customers (id int, name text, country text);
insert into raw.customers values (7, 'Ida', 'DE'), (8, 'Bo', 'NL');
"""

# Node -> column -> where it comes from, worked out by hand from the SQL above.
FEED = "mssql://crm:1433/Crm.dbo.OrderFeed"
EXPECTED: dict[str, dict[str, str]] = {
    "model.python_tasks.raw_Orders": {
        "OrderID": f"{FEED}.Id IDENTITY",
        "CustomerID": f"{FEED}.Customer IDENTITY",
        "Amount": f"{FEED}.Net TRANSFORMATION, {FEED}.Tax TRANSFORMATION",
        "Status": f"{FEED}.State IDENTITY",
        "OrderedOn": f"{FEED}.At IDENTITY",
        "*": f"{FEED}.Deleted FILTER",
    },
    "model.shop.stg_orders": {
        "order_id": "raw.Orders.OrderID IDENTITY",
        "customer_id": "raw.Orders.CustomerID IDENTITY",
        "amount": "raw.Orders.Amount IDENTITY",
        "status": "raw.Orders.Status TRANSFORMATION",
        "ordered_on": "raw.Orders.OrderedOn TRANSFORMATION",
    },
    "model.shop.stg_customers": {
        "id": "raw.customers.id IDENTITY",
        "name": "raw.customers.name IDENTITY",
        "country": "raw.customers.country IDENTITY",
    },
    "model.shop.fct_orders": {
        "order_id": "main.stg_orders.order_id IDENTITY",
        "ordered_on": "main.stg_orders.ordered_on IDENTITY",
        "customer_name": "main.stg_customers.name IDENTITY",
        "gross": "main.countries.vat TRANSFORMATION, main.stg_orders.amount TRANSFORMATION",
        "*": "main.countries.code JOIN, main.stg_customers.country JOIN, "
        "main.stg_customers.id JOIN, main.stg_orders.customer_id JOIN, "
        "main.stg_orders.ordered_on FILTER, main.stg_orders.status FILTER",
    },
    "model.shop.all_customers": {
        "id": "main.stg_customers.id IDENTITY",
        "name": "main.stg_customers.name IDENTITY",
        "country": "main.stg_customers.country IDENTITY",
        "shouted": "main.stg_customers.name TRANSFORMATION",
    },
    "model.shop.amounts_by_status": {
        "customer_id": "main.stg_orders.customer_id IDENTITY",
        "paid": "main.stg_orders.amount AGGREGATION",
        "open": "main.stg_orders.amount AGGREGATION",
    },
    "model.shop.customer_names": {
        "Customer Name": "main.fct_orders.customer_name IDENTITY",
        "Orders": "main.fct_orders.order_id AGGREGATION",
        "Gross": "main.fct_orders.gross AGGREGATION",
        "*": "main.fct_orders.customer_name GROUP_BY",
    },
    "snapshot.shop.customers_history": {
        "id": "main.stg_customers.id IDENTITY",
        "name": "main.stg_customers.name IDENTITY",
        "country": "main.stg_customers.country IDENTITY",
    },
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "JAVA_HOME": java_home(), "DBT_PROFILES_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "dbt_graft", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, built by dbt and then by `graft build`."""
    folder = tmp_path_factory.mktemp("shop")
    for name, text in {**FILES, "logs/night.xml": EVENT}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with duckdb.connect(str(folder / "shop.duckdb")) as database:
        database.execute(COPIED)
    run_dbt(folder, "build")
    run_dbt(folder, "docs", "generate")
    return folder


@pytest.fixture(scope="module")
def summary(project: Path) -> Json:
    """The output of `graft build`."""
    document: Json = orjson.loads(run(project, "build", "--json").stdout)
    return dict(document["data"])


@pytest.fixture(scope="module")
def nodes(project: Path, summary: Json) -> Json:
    """The nodes of the grafted manifest."""
    assert summary["tasks"] == 1
    manifest: Json = orjson.loads((project / ".graft/artifacts/manifest.json").read_bytes())
    return dict(manifest["nodes"])


def edges(node: Json) -> dict[str, set[str]]:
    """Column -> `main.stg_orders.amount AGGREGATION`."""
    own = f"{NAMESPACE}/shop."
    return {
        column: {
            f"{edge['dataset'].removeprefix(own)}.{edge['column']} {edge['subtype']}"
            for edge in found
        }
        for column, found in node["meta"]["graft"]["columns"].items()
    }


@for_each("node_id", EXPECTED)
def test_every_column_has_the_origins_that_the_sql_gives_it(nodes: Json, node_id: str) -> None:
    found = edges(nodes[node_id])
    if node_id.endswith("amounts_by_status"):
        # Which rows a pivoted value is made of is shown in more than one way.
        found = {
            column: {origin for origin in origins if origin.endswith(("IDENTITY", "AGGREGATION"))}
            for column, origins in found.items()
            if column != "*"
        }
    assert found == {column: set(text.split(", ")) for column, text in EXPECTED[node_id].items()}


def test_all_models_were_followed(summary: Json) -> None:
    # Seeds have no columns to follow.
    assert summary["columns"]["reasons"] == {}
    assert summary["columns"]["followed"] == summary["columns"]["of"] > 0


def test_the_team_s_descriptions_are_in_the_artifacts_as_they_were(nodes: Json) -> None:
    columns = nodes["model.shop.fct_orders"]["columns"]
    assert {name: column["description"] for name, column in columns.items()} == {
        "gross": DESCRIPTION
    }


def test_building_again_gives_the_same_bytes(project: Path, nodes: Json) -> None:
    def published() -> dict[str, bytes]:
        return {
            str(path.relative_to(project)): path.read_bytes()
            for folder in (project / ".graft/artifacts", project / "build/site")
            for path in folder.rglob("*")
            if path.is_file() and path.suffix in {".json", ".html", ".md", ".js"}
        }

    before = published()
    run(project, "build", "--quiet")
    assert published() == before


@pytest.fixture
def visit(shared_tab: Page, project: Path, summary: Json) -> Iterator[Visit]:
    """A visit of the published site."""
    with served(project / "build/site") as address, watching(shared_tab, address) as visit:
        yield visit


def page_of(table: str) -> str:
    return urls.dataset_path(DatasetId(NAMESPACE, f"shop.{table}"))


@pytest.mark.browser
def test_dbt_docs_name_the_origins_below_the_description(visit: Visit) -> None:
    page = visit.open("dbt/index.html#!/model/model.shop.fct_orders")
    page.locator("tr.column-row", has_text="gross").click()
    details = page.locator("tr:visible", has=page.locator("em", has_text="never")).first
    expect(details).to_contain_text("With tax; never negative.")
    expect(details).to_contain_text("main.stg_orders.amount (transformation).")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("table", "column", "origin"),
    [
        ("main.CustomerNames", "Gross", "gross"),
        ("main.fct_orders", "gross", "amount"),
        ("main.amounts_by_status", "paid", "amount"),
        ("main.customers_history", "country", "country"),
        ("raw.Orders", "Amount", "Net"),
    ],
)
def test_a_dataset_page_shows_its_columns_with_their_origins(
    visit: Visit, table: str, column: str, origin: str
) -> None:
    page = visit.open(page_of(table))
    row = page.locator("tr[id]", has=page.locator("td:first-child", has_text=column)).first
    expect(row).to_contain_text(origin)
