"""The layers of a large lineage."""

from __future__ import annotations

import re

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.schema_picture import MAX_SCHEMAS, schema_picture
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset


def drawn(*edges: tuple[str, str], namespace: str = "spark") -> str:
    """The picture of tables of one namespace."""
    pairs = [(DatasetId(namespace, a), DatasetId(namespace, b)) for a, b in edges]
    datasets = {one: Dataset(one) for one in sorted({end for pair in pairs for end in pair})}
    flows = tuple(Flow(a, b, "task") for a, b in pairs)
    return str(schema_picture(Index(Lineage(datasets, flows=flows))))


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


def test_one_schema_alone_is_no_picture() -> None:
    assert drawn(("raw.a", "raw.b")) == ""
