"""A lineage with something in each view."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Evidence,
    NodeResult,
    Outcome,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.usage import Usage

FILES = DatasetId("file", "/landing/orders")
ORDERS = DatasetId("spark", "raw.orders")
DAILY = DatasetId("spark", "mart.daily")
WEEKLY = DatasetId("spark", "mart.weekly")
MORNING = datetime(2026, 11, 1, 6, tzinfo=UTC)
LATER = datetime(2026, 11, 1, 6, 30, tzinfo=UTC)
MODEL = "model.shop.daily"


def _access(run_id: str, dataset: DatasetId, direction: Direction, version: str) -> Access:
    operation = Operation.INSERT if direction is Direction.WRITE else Operation.SELECT
    return Access(
        *("load_orders", run_id, dataset, Kind.TABLE, direction, operation, "s"),
        last_at=LATER,
        periods=(Period(MORNING, None, Grain.DAY, PeriodEvidence.PREDICATE, "ds"),),
        positions=(DataPosition("delta version", version, version),),
    )


def described() -> DescribedLineage:
    """A task loads files, dbt makes a mart of it, a view of that feeds a dashboard."""
    load = Task(
        "load_orders",
        engines=("spark",),
        usages=(
            Usage("load_orders", FILES, Direction.READ, statements=4, engine="spark"),
            Usage(
                "load_orders",
                ORDERS,
                Direction.WRITE,
                (Operation.INSERT,),
                statements=4,
                rows=120,
                last_at=LATER,
                engine="spark",
            ),
        ),
        runs=(
            Run("app-2", "load_orders", "spark", MORNING, LATER, Status.FAILED, "no table <name>"),
            Run("app-1", "load_orders", "spark", MORNING, None, Status.OK),
        ),
        info=TaskInfo(owner="sales", schedule="@daily", tags=("night",)),
        repeats={"app-1": 2},
        gaps=("dynamic", "outer"),
    )
    lineage = Lineage(
        datasets={
            FILES: Dataset(FILES, Kind.PATH),
            DAILY: Dataset(DAILY, columns=(Column("day", "date"), Column("Total", "double"))),
            WEEKLY: Dataset(WEEKLY, Kind.VIEW, dropped_at=LATER),
            ORDERS: Dataset(ORDERS, columns=(Column("amount", "double"),), first_seen=MORNING),
        },
        tasks={"load_orders": load},
        flows=(
            Flow(FILES, ORDERS, "load_orders", through_memory=True, first_at=MORNING),
            Flow(ORDERS, DAILY, MODEL, definition=DefinitionKind.DBT, evidence=Evidence.DECLARED),
            Flow(DAILY, WEEKLY, "spark/mart.weekly", definition=DefinitionKind.VIEW),
        ),
        # Two statements make one of them.
        column_edges=tuple(
            ColumnEdge(
                task=MODEL,
                to_dataset=DAILY,
                to_column="Total",
                from_dataset=ORDERS,
                from_column="amount",
                type=EdgeType.DIRECT,
                subtype=Subtype.AGGREGATION,
                masking=False,
                shape_id=shape,
                evidence=Evidence.DECLARED,
            )
            for shape in ("1", "2")
        ),
        shapes={
            shape.shape_id: shape
            for shape in (
                Shape("dynamic", "tsql", "EXEC (@s)", "tokens", Outcome.PARTIAL, "dynamic SQL"),
                Shape("outer", "tsql", "", "tokens", Outcome.PARTIAL, "columns: a recursive query"),
            )
        },
        history=History(
            (
                _access("app-1", FILES, Direction.READ, "3"),
                _access("app-1", ORDERS, Direction.WRITE, "7"),
            )
        ),
        dbt=DbtRuns(
            {
                MODEL: (NodeResult(MODEL, "i-1", "run", "success", Status.OK, MORNING, LATER, 3),),
                "test.shop.unique": (
                    NodeResult(
                        "test.shop.unique", "i-1", "test", "fail", Status.FAILED, failures=7
                    ),
                ),
            }
        ),
    )
    description = Description(
        DAILY,
        MODEL,
        "daily",
        Role.MODEL,
        "Orders by *day*.",
        owner="finance",
        tags=("gold",),
        columns={"total": "The sum."},
        tests=(NodeTest("test.shop.unique", "unique", "day"),),
        column_labels={"Total": ("confidential",)},
    )
    board = Consumer("exposure.shop.board", "board", "dashboard", (DAILY, WEEKLY), owner="cfo")
    return DescribedLineage(lineage, {DAILY: description}, (board,))
