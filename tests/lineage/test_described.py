"""The columns around a dataset: they answer as those of the complete lineage do."""

from __future__ import annotations

import random

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset
from tests.notation import edge

TABLES = [DatasetId("db", name) for name in "abcdefgh"]
COLUMNS = ["x", "y", "s.f", "s", "*"]
KINDS = ["IDENTITY", "AGGREGATION", "FILTER"]


def random_lineage(seed: int) -> DescribedLineage:
    """Few tables with stars, structs, filters and cycles, and schemas of some of them."""
    pick = random.Random(seed)  # noqa: S311
    texts = []
    for _ in range(pick.randrange(4, 16)):
        target, source = pick.choice("abcdefgh"), pick.choice("abcdefgh")
        ends = pick.choice(COLUMNS), pick.choice(COLUMNS)
        texts.append(f"{target}.{ends[0]} < {source}.{ends[1]} {pick.choice(KINDS)}")
    schemas = [
        Dataset(table, columns=tuple(map(Column, ("x", "s"))))
        for table in pick.sample(TABLES, pick.randrange(4))
    ]
    lineage = Lineage(
        column_edges=tuple(map(edge, texts)), datasets={facts.id: facts for facts in schemas}
    )
    return DescribedLineage(lineage, {}, (Consumer("board", "Board", "dashboard", (TABLES[0],)),))


def answers(graph: ColumnGraph, dataset: DatasetId) -> list[object]:
    """All that a graph answers about the columns of a dataset."""
    return [
        (
            column,
            [graph.parents(column, indirect=decides), graph.children(column, indirect=decides)],
            [graph.upstream(column, depth, indirect=decides) for depth in (None, 1)],
            [graph.downstream(column, depth, indirect=decides) for depth in (None, 1)],
            graph.consumers(column, indirect=decides),
        )
        for column in graph.columns(dataset)
        for decides in (False, True)
    ]


def test_the_columns_around_a_dataset_answer_as_all_do() -> None:
    for seed in range(150):
        described = random_lineage(seed)
        for table in TABLES:
            around = described.columns_around(table)
            assert answers(around, table) == answers(described.column_graph, table), (seed, table)
