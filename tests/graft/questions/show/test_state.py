"""The state of a table is the same in a terminal, for programs and on its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dbt_graft.catalog.badges import dataset_badges
from dbt_graft.catalog.index import Index
from dbt_graft.graft.questions.show.state import table_state
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.describe import Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import (
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    NodeResult,
    Run,
    Status,
    Subtype,
)
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each

ORDERS = DatasetId("spark", "mart.orders")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TESTS = (NodeTest("test.shop.unique", "unique", "id"), NodeTest("test.shop.adds_up", "adds_up"))
FAILED = {"fail", "error", "runtime error"}
TAINT = RecordedTaint(1, NOON, NOON, ORDERS, ALL_DATES, tainted={("load", ORDERS): ALL_DATES})


def described(
    results: Sequence[str], statuses: Sequence[Status] = (), taints: tuple[RecordedTaint, ...] = ()
) -> DescribedLineage:
    """A table with a model, a source and two tests of dbt, and a task that ran so."""
    by_node = {}
    for text in results:
        node, _, word = text.partition(" ")
        status = Status.FAILED if word in FAILED else Status.OK
        of_node = NodeResult(node, "i", "build", word, status, NOON, NOON)
        by_node[node] = (*by_node.get(node, ()), of_node)
    runs = tuple(
        Run(f"r{number}", "load", "spark", NOON - timedelta(days=number), status=status)
        for number, status in enumerate(statuses)
    )
    usage = Usage(
        *("load", ORDERS, Direction.WRITE, (Operation.INSERT,)),
        engine="spark",
        run_ids=tuple(run.run_id for run in runs),
        failed_runs=tuple(run.run_id for run in runs if run.status is Status.FAILED),
    )
    description = Description(
        *(ORDERS, "model.shop.orders", "orders", Role.PROMOTED),
        tests=TESTS,
        dbt_ids=("model.shop.orders", "source.shop.orders"),
    )
    return DescribedLineage(
        Lineage(
            {ORDERS: Dataset(ORDERS)},
            {"load": Task("load", ("spark",), (usage,), runs)} if runs else {},
            history=History(taints=taints),
            dbt=DbtRuns(by_node),
        ),
        {ORDERS: description},
    )


@for_each(
    "results, statuses, taints, expected, badges",
    [
        ([], [], (), [], []),
        (["test.shop.unique pass", "source.shop.orders pass"], [Status.OK], (), [], []),
        (
            ["test.shop.unique fail"],
            [],
            (),
            ["uniqueness: unique of mart.orders.id failed 2 hours ago"],
            ["1 failed test"],
        ),
        (
            ["test.shop.adds_up error"],
            [],
            (),
            [
                "not_run: adds_up of mart.orders could not run 2 hours ago: "
                "whether its data is good is not known"
            ],
            ["1 check could not run"],
        ),
        (
            ["source.shop.orders runtime error"],
            [],
            (),
            [
                "not_run: the freshness check of mart.orders could not run 2 hours ago: "
                "whether its data is good is not known"
            ],
            ["1 check could not run"],
        ),
        (
            ["source.shop.orders warn"],
            [],
            (),
            ["freshness: mart.orders had no new rows when it was checked 2 hours ago"],
            ["stale"],
        ),
        (
            ["model.shop.orders error"],
            [],
            (),
            ["write: the last write of mart.orders failed 2 hours ago"],
            ["dbt run failed"],
        ),
        (
            [],
            [Status.FAILED, Status.OK],
            (),
            ["write: the last write of mart.orders failed 2 hours ago"],
            ["last write failed"],
        ),
        ([], [Status.OK, Status.FAILED], (), [], []),
        ([], [], (TAINT,), ["tainted: bad data for all dates (incident 1)"], ["bad data"]),
    ],
)
def test_the_state_is_that_of_the_page(
    results: list[str],
    statuses: list[Status],
    taints: tuple[RecordedTaint, ...],
    expected: list[str],
    badges: list[str],
) -> None:
    known = described(results, statuses, taints)
    state = table_state(known, ORDERS, NOON + timedelta(hours=2))

    assert [f"{kind}: {words}" for kind, words in state] == expected
    assert [badge.text for badge in dataset_badges(Index(known), ORDERS)] == badges


RAW, VIEW = DatasetId("spark", "raw.orders"), DatasetId("spark", "mart.board")


@for_each(
    "column, edges, words",
    [
        (
            "id",
            [("id", "id")],
            "its data may be wrong: unique of mart.orders.id failed 2 hours ago",
        ),
        ("id", [("amount", "id")], None),
        ("id", [], "its data may be wrong: unique of mart.orders.id failed 2 hours ago"),
    ],
)
def test_a_fault_upstream_is_that_of_the_page(
    column: str, edges: list[tuple[str, str]], words: str | None
) -> None:
    known = described(["test.shop.unique fail"])
    lineage = replace(
        known.lineage,
        datasets={ORDERS: Dataset(ORDERS), RAW: Dataset(RAW), VIEW: Dataset(VIEW)},
        flows=(Flow(RAW, ORDERS, "load"), Flow(ORDERS, VIEW, "build")),
        column_edges=tuple(
            ColumnEdge(
                *("build", VIEW, to, ORDERS, source, EdgeType.DIRECT, Subtype.IDENTITY, False, "s")
            )
            for source, to in edges
        ),
    )
    known = replace(known, lineage=lineage)
    states = {name: [*table_state(known, name, NOON + timedelta(hours=2))] for name in (RAW, VIEW)}

    assert states == {RAW: [], VIEW: [("upstream", words)] if words else []}
    assert [badge.kind for badge in dataset_badges(Index(known), VIEW)] == (
        ["upstream"] if words else []
    )
