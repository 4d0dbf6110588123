"""The home page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.catalog.build import build
from dbt_graft.catalog.home_page import MAX_SCHEMAS, schema_picture
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset, Direction
from dbt_graft.lineage.usage import Usage
from tests.catalog.html_reader import section, text

PageHtml = Callable[[str], str]


@pytest.mark.parametrize(
    ("heading", "texts"),
    [
        (
            "Needs attention",
            ["Failed tasks1 rebuild_returns", "Rejected log records2", "only in part2"],
        ),
        ("Browse", ["SQL Server", "data-platform", "nightly"]),
    ],
)
def test_a_section_lists(page: PageHtml, heading: str, texts: list[str]) -> None:
    shown = section(page(""), heading)
    assert [part for part in texts if part not in shown] == []


def test_the_figures_count_datasets_and_tasks(page: PageHtml) -> None:
    shown = text(page(""))
    assert "23datasets" in shown.replace(" ", "")
    assert "7tasksandconsumers" in shown.replace(" ", "")


def test_multiple_writers_and_cycles_need_attention(tmp_path: Path) -> None:
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
    built = build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    shown = section(built.index.read_text("utf-8"), "Needs attention")
    assert "Datasets with several writers1 raw.b is written by dbt and forth" in shown
    assert "raw.a → raw.b → raw.a" in shown


def test_without_lineage_the_page_shows_the_next_step(tmp_path: Path) -> None:
    built = build(DescribedLineage(Lineage()), SiteSettings("Nothing"), tmp_path / "site")
    shown = text(built.index.read_text("utf-8"))
    assert "Nothing collected yet" in shown
    assert "graft build" in shown
    assert "collect:" in shown
    for path in ("datasets", "tasks", "tags", "owners", "gaps"):
        assert (tmp_path / "site" / path / "index.html").is_file()


def drawn(*edges: tuple[str, str], namespace: str = "spark") -> str:
    """The picture of tables of one namespace."""
    pairs = [(DatasetId(namespace, a), DatasetId(namespace, b)) for a, b in edges]
    datasets = {one: Dataset(one) for one in sorted({end for pair in pairs for end in pair})}
    flows = tuple(Flow(a, b, "task") for a, b in pairs)
    return str(schema_picture(Index(DescribedLineage(Lineage(datasets, flows=flows)))))


def boxes(svg: str) -> list[tuple[str, str]]:
    """The address and the full name of each box."""
    return re.findall(r'<a class="graft-box[^"]*" href="([^"]*)".*?<title>(.*?)</title>', svg)


def arrows(svg: str) -> list[str]:
    return re.findall("<path[^>]*>", svg.split('<g class="graft-arrows"')[1].split("</g>")[0])


def test_schemas_are_boxes_that_lead_to_their_page() -> None:
    svg = drawn(("raw.a", "mart.x"), ("raw.b", "mart.x"))
    assert boxes(svg) == [
        ("datasets/spark/mart/index.html", "spark / mart (Spark · 1 dataset)"),
        ("datasets/spark/raw/index.html", "spark / raw (Spark · 2 datasets)"),
    ]
    assert len(arrows(svg)) == 1


def test_a_schema_is_named_with_its_database() -> None:
    svg = drawn(("raw.dbo.a", "mart.dbo.x"), namespace="mssql://a")
    assert re.findall(r">(\w+\.dbo)<", svg) == ["mart.dbo", "raw.dbo"]


def test_schemas_that_feed_each_other_have_one_arrow_with_two_tips() -> None:
    svg = drawn(("raw.a", "mart.x"), ("mart.x", "raw.b"))
    assert len(arrows(svg)) == 1
    assert svg.count('marker-start="url(#graft-tip)"') == 1


def test_of_too_many_schemas_the_databases_are_drawn() -> None:
    edges = [(f"raw.s{n}.t", f"mart.s{n}.t") for n in range(MAX_SCHEMAS)]
    assert [name for _, name in boxes(drawn(*edges, namespace="mssql://a"))] == [
        f"mssql://a / mart (SQL Server · {MAX_SCHEMAS} datasets)",
        f"mssql://a / raw (SQL Server · {MAX_SCHEMAS} datasets)",
    ]


def test_a_chain_that_is_wider_than_the_page_is_drawn_by_databases() -> None:
    edges = [(f"raw.s{n:02}.t", f"raw.s{n + 1:02}.t") for n in range(14)]
    edges.append(("raw.s14.t", "mart.x.t"))
    found = boxes(drawn(*edges, namespace="mssql://a"))
    assert [name.split(" (")[0] for _, name in found] == ["mssql://a / mart", "mssql://a / raw"]


@pytest.mark.parametrize(
    ("tables", "schema", "heading"),
    [(8, "mart", "Lineage"), (80, "mart", "Lineage by schema"), (80, "raw", "Lineage")],
)
def test_a_long_list_of_boxes_gives_way_to_its_schemas(
    tmp_path: Path, tables: int, schema: str, heading: str
) -> None:
    source = DatasetId("spark", "raw.orders")
    targets = [DatasetId("spark", f"{schema}.t{number}") for number in range(tables)]
    usages = (
        Usage("split", source, Direction.READ, (Operation.SELECT,)),
        *(Usage("split", target, Direction.WRITE, (Operation.INSERT,)) for target in targets),
    )
    lineage = Lineage(
        {dataset: Dataset(dataset) for dataset in (source, *targets)},
        {"split": Task("split", ("spark",), usages)},
        flows=tuple(Flow(source, target, "split") for target in targets),
    )
    built = build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    headings = re.findall(r'<h2 id="lineage">(.*?)</h2>', built.index.read_text("utf-8"))
    assert headings == [heading]


def test_one_schema_alone_is_no_picture() -> None:
    assert drawn(("raw.a", "raw.b")) == ""
