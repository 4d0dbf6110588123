"""Neighbourhoods and their pictures: boxes, arrows, links, descriptions; bars of runs."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label import NAME_SIZE, NOTE_SIZE, LabelParts, text_width
from dbt_graft.catalog.layout import Sizes
from dbt_graft.catalog.neighbourhood import (
    LIMIT,
    Arrow,
    Box,
    BoxShape,
    Neighbourhood,
    around_dataset,
    around_task,
    full_graph,
)
from dbt_graft.catalog.picture import description, picture
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset, Records
from tests.cases import for_each
from tests.notation import statement, table


@pytest.fixture
def index(sample) -> Index:
    return Index(DescribedLineage(sample.lineage, sample.descriptions, sample.consumers))


def _table(name: str) -> DatasetId:
    return DatasetId("spark", name)


def _names(graph: Neighbourhood) -> set[str]:
    return {box.name for box in graph.boxes}


def _arrows(graph: Neighbourhood) -> set[tuple[str, str]]:
    names = {box.key: box.name for box in graph.boxes}
    return {(names[arrow.source], names[arrow.target]) for arrow in graph.arrows}


def test_a_dataset_has_two_steps_upstream_and_two_downstream(index: Index) -> None:
    graph = around_dataset(index, _table("raw.orders"))
    assert _arrows(graph) == {
        ("landing/orders", "land_shop_files"),
        ("land_shop_files", "raw.orders"),
        ("raw.orders", "analytics.stg_orders"),
        ("analytics.stg_orders", "analytics.orders"),
    }


def test_a_task_is_between_what_it_reads_and_writes(index: Index) -> None:
    graph = around_task(index, "score_customers")
    assert {
        ("analytics.customers", "score_customers"),
        ("score_customers", "ml.customer_scores"),
        ("ml.customer_scores", "analytics.customer_segments"),
    } <= _arrows(graph)


def test_consumers_are_downstream_of_what_they_read(index: Index) -> None:
    graph = around_dataset(index, _table("analytics.orders"))
    assert {
        ("analytics.orders", "revenue_dashboard"),
        ("analytics.orders", "export_finance_report"),
    } <= _arrows(graph)


def test_a_table_read_and_written_by_one_task_has_one_arrow_both_ways(index: Index) -> None:
    graph = around_task(index, "load_products")
    arrows = {arrow.target: arrow.both for arrow in graph.arrows if arrow.source == graph.centre}
    assert arrows == {_table("RAW.products"): True}
    assert "marker-start" in picture(graph, "")


def test_the_steps_of_one_task_are_in_their_order() -> None:
    accesses = [*statement("INSERT staged <- raw"), *statement("INSERT mart <- staged mart")]
    index = Index(DescribedLineage(build(Records(accesses=tuple(accesses)))))
    graph = around_dataset(index, table("mart"))
    assert _arrows(graph) == {
        *(("raw", "load"), ("load", "staged"), ("staged", "mart"), ("load", "mart")),
    }
    assert [arrow.target for arrow in graph.arrows if arrow.both] == [table("mart")]


def test_a_failed_write_has_an_arrow_of_its_own_style(index: Index) -> None:
    graph = around_dataset(index, _table("ml.return_risk"))
    risk = _table("ml.return_risk")
    assert [arrow.failed for arrow in graph.arrows if arrow.target == risk] == [True]
    assert "graft-arrow--failed" in picture(graph, "")


def test_the_full_graph_has_every_dataset_task_and_consumer(index: Index) -> None:
    graph = full_graph(index)
    assert len(graph.boxes) == len(index.datasets) + len(index.task_names())


def test_a_box_links_to_its_page_relative_to_the_picture(index: Index) -> None:
    svg = picture(around_dataset(index, _table("raw.orders")), "../../../../")
    assert 'href="../../../../datasets/spark/analytics/stg_orders/index.html"' in svg
    assert 'href="../../../../tasks/land_shop_files/index.html"' in svg


def test_shapes_differ_without_colour(index: Index) -> None:
    graph = full_graph(index)
    outlines = {}
    root = ET.fromstring(picture(graph, ""))  # noqa: S314
    shared = {f"#{one.get('id')}": one for one in root.iter("g")}
    for link in root.iter("a"):
        shape = link.get("class", "").split()[1]
        outline = shared[link.findall("use")[0].get("href") or ""].findall("path")[0].get("d") or ""
        outlines.setdefault(shape, set()).add(re.sub(r"[\d.]{3,}", "N", outline))  # their widths
    assert len(outlines) == len({path for paths in outlines.values() for path in paths}) == 6
    assert "graft-box--consumer" in outlines


def test_the_description_names_every_arrow(index: Index) -> None:
    assert description(around_dataset(index, _table("ml.customer_scores"))).startswith(
        ("analytics.", "score_customers", "ml.")
    )
    assert "score_customers feeds customer_scores." in picture(
        around_dataset(index, _table("ml.customer_scores")), ""
    )


def _star(count: int) -> Index:
    hub = _table("a.hub")
    targets = [_table(f"a.t{at:03}") for at in range(count)]
    dbt = DefinitionKind.DBT
    flows = tuple(Flow(hub, target, f"model.{target.name}", definition=dbt) for target in targets)
    return Index(DescribedLineage(Lineage({d: Dataset(d) for d in [hub, *targets]}, flows=flows)))


def test_boxes_beyond_the_limit_fold_into_one_that_links_to_the_list() -> None:
    graph = around_dataset(_star(60), _table("a.hub"))
    boxes = [box for box in graph.boxes if box.shape is BoxShape.MORE]
    assert len(graph.boxes) == LIMIT + 1
    assert [(box.name, box.path) for box in boxes] == [("+21 more", "#downstream")]
    assert ("a.hub", "+21 more") in _arrows(graph)


def test_up_to_the_limit_nothing_folds() -> None:
    graph = around_dataset(_star(LIMIT - 1), _table("a.hub"))
    assert len(graph.boxes) == LIMIT
    assert all(box.shape is not BoxShape.MORE for box in graph.boxes)


@for_each(
    "name",
    [
        "<script>alert(1)</script>",
        '"><image href="https://example.com/x"/>',
        "a & b 'c' `d` {{ e }} [f](g)",
        "🌱" * 40,
        "名" * 200,
        "x\ny\tz\x00",
    ],
)
def test_a_hostile_name_is_text(name: str) -> None:
    key, task = _table(name), "other"
    label = LabelParts(name, (name, name), name)
    box = Box(key, name, name, BoxShape.TABLE, "x/index.html", label, name)
    other = Box(task, "other", "task", BoxShape.TASK, "y/index.html", LabelParts("b", (), "b"))
    graph = Neighbourhood(key, (box, other), (Arrow(key, task),))
    root = ET.fromstring(picture(graph, ""))  # noqa: S314
    assert {tag.tag for tag in root.iter()} == {
        *("div", "svg", "desc", "defs", "marker", "g", "path", "a", "title", "use", "text")
    }
    name_line, note_line = (match.text or "" for match in root.findall(".//text")[:2])
    assert text_width(name_line, NAME_SIZE) <= Sizes().widest
    assert text_width(note_line, NOTE_SIZE) <= Sizes().widest


def test_a_dataset_that_feeds_itself_is_drawn_without_that_arrow() -> None:
    table = _table("a.t")
    index = Index(
        DescribedLineage(Lineage({table: Dataset(table)}, {}, (Flow(table, table, "model.t"),)))
    )
    assert around_dataset(index, table).arrows == ()


def test_a_single_box_makes_no_picture() -> None:
    table = _table("a.t")
    assert (
        picture(
            around_dataset(Index(DescribedLineage(Lineage({table: Dataset(table)}))), table), ""
        )
        == ""
    )


def _lines(svg: str) -> list[tuple[str, str]]:
    """The two lines of each box."""
    links = ET.fromstring(svg).iter("a")  # noqa: S314
    return [tuple(line.text or "" for line in link.findall("text")) for link in links]


def test_a_box_has_the_tables_own_name_and_below_it_the_schema(index: Index) -> None:
    lines = _lines(picture(around_dataset(index, _table("raw.orders")), ""))
    assert sorted(lines) == [
        ("land_shop_files", "Spark · task"),
        ("orders", "analytics · Spark"),
        ("orders", "landing · Files"),
        ("orders", "raw · Spark"),
        ("stg_orders", "analytics · Spark"),
    ]


WORDS = ["orders", "customers", "returns", "prices", "stock", "invoices", "carts", "visits"]
PREFIX = "enterprise_data_platform_"
NAMES = {
    "suffixes differ": lambda n: f"{PREFIX}{WORDS[n % 8]}_{n:03}",
    "middles differ": lambda n: f"{PREFIX}{WORDS[n % 8]}_{n:03}_of_the_daily_snapshot_table",
    "upper case": lambda n: f"{PREFIX}{WORDS[n % 8]}_{n:03}_SNAPSHOT_CURRENT".upper(),
    "long words": lambda n: f"{PREFIX}{'_'.join(WORDS[n >> at & 7] for at in range(6))}_{n}",
    "wide letters": lambda n: f"{'名前' * 13}{n:03}{'名前' * 10}",
}


def _project(name: Callable[[int], str], schemas: Sequence[str]) -> Index:
    """120 tables, each made of some before it."""
    chance = random.Random(7)  # noqa: S311
    tables = [
        DatasetId("mssql://crm:1433", f"{chance.choice(schemas)}.{name(n)}") for n in range(120)
    ]
    flows = tuple(
        Flow(chance.choice(tables[max(0, at - 12) : at]), target, f"model.{at}", definition=dbt)
        for dbt in [DefinitionKind.DBT]
        for at, target in enumerate(tables)
        for _ in range(2 if at else 0)
    )
    return Index(
        DescribedLineage(Lineage({table: Dataset(table) for table in tables}, flows=flows))
    )


@pytest.mark.parametrize("schemas", [["Shop.raw"], ["Shop.raw", f"Shop.{PREFIX}mart"]], ids=len)
@for_each("names", NAMES)
def test_under_one_percent_of_boxes_share_their_label(names: str, schemas: Sequence[str]) -> None:
    index = _project(NAMES[names], schemas)
    pictures = [
        picture(full_graph(index), ""),
        *(picture(around_dataset(index, dataset), "") for dataset in index.datasets),
    ]
    boxes = shared = 0
    for lines in map(_lines, filter(None, pictures)):
        times = Counter(lines)
        boxes += len(lines)
        shared += sum(count for count in times.values() if count > 1)
    assert boxes > 1000
    assert shared / boxes < 0.01


def test_boxes_of_one_name_on_two_servers_differ() -> None:
    tables = [DatasetId(f"mssql://{server}:1433", "Shop.dbo.Orders") for server in ("eu", "us")]
    hub = _table("a.hub")
    flows = tuple(Flow(table, hub, "m", definition=DefinitionKind.DBT) for table in tables)
    index = Index(
        DescribedLineage(Lineage({table: Dataset(table) for table in (*tables, hub)}, flows=flows))
    )
    lines = _lines(picture(full_graph(index), ""))
    assert len(set(lines)) == 3
    assert [name for name, _ in lines].count("Orders") == 2
