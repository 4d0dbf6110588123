"""Column edges field by field are as a list of them, whatever is asked."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import attrgetter

from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graphs.columns import unique_edges
from dbt_graft.lineage.own_values import dump_values, load_values
from dbt_graft.lineage.records import ColumnEdge, Evidence, Masking, Records, Subtype
from dbt_graft.lineage.renaming import drop_datasets, map_datasets
from tests.cases import for_each

SIZES = (0, 1, 2, 40)
_COMPARED = attrgetter(
    *("to_dataset.key", "to_column", "from_dataset.key", "from_column", "task", "subtype"),
    *("shape_id", "masking", "masked_by", "evidence", "type", "ordinal", "place", "without"),
)


def random_edges(size: int, seed: int = 0) -> list[ColumnEdge]:
    """So many edges of few values, so that some are equal; tables are spelled in two ways."""
    chance = random.Random(seed)  # noqa: S311

    def table() -> DatasetId:
        return DatasetId("db", chance.choice(("raw.a", "RAW.A", "raw.b", "c")))

    def edge(subtype: Subtype) -> ColumnEdge:
        return ColumnEdge(
            *(chance.choice("xy"), table(), chance.choice("pq*"), table(), chance.choice("pq*")),
            *(subtype.type, subtype, chance.random() < 0.2, chance.choice("sS")),
            origin=chance.choice(("a.log", "b.log")),
            evidence=chance.choice([*Evidence][:2]),
            masked_by=chance.choice([*Masking][:2]),
            ordinal=chance.choice(("", "1/2")),
            without=chance.choice(((), ("p",))),
        )

    return [edge(chance.choice([Subtype.IDENTITY, Subtype.FILTER])) for _ in range(size)]


def spelled(edges: object) -> list[tuple[object, ...]]:
    """Edges with all that a comparison of them leaves out."""
    assert isinstance(edges, ColumnEdges | list | tuple)
    return [(edge, str(edge.to_dataset), str(edge.from_dataset), edge.origin) for edge in edges]


def apart(edges: list[ColumnEdge]) -> ColumnEdges:
    """The edges by fields alone, without the objects that they were made of."""
    edges_by_fields = ColumnEdges.of(edges)
    return ColumnEdges(edges_by_fields.size, edges_by_fields.fields)


@for_each("size", SIZES)
def test_they_are_a_sequence_of_the_edges(size: int) -> None:
    edges = random_edges(size)
    assert spelled(apart(edges)) == spelled(edges)
    assert apart(edges) == tuple(edges)
    assert [apart(edges)[place] for place in range(-size, size)] == [*edges, *edges]
    assert apart(edges)[1:3] == edges[1:3]


@for_each("size", SIZES)
def test_joined_ones_follow_each_other(size: int) -> None:
    parts = [random_edges(count, seed) for seed, count in enumerate((size, 0, 1, 30))]
    joined = ColumnEdges.join(map(apart, parts))
    assert spelled(joined) == [row for part in parts for row in spelled(part)]


@for_each("size", SIZES)
def test_those_with_a_value_are_selected(size: int) -> None:
    edges = random_edges(size)
    chosen = apart(edges).where("to_column", "p".__eq__)
    assert spelled(chosen) == spelled([edge for edge in edges if edge.to_column == "p"])
    assert {*chosen.distinct("from_column")} == {edge.from_column for edge in chosen}
    assert spelled(apart(edges).without([0][:size])) == spelled(edges[1:])


@for_each("size", SIZES)
def test_of_those_that_are_alike_the_first_stays(size: int) -> None:
    edges = random_edges(size)
    alike = {(edge.to_column, edge.task): edge for edge in reversed(edges)}
    firsts = [edge for edge in edges if any(edge is first for first in alike.values())]
    assert spelled(apart(edges).once("to_column", "task")) == spelled(firsts)


@for_each("size", SIZES)
def test_edges_from_a_dataset_to_itself_are_those_of_one_key(size: int) -> None:
    edges = random_edges(size)
    assert apart(edges).loops() == [
        place for place, edge in enumerate(edges) if edge.from_dataset == edge.to_dataset
    ]


@for_each("seed", range(20))
def test_sorted_each_is_there_once_as_the_first_log_has_it(seed: int) -> None:
    edges = random_edges(60, seed)
    expected = sorted(unique_edges(edges), key=_COMPARED)
    assert spelled(apart(edges).in_order()) == spelled(expected)


def swap(dataset: DatasetId) -> DatasetId:
    return DatasetId("db", "raw.b" if dataset.name == "c" else dataset.name)


def merge(_: DatasetId) -> DatasetId:
    return DatasetId("db", "one")


@for_each("rename", [swap, merge])
def test_datasets_are_renamed_as_those_of_a_tuple(
    rename: Callable[[DatasetId], DatasetId],
) -> None:
    edges = random_edges(40)
    as_tuple = map_datasets(Records(column_edges=tuple(edges)), rename)
    by_fields = map_datasets(Records(column_edges=apart(edges)), rename)
    assert spelled(by_fields.column_edges) == spelled(as_tuple.column_edges)


def test_those_of_a_hidden_dataset_are_left_out() -> None:
    records, hidden = Records(column_edges=apart(random_edges(40))), DatasetId("db", "RAW.a")
    left = drop_datasets(records, {hidden}).column_edges
    assert left
    assert spelled(left) == spelled(
        [
            edge
            for edge in records.column_edges
            if hidden not in (edge.to_dataset, edge.from_dataset)
        ]
    )
    assert hidden not in {*ColumnEdges.of(left).distinct("to_dataset")}


@for_each("size", SIZES)
def test_they_are_read_back_from_bytes(size: int) -> None:
    edges = random_edges(size)
    assert spelled(load_values(dump_values(apart(edges)))) == spelled(edges)
