"""An impact graph out of bytes answers as the one that they are of, on random projects."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from dbt_graft.analysis.impact.answer import ProposedChange, Surroundings, impact
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.stored_graph import graph_sections, read_graph
from dbt_graft.analysis.impact.stored_surroundings import (
    read_surroundings,
    surroundings_sections,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import ColumnUse
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset
from tests.analysis.impact.test_spread import COLUMNS, TABLES, project
from tests.cases import for_each
from tests.notation import edge

NOW = datetime(2026, 11, 1, tzinfo=UTC)
OLD = NOW - timedelta(days=100)


def table(name: str) -> DatasetId:
    return DatasetId("db", name)


def dated_flows(random: Random, flows: list[Flow]) -> list[Flow]:
    times = [NOW, OLD, None]
    return [Flow(f.source, f.target, f.task, last_at=random.choice(times)) for f in flows]


def any_columns(random: Random) -> list[ColumnEdge]:
    """Edges between columns that are not known one by one."""
    pairs = [random.sample(TABLES, 2) for _ in range(random.randint(0, 3))]
    return [edge(f"{a}.* < {b}.* {random.choice(['IDENTITY', 'SORT'])}", "t") for a, b in pairs]


def known_columns(random: Random) -> list[Dataset]:
    columns = tuple(Column(name.upper()) for name in COLUMNS)
    return [Dataset(table(name), columns=columns) for name in TABLES if random.random() < 0.5]


def around(random: Random) -> Surroundings:
    tests = (NodeTest("t1", "unique", "x"), NodeTest("t2", "own test"))
    described = {
        table(name): Description(
            *(table(name), f"model.shop.{name}", name, random.choice(list(Role))),
            owner=random.choice(["", "sales"]),
            tests=random.choice([(), tests]),
        )
        for name in random.sample(TABLES, 4)
    }
    reads = tuple(map(table, random.sample(TABLES, 2)))
    board = Consumer("exposure.shop.board", "board", "dashboard", reads, tags=("a", "b"))
    report = Consumer(
        *("report", "report", "task", reads[:1]),
        deadline="08:00",
        owner="Ada",
        columns=((reads[0], COLUMNS[0]),),
        known_reads=reads[:1],
    )
    return Surroundings(described, (board, report), {"t": "Bo"}, ("t",))


@for_each("seed", range(200), quick=20)
def test_a_stored_graph_answers_as_the_one_that_was_stored(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    edges, flows = project(random)
    edges += any_columns(random)
    graph = ImpactGraph(
        *(edges, dated_flows(random, flows), known_columns(random)),
        NOW - timedelta(days=90),
        uses=[ColumnUse("t", table(random.choice(TABLES)), one) for one in COLUMNS],
        known_reads=[("t", table(name)) for name in TABLES if random.random() < 0.3],
    )
    beside = around(random)
    stored = read_graph(graph_sections(graph))
    sections = surroundings_sections(beside)
    for _ in range(10):
        column = random.choice(["", *COLUMNS, "X", "not_known"])
        kind = random.choice(list(ChangeType))
        change = ProposedChange(table(random.choice(f"{TABLES}q")), kind, column)
        found = impact(stored, change, read_surroundings(sections))
        assert found == impact(graph, change, beside)


def test_names_keep_their_spelling_and_compare_without_case() -> None:
    wanted = [
        DatasetId("mssql://CRM:1433", "Shop.dbo.Orders"),
        DatasetId("mssql://crm:1433", "Shop.dbo.Lines"),
        DatasetId("file", "landing/Übung"),
        DatasetId("s3://bucket", "a\0b\nc \ud800"),
        DatasetId("iceberg://Prod/Silver", "db.T"),
        DatasetId("duckdb://../data/shop.duckdb", "shop.main.t"),
        DatasetId("trino://host/", "t"),
    ]
    datasets = [Dataset(one, columns=(Column("Straße"), Column("*"))) for one in wanted]
    stored = read_graph(graph_sections(ImpactGraph([], [], datasets)))
    assert [str(dataset) for dataset in stored.datasets] == [*map(str, sorted(wanted))]
    assert [stored.find_dataset(dataset) for dataset in sorted(wanted)] == [*range(len(wanted))]
    other = DatasetId("MSSQL://crm:1433", "SHOP.DBO.orders")
    assert stored.find_dataset(other) == sorted(wanted).index(other)
    assert stored.find_dataset(DatasetId("file", "landing/übung")) is None
    number = stored.find_dataset(wanted[2])
    assert number is not None
    assert stored.columns(number) == ["Straße"]
    assert stored.find_column(number, "STRASSE") == stored.find_column(number, "Straße") is not None
    assert stored.stars.get(number) is not None


def test_a_dataset_or_column_that_is_new_gets_a_number() -> None:
    stored = read_graph(graph_sections(ImpactGraph([edge("b.x < a.x IDENTITY")], [])))
    number = stored.dataset(table("new"))
    assert stored.datasets[number] == table("new")
    assert stored.column_names[stored.column(number, "y")] == "y"
    assert not stored.edges_from(stored.column(number, "y"))
    assert not stored.flows_from(number)
    assert [dataset.name for dataset in stored.datasets[1:]] == ["b", "new"]


def test_consumers_are_stored_with_all_that_is_known_of_them() -> None:
    consumer = Consumer(
        *("exposure.shop.board", "board", "dashboard", (table("a"), table("gone"))),
        *("text", "Ada", "https://bi"),
        tags=("x",),
        criticality="high",
        freshness_slo="PT2H",
        deadline="08:00",
        columns=((table("a"), "x"), (table("gone"), "Y")),
    )
    sections = surroundings_sections(Surroundings({}, (consumer,), {"t": "Ü"}))
    stored = read_surroundings(sections)
    assert stored.consumers == (consumer,)
    assert stored.owners == {"t": "Ü"}
