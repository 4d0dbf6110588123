"""The opening view: a small graph as it is, a large one by schemas."""

from __future__ import annotations

from itertools import pairwise

from dbt_graft.catalog.explorer.opening import SMALL
from dbt_graft.catalog.explorer.write import opening_view
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset


def _lineage(schemas: int, tables: int) -> Lineage:
    """Each table is made from that of its number in the schema before."""
    named = [
        [DatasetId("spark", f"Area_{schema:03}.t{table:03}") for table in range(tables)]
        for schema in range(schemas)
    ]
    return Lineage(
        datasets={one: Dataset(one) for schema in named for one in schema},
        flows=tuple(
            Flow(source, target, "load")
            for before, after in pairwise(named)
            for source, target in zip(before, after, strict=True)
        ),
    )


def test_a_small_graph_opens_with_all_of_its_boxes() -> None:
    view = opening_view(Index(DescribedLineage(_lineage(4, 5))))
    assert len(view.boxes) == 20


def test_a_large_graph_opens_with_its_schemas_from_left_to_right() -> None:
    view = opening_view(Index(DescribedLineage(_lineage(5, SMALL))))
    assert not view.boxes
    assert [(folder.id, folder.datasets) for folder in view.folders] == [
        (f"spark/area_{n:03}/", SMALL) for n in range(5)
    ]
    assert [folder.name for folder in view.folders] == [f"Area_{n:03}" for n in range(5)]
    places = [folder.x for folder in view.folders]
    assert places == sorted(set(places))
    numbers = view.data()["links"]
    assert numbers == [[n, n + 1, SMALL] for n in range(4)]


def test_too_many_schemas_are_merged_into_the_folder_above_smallest_first() -> None:
    large = {
        DatasetId("spark", f"large.t{n:03}"): Dataset(DatasetId("spark", f"large.t{n:03}"))
        for n in range(40)
    }
    small = _lineage(300, 1)
    view = opening_view(
        Index(DescribedLineage(Lineage(datasets={**large, **small.datasets}, flows=small.flows)))
    )
    folders = {folder.id: folder.datasets for folder in view.folders}
    assert len(folders) <= 100
    assert folders["spark/large/"] == 40
    assert folders["spark/"] > 200
    assert sum(folders.values()) == 340


def test_schemas_of_a_layer_that_no_screen_shows_are_merged() -> None:
    """A screen had some of the 50 schemas that feed one, and not that one."""
    raw = [DatasetId("spark", f"raw.s{n:02}.t{m}") for n in range(50) for m in range(n % 3 + 1)]
    marts = [DatasetId("spark", f"mart.main.t{n}") for n in range(9)]
    flows = tuple(Flow(source, marts[0], "load") for source in raw)
    lineage = Lineage({table: Dataset(table) for table in (*raw, *marts)}, flows=flows)
    view = opening_view(Index(DescribedLineage(lineage)))
    folders = {folder.id: folder.datasets for folder in view.folders}
    assert len(folders) <= 25
    assert folders["spark/raw/"] > 25
    assert folders["spark/mart/main/"] == len(marts)
    assert sum(folders.values()) == len(raw) + len(marts)


def test_no_datasets_make_an_empty_view() -> None:
    view = opening_view(Index(DescribedLineage(Lineage())))
    assert view.data() == {"boxes": [], "folders": [], "links": []}
