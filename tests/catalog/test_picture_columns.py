"""Columns and lines of a picture, as the site's script reads them."""

from __future__ import annotations

import json
from typing import Any

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import around_dataset, around_task, full_graph
from dbt_graft.catalog.picture import picture
from dbt_graft.catalog.picture_columns import column_data, picture_columns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Subtype
from tests.catalog.html_reader import HtmlReader
from tests.notation import column_edge

IDENTITY, FILTER = Subtype.IDENTITY, Subtype.FILTER


def _table(name: str) -> DatasetId:
    return DatasetId("spark", name)


def _edge(
    to: str, source: str, subtype: Subtype = IDENTITY, evidence: Evidence = Evidence.OBSERVED
) -> ColumnEdge:
    (target, column), (origin, name) = to.split(":"), source.split(":")
    ends = (_table(target), column, _table(origin), name, subtype)
    return column_edge(*ends, task="model.t", evidence=evidence)


def _index(edges: list[ColumnEdge], names: dict[str, list[str]]) -> Index:
    pairs = dict.fromkeys((edge.from_dataset, edge.to_dataset) for edge in edges)
    flows = tuple(Flow(*pair, "model.t", definition=DefinitionKind.DBT) for pair in pairs)
    datasets = {
        _table(name): Dataset(_table(name), columns=tuple(map(Column, columns)))
        for name, columns in names.items()
    }
    return Index(DescribedLineage(Lineage(datasets, flows=flows, column_edges=tuple(edges))))


def _data(index: Index, name: str) -> Any:
    around = around_dataset(index, _table(name))
    html = str(column_data(around, picture_columns(index, around)))
    data = json.loads(HtmlReader(html).data)
    assert len(data["boxes"]) == len(around.boxes)
    assert len(data["arrows"]) == len(around.arrows)
    return data | {"keys": [box.name for box in around.boxes]}


def _names(data: Any, box: int) -> list[str]:
    """The columns of a box."""
    listed = data["lists"][data["boxes"][box][0]]
    return [data["names"][at] for at in (range(listed) if isinstance(listed, int) else listed)]


def _lines(data: Any) -> set[tuple[str, str, int]]:
    """Lines as `table.column`, with their style."""

    def end(box: int, column: int) -> str:
        names = _names(data, box)
        return f"{data['keys'][box]}.{names[column] if column >= 0 else '*'}"

    return {
        (end(source, numbers[at]), end(target, numbers[at + 1]), numbers[at + 2])
        for source, target, _, way in data["lines"]
        for numbers in [data["ways"][way]]
        for at in range(0, len(numbers), 3)
    }


def test_a_box_has_its_columns_and_lines_between_them_by_style() -> None:
    edges = [
        _edge("a.t:x", "a.s:x"),
        _edge("a.t:x", "a.s:x", FILTER),
        _edge("a.t:y", "a.s:y", evidence=Evidence.INFERRED),
        _edge("a.t:y", "a.s:z", FILTER, Evidence.DECLARED),
        _edge("a.t:*", "a.s:z", FILTER),
        _edge("a.t:*", "a.s:*"),
        _edge("a.t:x", "a.t:y"),
    ]
    data = _data(_index(edges, {"a.s": ["x", "y", "z"], "a.t": ["x", "y"]}), "a.t")
    assert _lines(data) == {
        ("a.s.x", "a.t.x", 0),
        ("a.s.y", "a.t.y", 1),
        ("a.s.z", "a.t.y", 2),
        ("a.s.z", "a.t.*", 2),
    }


def test_a_line_goes_through_the_box_of_its_task(sample: Any) -> None:
    index = Index(DescribedLineage(sample.lineage, sample.descriptions, sample.consumers))
    around = around_task(index, "load_suppliers")
    data = json.loads(HtmlReader(str(column_data(around, picture_columns(index, around)))).data)
    [task] = [at for at, box in enumerate(around.boxes) if box.key == around.centre]
    assert data["lines"]
    assert {line[2] for line in data["lines"]} == {task}
    assert data["boxes"][task] == 0


def test_of_a_wide_table_the_columns_with_lines_are_listed_first() -> None:
    names = [f"c{n:03}" for n in range(400)]
    edges = [_edge(f"a.t:c{n:03}", f"a.s:c{n:03}") for n in range(380, 400)]
    data = _data(_index(edges, {"a.s": names, "a.t": names}), "a.t")
    for box, (_, omitted) in enumerate(data["boxes"]):
        assert _names(data, box) == [*names[:20], *names[380:]]
        assert omitted == 360
    assert len(_lines(data)) == 20


def test_the_data_stays_small_for_wide_tables_and_many_boxes() -> None:
    names = [f"a_column_with_a_long_name_{n:03}" for n in range(400)]
    tables = {f"a.t{n}": names for n in range(30)}
    edges = [_edge(f"a.t{t}:{name}", f"a.hub:{name}") for t in range(30) for name in names]
    index = _index(edges, tables | {"a.hub": names})
    around = around_dataset(index, _table("a.hub"))
    assert len(column_data(around, picture_columns(index, around))) < 40_000


def test_a_name_of_any_characters_comes_back_as_it_was() -> None:
    names = [
        "</script><script>alert(1)</script>",
        "it's `~~~` &amp;",
        "名前 🌱",
        "Net amount",
        "ID",
    ]
    edges = [_edge("a.t:ID", "a.s:ID")]
    around = around_dataset(index := _index(edges, {"a.s": names, "a.t": names}), _table("a.t"))
    html = str(column_data(around, picture_columns(index, around)))
    assert html.isascii()
    assert not set("'`~&") & set(html)
    assert html.count("<") == 2
    listed = _names(json.loads(HtmlReader(html).data), 0)
    assert [name if isinstance(name, str) else name[0] for name in listed] == names
    assert listed[-1] == "ID", "its anchor is made of its name"
    assert listed[0][1].startswith("column-script-script-alert-1-")


def test_a_picture_without_columns_has_no_data() -> None:
    index = Index(
        DescribedLineage(
            Lineage(flows=(Flow(_table("a.s"), _table("a.t"), "m", definition=DefinitionKind.DBT),))
        )
    )
    around = around_dataset(index, _table("a.t"))
    assert "<script" not in picture(around, "", picture_columns(index, around))
    assert "<script" not in picture(full_graph(index), "")
