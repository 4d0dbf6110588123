"""The page of a dataset."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.catalog.build import build, design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.building.build import build as build_lineage
from dbt_graft.lineage.building.event_runs import EVENT_SHAPE
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import NameReason, NameRule, NameRules
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.urls import dataset_path, task_path
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each
from tests.catalog.html_reader import HtmlReader, article, section, text

PageHtml = Callable[[str], str]
ORDERS = "datasets/spark/raw/orders/"
SUPPLIERS = "datasets/spark/raw/suppliers/"
PRODUCTS = "datasets/spark/raw/products/"
CUSTOMERS = "datasets/spark/analytics/customers/"
ORDERS_MART = "datasets/spark/analytics/orders/"
NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)
ACTIVE = "datasets/mssql-sql01-1433/crm/dbo/vw_active_suppliers/"


@for_each(
    "path, heading, texts",
    [
        (
            ORDERS,
            "Written by",
            ["land_shop_files", "CREATE TABLE AS", "17,812", "observed in logs"],
        ),
        (ORDERS, "Read by", ["analytics.stg_orders", "dbt model"]),
        (ORDERS, "Columns", ["order_id", "bigint", "Primary key.", "amount", "own currency"]),
        (ACTIVE, "Columns", ["copied: SupplierFeed.SupplierNo", "masked: SupplierFeed.Email"]),
        (ACTIVE, "Columns", ["Rows are filtered by SupplierFeed.Active", "1 column"]),
        (CUSTOMERS, "Columns", ["may be missing, as it is not compiled (run dbt compile)."]),
        (SUPPLIERS, "Columns", ["copied: dbo.vw_active_suppliers"]),
        (SUPPLIERS, "Columns", ["Rows are joined by dbo.vw_active_suppliers.supplier_id"]),
        (PRODUCTS, "Columns", ["which column from which is not resolved:", "copied: suppliers"]),
        (PRODUCTS, "Columns", ["This list may be incomplete", "column's table"]),
        (
            ORDERS,
            "If this changes",
            ["is removed or renamed", "breaks 1 writer", "amount", "depend on it"],
        ),
        (ORDERS, "Upstream", ["landing/orders"]),
        (ORDERS, "Downstream", ["analytics.orders", "ml.customer_scores"]),
        (ORDERS, "Runs", ["failed", "1 min 5 s", "17,812"]),
        (ORDERS, "Other names", ["file/warehouse/raw.db/orders"]),
        (SUPPLIERS, "Evidence", ["through", "#incoming"]),
        (SUPPLIERS, "Statements", ["MERGE ShopDW.dbo.suppliers", "@P1"]),
        (PRODUCTS, "Statements", ["parsed in part", "a column's table is not known"]),
        (PRODUCTS, "Evidence", ["dbo.PriceList", "task's memory"]),
        (ORDERS_MART, "Written by", ["dbt model orders", "raw.exchange"]),
        (ORDERS_MART, "Read by", ["export_finance_report", "revenue_dashboard", "dashboard"]),
        ("datasets/spark/ml/return_risk/", "Written by", ["rebuild_returns", "failed"]),
    ],
)
def test_a_section_lists(page: PageHtml, path: str, heading: str, texts: list[str]) -> None:
    shown = section(page(path), heading)
    assert [part for part in texts if part not in shown] == []


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        (ORDERS, ["promoted source", "Table", "Spark", "spark/raw.orders", "2 dbt tests"]),
        ("datasets/spark/raw/exchange_rates/", ["No writer found: loaded by something that"]),
        ("datasets/spark/ml/return_risk/", ["Not written: every write by rebuild_returns failed"]),
        (ORDERS_MART, ["Built by dbt from 2 datasets"]),
    ],
)
def test_the_head_shows(page: PageHtml, path: str, texts: list[str]) -> None:
    shown = text(page(path).split("<h2")[0] + "</article>")
    assert [part for part in texts if part not in shown] == []


def test_the_rows_of_the_last_write_are_beside_its_time(page: PageHtml) -> None:
    head = article(page(ORDERS)).split("<h2")[0]
    assert "Written" in head
    assert '<time datetime="2026-11-21T02:15:02Z">2026-11-21 02:15 UTC</time>' in head
    assert "17,812 rows" in head


def test_columns_of_parsed_statements_have_no_note_that_some_may_be_missing(
    page: PageHtml,
) -> None:
    assert "may be incomplete" not in page(ORDERS)


@pytest.mark.parametrize(
    ("path", "link"),
    [
        (ORDERS, "dbt/index.html#!/model/model.python_tasks.orders?g_v=1&g_i=1%2Borders%2B1"),
        (
            "datasets/spark/raw/exchange_rates/",
            "dbt/index.html#!/source/source.shop.raw.exchange_rates"
            "?g_v=1&g_i=1%2Bsource%3Araw.exchange_rates%2B1",
        ),
    ],
)
def test_the_page_links_to_its_node_in_dbt_docs(page: PageHtml, path: str, link: str) -> None:
    links = [attributes["href"] for tag, attributes in HtmlReader(page(path)).tags if tag == "a"]
    assert "../" * path.count("/") + link in links


def test_a_dbt_model_has_a_dataset_page_and_no_task_page(site: Path) -> None:
    assert not list((site / "tasks").glob("model*"))
    assert (site / "datasets/spark/analytics/stg_orders/index.html").is_file()


def test_empty_sections_show_the_next_step(tmp_path: Path) -> None:
    lonely = DatasetId("spark", "raw.lonely")
    build(DescribedLineage(Lineage({lonely: Dataset(lonely)})), SiteSettings(), tmp_path / "site")
    html = (tmp_path / "site" / dataset_path(lonely) / "index.html").read_text("utf-8")
    for heading, found, next_step in (
        ("Lineage", "No lineage found", "under collect: in graft.yml"),
        ("Columns", "No columns found", "Run dbt docs generate"),
        ("Written by", "No writer found", "run graft doctor"),
        ("Read by", "No reader found", "as an exposure"),
    ):
        shown = section(html, heading)
        assert found in shown
        assert next_step in shown
    assert "Open in dbt docs" not in html


def test_a_view_is_defined_on_its_page_and_is_no_task(tmp_path: Path) -> None:
    orders, view, out = (DatasetId("mssql://crm:1433", f"Shop.dbo.{n}") for n in ("o", "v", "x"))
    shape = Shape("s", "tsql", "CREATE VIEW dbo.v AS SELECT a FROM dbo.o", "", Outcome.PARSED)
    reading = Usage("load", view, Direction.READ, (Operation.SELECT,))
    writing = Usage("load", out, Direction.WRITE, (Operation.INSERT,), procedures=("Shop.dbo.p",))
    defined = Definition("Shop.dbo.v", DefinitionKind.VIEW, view, (orders,), shapes=("s",))
    made = (Usage("make", view, Direction.WRITE, (Operation.CREATE_VIEW,)),)
    tasks = {
        "load": Task("load", ("sqlserver",), (reading, writing)),
        "make": Task("make", ("sqlserver",), made),
    }
    flows = (
        Flow(orders, view, defined.name, definition=defined.kind),
        Flow(view, out, "load"),
    )
    datasets = {d: Dataset(d) for d in (orders, view, out)}
    lineage = Lineage(datasets, tasks, flows, {"s": shape}, definitions={defined.name: defined})
    built = build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")

    def shown(path: str, heading: str) -> str:
        return section((tmp_path / "site" / path / "index.html").read_text("utf-8"), heading)

    assert "view definitionfrom dbo.o" in shown(dataset_path(view), "Written by")
    assert "CREATE VIEW dbo.v AS" in shown(dataset_path(view), "Statements")
    assert "dbo.vview" in shown(dataset_path(orders), "Read by")
    assert "in procedure Shop.dbo.p" in shown(task_path("load"), "Writes")
    assert not (tmp_path / "site" / task_path("Shop.dbo.v")).exists()
    assert "written by" not in text(built.index.read_text("utf-8"))


def test_what_the_lists_of_datasets_leave_out_is_counted() -> None:
    hub = DatasetId("spark", "raw.hub")
    targets = [DatasetId("spark", f"raw.t{at:03}") for at in range(312)]
    dbt = DefinitionKind.DBT
    flows = tuple(Flow(hub, target, f"model.{target.name}", definition=dbt) for target in targets)
    lineage = Lineage({d: Dataset(d) for d in (hub, *targets)}, {}, flows)
    shown = rendered(Index(DescribedLineage(lineage)), hub)
    downstream = section(shown, "Downstream")
    assert len(re.findall(r"t\d{3}", downstream)) == 50
    assert "and 262 more" in downstream
    assert "All 312 datasets, 1 step" in downstream


def test_every_reader_is_there_and_those_beyond_fifty_are_folded() -> None:
    orders = DatasetId("spark", "raw.orders")
    read = (Operation.SELECT,)
    tasks = {
        name: Task(name, ("spark",), (Usage(name, orders, Direction.READ, read),))
        for name in (f"task_{n:03}" for n in range(60))
    }
    shown = rendered(Index(DescribedLineage(Lineage({orders: Dataset(orders)}, tasks))), orders)
    readers = section(shown, "Read by")
    assert readers.count("task_") == 60
    folded = shown.partition('id="read-by"')[2].partition("<details")[2]
    assert "10 more readers" in folded
    assert folded.count("task_0") == 20, "ten links, each with an address and a name"


def test_the_newest_rows_are_beside_the_usual_ones_if_they_are_odd() -> None:
    shown = text(rendered(*loaded([1000] * 9 + [12])))
    assert "12 rows (usually 1,000)." in shown
    assert "odd: usually 1,000 rows" in shown
    assert "Rows of the last 10 runs, usually 1,000; 1 odd" in shown
    steady = text(rendered(*loaded([1000] * 10)))
    assert "1,000 rows." in steady
    assert "odd" not in steady


def test_the_error_of_a_failed_write_is_at_the_top() -> None:
    index, orders = loaded([5, 5], error="ArithmeticException: ?")
    head = rendered(index, orders).split("<h2")[0]
    assert "last write failed" in head
    assert "The last run of load failed" in head
    assert "ArithmeticException" in head


def test_links_of_the_one_task_that_writes_it_are_at_the_top() -> None:
    runbook = "https://wiki.example/load"
    index, orders = loaded([1], info=TaskInfo(runbook=runbook, repo="javascript:alert(1)"))
    head = rendered(index, orders).split("<h2")[0]
    assert f'href="{runbook}"' in head
    assert "javascript" not in head


@pytest.mark.parametrize(
    ("namespace", "link"),
    [
        ("spark", 'platforms/spark/index.html">Spark<'),
        ("mssql://crm-db:1433", 'platforms/mssql/index.html">SQL Server<'),
        ("s3a://landing", 'platforms/s3/index.html">Amazon S3<'),
    ],
)
def test_the_platform_leads_to_its_page(namespace: str, link: str) -> None:
    dataset = DatasetId(namespace, "raw.orders")
    assert link in rendered(Index(DescribedLineage(Lineage({dataset: Dataset(dataset)}))), dataset)


def test_most_of_many_columns_that_reach_the_same_are_folded() -> None:
    names = [f"c{number:02}" for number in range(14)]
    html = (
        environment(design_folder() / "templates")
        .from_string('{% import "parts.html.j2" as parts %}{{ parts.own_columns(names) }}')
        .render(names=names)
    )
    shown, folded = html.split("<details")
    assert shown.count("<a ") == 10
    assert "<summary>4 more</summary>" in folded
    assert folded.count("<a ") == 4


def test_what_is_sensitive_is_marked() -> None:
    orders = DatasetId("spark", "raw.orders")
    columns = (Column("Email", "string"), Column("id", "int"))
    lineage = Lineage({orders: Dataset(orders, columns=columns)})
    marks = {"email": ("PII",)}

    def page_of(**found: Any) -> str:
        described = Description(orders, "source.x.raw.orders", "orders", Role.SOURCE, **found)
        return rendered(Index(DescribedLineage(lineage, {orders: described})), orders)

    both = page_of(labels=("confidential",), column_labels=marks)
    assert '<span class="graft-badge graft-badge--warn">confidential</span>' in both
    assert "Email PII" in section(both, "Columns")
    assert "PII in 1 column" in page_of(column_labels=marks)
    assert "graft-badge--warn" not in page_of(labels=("internal", "public"))


def test_names_that_a_rule_replaces_are_other_names_and_evidence() -> None:
    records = Records(
        accesses=tuple(
            Access(
                *("load", "r1", DatasetId("mssql://a", name), Kind.TABLE, direction),
                *(Operation(operation), "s"),
            )
            for name, direction, operation in (
                ("Shop.dbo.src", Direction.READ, "SELECT"),
                ("DW.dbo.Orders", Direction.WRITE, "INSERT"),
            )
        )
    )
    lineage = build_lineage(records, NameRules([NameRule("mssql://a/DW.dbo.*", "spark/raw.*")]))
    shown = rendered(Index(DescribedLineage(lineage)), DatasetId("spark", "raw.orders"))
    assert "mssql://a/DW.dbo.Orders in logs, by a name rule" in section(shown, "Other names")
    assert "observed in logs, name rule" in section(shown, "Evidence")
    reasons = {DatasetId("mssql://a", "DW.dbo.Orders"): NameReason.VIEW}
    of_view = replace(lineage, names=replace(lineage.names, reasons=reasons))
    shown = rendered(Index(DescribedLineage(of_view)), DatasetId("spark", "raw.orders"))
    assert "mssql://a/DW.dbo.Orders view that passes all rows on" in section(shown, "Other names")
    assert "name rule" not in section(shown, "Evidence")


def test_what_a_log_and_an_event_show_is_one_line_with_both() -> None:
    source, target = DatasetId("spark", "raw.a"), DatasetId("spark", "raw.b")
    runs = (
        Run("app-1", "load", "spark", NOW, NOW, Status.OK),
        Run("t1", "load", "airflow", NOW, NOW, Status.OK, job="etl/shop.load"),
    )
    records = Records(
        tuple(
            Access(
                *("load", run.run_id, dataset, Kind.TABLE, direction, operation, shape),
                rows=rows,
                first_at=NOW,
                last_at=NOW,
            )
            for run, shape, rows in zip(runs, ("s", f"{EVENT_SHAPE}1"), (7, 100), strict=True)
            for dataset, direction, operation in (
                (source, Direction.READ, Operation.SELECT),
                (target, Direction.WRITE, Operation.INSERT),
            )
        ),
        runs,
    )
    index = Index(DescribedLineage(build_lineage(records)))
    both = "observed (OpenLineage event, Spark log)"
    shown = rendered(index, target)
    assert section(shown, "Evidence").count(both) == 1
    written = section(shown, "Written by")
    assert (written.count("load"), written.count(both)) == (1, 1)
    assert "7" in written
    assert "100" not in written
    assert section(rendered(index, source), "Read by").count(both) == 1


def rendered(index: Index, dataset: DatasetId) -> str:
    """The content of a dataset's page."""
    html = render(dataset_page(index, dataset), environment(design_folder() / "templates"))
    return f"<article>{html}</article>"


def loaded(
    rows: Sequence[int], error: str = "", info: TaskInfo | None = None
) -> tuple[Index, DatasetId]:
    """A table that a task loads each day, the newest last; after that it fails with an error."""
    orders = DatasetId("spark", "raw.orders")
    start = datetime(2026, 11, 1, tzinfo=UTC)
    ids = tuple(f"r{day:02}" for day in range(len(rows)))
    runs = [
        Run(id_, "load", "spark", start + timedelta(day), start + timedelta(day + 0.1), Status.OK)
        for day, id_ in enumerate(ids)
    ]
    if error:
        late = start + timedelta(len(rows))
        runs.append(Run("late", "load", "spark", late, late, Status.FAILED, error))
    usage = Usage(
        *("load", orders, Direction.WRITE, (Operation.INSERT,)),
        rows=rows[-1],
        engine="spark",
        run_ids=ids,
        run_rows=tuple(rows),
    )
    task = Task("load", ("spark",), (usage,), tuple(reversed(runs)), info or TaskInfo())
    return Index(DescribedLineage(Lineage({orders: Dataset(orders)}, {"load": task}))), orders
