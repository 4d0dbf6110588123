"""What the pages say, at which address, with hostile strings in every place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dbt_graft.catalog.build import Settings, build
from dbt_graft.catalog.markup import printable
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.urls import dataset_path, owner_path, tag_path, task_path
from dbt_graft.lineage.usage import Usage

Read = Callable[[str], str]
ORDERS = "datasets/spark/raw/orders/"
SUPPLIERS = "datasets/spark/raw/suppliers/"
ACTIVE = "datasets/mssql-sql01-1433/crm/dbo/vw_active_suppliers/"


class _Reader(HTMLParser):
    """The text, links and headings of a page's article."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.scripts = ""
        self.tags: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts += data
        else:
            self.text += data


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


def _article(html: str) -> str:
    return html[html.index("<article") : html.index("</article>")]


def _section(html: str, heading: str) -> str:
    """The text below a heading."""
    parts = re.split(r"<h2[^>]*>([^<]*)", _article(html))
    return _read(parts[parts.index(heading) + 1]).text


@pytest.mark.parametrize(
    "path",
    [
        "",
        "datasets/",
        "datasets/spark/",
        "datasets/spark/raw/",
        ORDERS,
        "datasets/mssql-sql01-1433/crm/dbo/vw_active_suppliers/",
        "datasets/file/landing/orders/",
        "tasks/",
        "tasks/load_suppliers/",
        "tasks/revenue_dashboard/",
        "tags/",
        "tags/nightly/",
        "owners/",
        "owners/data-platform/",
        "gaps/",
    ],
)
def test_a_page_stands_at_its_permanent_address(site: Path, path: str) -> None:
    assert (site / path / "index.html").is_file()


def test_a_dbt_model_has_no_task_page_but_its_table_has_one(site: Path) -> None:
    assert not list((site / "tasks").glob("model*"))
    assert (site / "datasets/spark/analytics/stg_orders/index.html").is_file()


@pytest.mark.parametrize(
    ("path", "section", "words"),
    [
        (ORDERS, "Written by", ["land_shop_files", "CREATE TABLE AS", "17,812", "seen in a log"]),
        (ORDERS, "Read by", ["analytics.stg_orders", "dbt model"]),
        (ORDERS, "Columns", ["order_id", "bigint", "Primary key.", "amount", "own currency"]),
        (ACTIVE, "Columns", ["dbo.SupplierFeed.SupplierNo as it is", "Email masked"]),
        (ACTIVE, "Columns", ["depends on:", "dbo.SupplierFeed.Active filters", "1 column"]),
        (SUPPLIERS, "Columns", ["dbo.vw_active_suppliers.supplier_id as it is"]),
        (SUPPLIERS, "Columns", ["depends on:", "vw_active_suppliers.supplier_id joins"]),
        ("datasets/spark/raw/products/", "Columns", ["is not known:", "raw.suppliers as it"]),
        ("datasets/spark/raw/products/", "Columns", ["Something may be missing", "column's table"]),
        (ORDERS, "Upstream", ["landing/orders"]),
        (ORDERS, "Downstream", ["analytics.orders", "ml.customer_scores"]),
        (ORDERS, "Runs", ["land_shop_files", "failed", "1 min 5 s"]),
        (ORDERS, "Other names", ["file//warehouse/raw.db/orders"]),
        ("datasets/spark/raw/suppliers/", "How we know", ["through", "#incoming"]),
        ("datasets/spark/raw/suppliers/", "Statements", ["MERGE ShopDW.dbo.suppliers", "@P1"]),
        ("datasets/spark/raw/products/", "How we know", ["dbo.PriceList", "task's memory"]),
        ("datasets/spark/analytics/orders/", "Written by", ["dbt model orders", "raw.exchange"]),
        (
            "datasets/spark/analytics/orders/",
            "Read by",
            ["export_finance_report", "revenue_dashboard", "dashboard"],
        ),
        ("datasets/spark/ml/return_risk/", "Written by", ["rebuild_returns", "failed"]),
        ("tasks/load_products/", "Reads", ["dbo.PriceList", "raw.suppliers"]),
        ("tasks/load_products/", "Writes", ["raw.products", "INSERT", "UPDATE"]),
        ("tasks/load_products/", "Other tasks", ["load_suppliers"]),
        ("tasks/export_finance_report/", "Writes", ["It writes nothing"]),
        ("tasks/revenue_dashboard/", "Reads", ["analytics.supplier_margins"]),
        ("gaps/", "Pieces of logs", ["the event is cut off", "event 17", '<event name="rpc_comp']),
        ("gaps/", "Statements", ["EXEC sys.sp_something", "is in no log", "failed", "partial"]),
        ("tags/nightly/", "Tasks", ["land_shop_files"]),
        ("tags/nightly/", "Datasets", ["raw.orders", "analytics.orders"]),
        ("owners/finance/", "Tasks", ["revenue_dashboard"]),
        ("", "What needs care", ["rebuild_returns", "2 pieces", "2 statements"]),
        ("", "Find your way", ["SQL Server", "data-platform", "nightly"]),
    ],
)
def test_a_section_tells_what_is_known(
    page: Read, path: str, section: str, words: list[str]
) -> None:
    told = _section(page(path), section)
    assert [word for word in words if word not in told] == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (ORDERS, ["promoted source", "Table", "Spark", "spark/raw.orders", "2 dbt tests"]),
        ("datasets/spark/raw/exchange_rates/", ["No task we know of writes it: it comes from"]),
        ("datasets/spark/ml/return_risk/", ["tried to write it and failed"]),
        ("datasets/spark/analytics/orders/", ["Built by dbt from 2 datasets"]),
        ("tasks/rebuild_returns/", ["The last run failed", "ArithmeticException"]),
        ("tasks/land_shop_files/", ["0 2 * * *", "data-platform", "succeeded", "Spark 4.0.12"]),
        ("", ["23", "datasets", "7", "tasks and consumers"]),
    ],
)
def test_the_first_screen_answers(page: Read, path: str, words: list[str]) -> None:
    told = " ".join(_read(_article(page(path))).text.split())
    assert [word for word in words if word not in told] == []


def test_what_is_known_in_whole_says_so_by_saying_nothing(page: Read) -> None:
    assert "Something may be missing" not in page(ORDERS)


def test_the_rows_of_the_last_write_stand_beside_its_time(page: Read) -> None:
    head = _article(page(ORDERS)).split("<h2")[0]
    assert "Written" in head
    assert '<time datetime="2026-11-21T02:15:02Z">2026-11-21 02:15 UTC</time>' in head
    assert "17,812 rows" in head


@pytest.mark.parametrize(
    ("path", "link"),
    [
        (ORDERS, "dbt/index.html#!/model/model.python_tasks.orders?g_v=1&g_i=1%2Borders%2B1"),
        (
            "datasets/spark/raw/exchange_rates/",
            "dbt/index.html#!/source/source.shop.raw.exchange_rates"
            "?g_v=1&g_i=1%2Bsource%3Araw.exchange_rates%2B1",
        ),
        (
            "tasks/revenue_dashboard/",
            "dbt/index.html#!/exposure/exposure.shop.revenue_dashboard"
            "?g_v=1&g_i=1%2Bexposure%3Arevenue_dashboard%2B1",
        ),
    ],
)
def test_a_page_opens_its_node_in_dbt_docs(page: Read, path: str, link: str) -> None:
    links = [attributes["href"] for tag, attributes in _read(page(path)).tags if tag == "a"]
    assert "../" * path.count("/") + link in links


def test_buttons_lead_to_runbook_and_repository(page: Read) -> None:
    html = page("tasks/land_shop_files/")
    assert 'href="https://wiki.example.com/runbooks/land"' in html
    assert 'href="https://git.example.com/shop/tasks"' in html


def test_a_task_that_dbt_knows_as_an_exposure_has_one_page_with_both(page: Read) -> None:
    html = page("tasks/export_finance_report/")
    assert "only reads" in html
    assert "#!/exposure/exposure.python_tasks.export_finance_report" in html


def test_every_link_between_pages_leads_to_a_file(site: Path) -> None:
    checked = 0
    for file in site.rglob("index.html"):
        if file.parent.name == "dbt":
            continue
        for tag, attributes in _read(file.read_text(encoding="utf-8")).tags:
            target = attributes.get("href", attributes.get("src", "")) if tag != "base" else ""
            if not target or ":" in target or target.startswith("#"):
                continue
            path = target.split("#")[0].split("?")[0]
            assert (file.parent / path).resolve().exists(), f"{file.relative_to(site)}: {target}"
            checked += 1
    assert checked > 1000


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    loads = {"script": "src", "link": "href", "img": "src", "iframe": "src", "image": "href"}
    checked = 0
    for file in site.rglob("*.html"):
        for tag, attributes in _read(file.read_text(encoding="utf-8")).tags:
            if tag in loads and attributes.get("rel") != "canonical":
                checked += 1
                assert "//" not in attributes.get(loads[tag], ""), file
    assert checked > 100
    for file in (site / "styles").rglob("*.css"):
        assert not re.search(r"url\((?![\"']?data:)|@import", file.read_text(encoding="utf-8"))


def test_search_finds_datasets_tasks_and_columns_but_no_lists(site: Path) -> None:
    found = (site / "search/search_index.json").read_text(encoding="utf-8")
    assert '"datasets/spark/raw/orders/index.html"' in found
    assert '"tasks/load_suppliers/index.html"' in found
    assert "customer_id" in found
    assert '"datasets/spark/index.html"' not in found
    assert (site / "search/search_index.js").is_file()


HOSTILE = [
    '<script>alert(1)</script><img src=x onerror="alert(1)">',
    '" onmouseover="alert(1)" \' onfocus=\'alert(1)',
    "[x](javascript:alert(1)) ![y](https://evil.example.com/p.png)",
    "a | b `c` ~~~ ``` {{ config.site_url }} {% raw %} {: #top onclick=alert(1) }",
    "first\n```\nsecond\n~~~\n\n# heading\n\n    code\n---\n",
    "</div></section></table></article> --> ]]> <!--",
    "emoji 🌱 名前 \u202e\x00\x1b\x02wzxhzdk:0\x03",
    "long" * 500,
]


def _hostile_lineage(text: str) -> tuple[Lineage, dict[DatasetId, Description], list[Consumer]]:
    """One dataset and one task in which every string is the hostile one."""
    source, target = DatasetId("spark", f"raw.{text}"), DatasetId(f"mssql://{text}", text)
    told = {"error": text, "engine_version": text, "origin": text}
    run = Run("r", text, text, status=Status.FAILED, **told)
    usages = (
        Usage(text, source, Direction.READ, (Operation.SELECT,), (text,), procedures=(text,)),
        Usage(text, target, Direction.WRITE, (Operation.INSERT,), (text,), procedures=(text,)),
    )
    info = TaskInfo(text, text, f"javascript:{text}", text, f"https://{text}", text, (text,))
    lineage = Lineage(
        datasets={
            source: Dataset(source, Kind.VIEW, (Column(text, text),), (target,)),
            target: Dataset(target, Kind.TABLE, (Column(text, text),)),
        },
        tasks={text: Task(text, (text,), usages, (run, run), info)},
        flows=(Flow(source, target, text, hops=(source,), shapes=(text,)),),
        shapes={text: Shape(text, text, text, text, Outcome.PARTIAL, text)},
        rejects=(Reject(text, text, text, text),),
        column_edges=tuple(
            ColumnEdge(text, target, to, source, name, kind.type, kind, False, text)
            for kind in (Subtype.IDENTITY, Subtype.FILTER)
            for to, name in ((text, text), ("*", text), ("*", "*"))
        ),
    )
    describe = Description(
        source, f"model.{text}.{text}", text, Role.MODEL, text, text, (text,), {text: text}
    )
    consumer = Consumer(
        f"exposure.x.{text}", f"{text}!", text, (target,), text, text, f"javascript:{text}", (text,)
    )
    return lineage, {source: describe}, [consumer]


def _pages(folder: Path) -> Iterator[tuple[Path, _Reader]]:
    for file in folder.rglob("*.html"):
        yield file, _read(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_string_in_every_place_is_shown_and_does_nothing(
    text: str, tmp_path: Path
) -> None:
    lineage, descriptions, consumers = _hostile_lineage(text)
    build(lineage, descriptions, consumers, Settings(), tmp_path / "site", b"<title>dbt</title>")
    for file, read in _pages(tmp_path / "site"):
        assert "alert(1)" not in read.scripts, file
        for tag, attributes in read.tags:
            assert not [key for key in attributes if key.startswith("on")], (file, tag, attributes)
            assert "javascript:" not in attributes.get("href", "").lower(), file
            assert tag != "img" or "images/" in attributes["src"], file
    for path in (
        *(dataset_path(dataset) for dataset in lineage.datasets),
        task_path(text),
        task_path(f"{text}!"),
        tag_path(text),
        owner_path(text),
    ):
        html = (tmp_path / "site" / path / "index.html").read_text(encoding="utf-8")
        assert html.count("<article") == html.count("</article>") == 1
        assert printable(text).split("\n")[0] in _read(_article(html)).text, path


def test_a_dataset_of_which_only_the_name_is_known_has_a_complete_page(tmp_path: Path) -> None:
    lonely = DatasetId("spark", "raw.lonely")
    build(Lineage({lonely: Dataset(lonely)}), {}, [], Settings(), tmp_path / "site")
    html = (tmp_path / "site" / dataset_path(lonely) / "index.html").read_text(encoding="utf-8")
    told = _read(_article(html)).text
    for words in (
        "No task we know of writes it",
        "Nobody we know of reads it",
        "No log and no dbt",
    ):
        assert words in told
    assert "Open in dbt docs" not in told


def test_an_empty_lineage_makes_a_home_that_says_what_to_do_next(tmp_path: Path) -> None:
    built = build(Lineage(), {}, [], Settings("Nothing"), tmp_path / "site")
    told = _read(_article(built.index.read_text(encoding="utf-8"))).text
    assert "Nothing collected yet" in told
    assert "graft build" in told
    assert "collect:" in told
    for path in ("datasets", "tasks", "tags", "owners", "gaps"):
        assert (tmp_path / "site" / path / "index.html").is_file()


def test_second_writers_and_cycles_are_named_on_the_home_page(tmp_path: Path) -> None:
    a, b = DatasetId("spark", "raw.a"), DatasetId("spark", "raw.b")

    def task(name: str, read: DatasetId, write: DatasetId) -> Task:
        usages = (
            Usage(name, read, Direction.READ, (Operation.SELECT,)),
            Usage(name, write, Direction.WRITE, (Operation.INSERT,)),
        )
        return Task(name, ("spark",), usages)

    tasks = {"forth": task("forth", a, b), "back": task("back", b, a)}
    model = Definition("model.shop.b", DefinitionKind.DBT, b, (a,))
    flows = (Flow(a, b, "forth"), Flow(b, a, "back"), Flow(a, b, model.name, definition=model.kind))
    lineage = Lineage({a: Dataset(a), b: Dataset(b)}, tasks, flows, definitions={model.name: model})
    built = build(lineage, {}, [], Settings(), tmp_path / "site")
    told = " ".join(_section(built.index.read_text("utf-8"), "What needs care").split())
    assert "raw.b is written by dbt and forth" in told
    assert "raw.a → raw.b → raw.a" in told


def test_a_view_is_told_on_its_own_page_and_is_no_task(tmp_path: Path) -> None:
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
    built = build(lineage, {}, [], Settings(), tmp_path / "site")

    def told(path: str, heading: str) -> str:
        html = (tmp_path / "site" / path / "index.html").read_text("utf-8")
        return " ".join(_section(html, heading).split())

    assert "its definitionfrom dbo.o" in told(dataset_path(view), "Written by")
    assert "CREATE VIEW dbo.v AS" in told(dataset_path(view), "Statements")
    assert "dbo.vview" in told(dataset_path(orders), "Read by")
    assert "in procedure Shop.dbo.p" in told(task_path("load"), "Writes")
    assert not (tmp_path / "site" / task_path("Shop.dbo.v")).exists()
    assert "written by" not in _read(_article(built.index.read_text("utf-8"))).text


def test_lists_of_neighbours_have_an_end(tmp_path: Path) -> None:
    hub = DatasetId("spark", "raw.hub")
    targets = [DatasetId("spark", f"raw.t{at:03}") for at in range(400)]
    dbt = DefinitionKind.DBT
    flows = tuple(Flow(hub, one, f"model.{one.name}", definition=dbt) for one in targets)
    lineage = Lineage({d: Dataset(d) for d in (hub, *targets)}, {}, flows)
    build(lineage, {}, [], Settings(), tmp_path / "site")
    html = (tmp_path / "site" / dataset_path(hub) / "index.html").read_text("utf-8")
    assert "and 250 more" in _section(html, "Downstream")
