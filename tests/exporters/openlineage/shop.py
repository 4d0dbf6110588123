"""The records of a small store, with one of everything that events tell apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    NodeResult,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.settings import LineageSettings
from tests import notation

NIGHT = datetime(2026, 11, 22, 2, 0, tzinfo=UTC)
COLLECTED = NIGHT + timedelta(hours=6)
ORDERS = parse_dataset_id("mssql://crm:1433/Shop.dbo.Orders")
FILES = parse_dataset_id("s3://lake/landing/orders")
STAGE = parse_dataset_id("mssql://crm:1433/Shop.dbo.#stage")
OLD = parse_dataset_id("mssql://crm:1433/Shop.dbo.Daily_new")
DAILY = parse_dataset_id("mssql://crm:1433/Shop.dbo.Daily")
CURRENT = parse_dataset_id("mssql://crm:1433/Shop.dbo.Current")
COPY = parse_dataset_id("mssql://crm:1433/Shop.dbo.Copy")
MART = parse_dataset_id("mssql://crm:1433/Shop.analytics.mart")
TASK_INSTANCE = "01a19467-e800-763a-bbc9-7f14e359d112"
COPY_RUN = "01a19467-e800-7d1b-91e1-11a7efb4f22c"
DAG_RUN = "01a19467-e800-74e8-a60f-107614e7e651"
INVOCATION = "0b5c8f7e-58a1-4d3b-9a55-2f0f7a4f9d10"
DBT_MODEL = "model.shop.mart"

_INSERT = "INSERT INTO dbo.Orders (id, amount) SELECT id, amount FROM #stage WHERE day = ?"
_SHAPES = (
    Shape(
        "copy", "spark-plan", "INSERT #stage <- s3://lake/landing/orders", "plan", Outcome.PARSED
    ),
    Shape("truncate", "tsql", "TRUNCATE TABLE dbo.Orders", "sqlglot", Outcome.PARSED),
    Shape("insert", "tsql", _INSERT, "sqlglot", Outcome.PARSED),
    Shape(
        "daily", "tsql", "INSERT INTO dbo.Daily_new SELECT … FROM dbo.Orders", "x", Outcome.PARSED
    ),
    Shape("rename", "tsql", "EXEC sp_rename ?, ?", "sqlglot", Outcome.PARSED),
    Shape("view", "tsql", "CREATE VIEW dbo.[Current] AS …", "sqlglot", Outcome.PARSED),
    Shape("drop", "tsql", "DROP TABLE dbo.Orders", "sqlglot", Outcome.PARSED),
    Shape("dynamic", "tsql", "EXEC (@sql)", "tokens", Outcome.PARTIAL, "dynamic SQL not resolved"),
)


def access(run: str, name: DatasetId, operation: Operation, shape: str, **known: Any) -> Access:
    """An access of a run named `<task>-<n>`; the operation decides about the direction."""
    known = {
        "run_id": run,
        "task": run.rpartition("-")[0],
        "kind": Kind.PATH if name is FILES else Kind.TABLE,
        "shape_id": shape,
        "at": NIGHT,
        "origin": "log",
        **known,
    }
    return notation.access(operation, name, **known)


def edge(to: DatasetId, column: str, source: DatasetId, name: str, kind: Subtype) -> ColumnEdge:
    """A column edge of `load`."""
    return notation.column_edge(to, column, source, name, kind, shape_id="insert")


def records() -> Records:
    """Runs of `load` and `daily`, Airflow's above, one of its own, a view, a report."""
    minute = timedelta(minutes=1)
    first = [
        access("load-1", FILES, Operation.SELECT, "insert", rows=9, bytes=2048, files=2),
        access("load-1", ORDERS, Operation.TRUNCATE, "truncate", first_at=NIGHT - minute),
        access("load-1", ORDERS, Operation.INSERT, "insert", rows=7),
    ]
    failed = [access("load-2", ORDERS, Operation.DROP, "drop", status=Status.FAILED)]
    third = [
        access("load-3", FILES, Operation.SELECT, "insert"),
        replace(first[2], run_id="load-3"),
    ]
    daily = [
        access("daily-1", ORDERS, Operation.SELECT, "daily"),
        access("daily-1", OLD, Operation.CREATE_TABLE_AS, "daily", rows=3),
        access("daily-1", OLD, Operation.RENAME, "rename", direction=Direction.READ),
        access("daily-1", DAILY, Operation.RENAME, "rename"),
    ]
    for one in (2, 3):
        daily[one] = replace(daily[one], first_at=NIGHT + minute, last_at=NIGHT + minute)
    view = [
        access("view-1", ORDERS, Operation.CREATE_VIEW, "view", direction=Direction.READ),
        access("view-1", CURRENT, Operation.CREATE_VIEW, "view", kind=Kind.VIEW),
    ]
    report = [access("report-1", DAILY, Operation.SELECT, "x")]
    # Of a task whose engine has no log: its events alone say what it does.
    copy = [
        access("copy-1", DAILY, Operation.SELECT, "event-1", run_id=COPY_RUN),
        access("copy-1", COPY, Operation.INSERT, "event-1", run_id=COPY_RUN),
    ]
    runs = (
        Run(
            "load-1",
            "load",
            "sqlserver",
            NIGHT,
            NIGHT + minute,
            Status.OK,
            parent_run_id=TASK_INSTANCE,
            origin="log",
            gaps=("dynamic",),
        ),
        Run("load-2", "load", "sqlserver", None, NIGHT, Status.FAILED, "Invalid object ?"),
        Run("load-3", "load", "sqlserver", NIGHT + 3 * minute, None, Status.UNKNOWN),
        Run(
            TASK_INSTANCE,
            "shop.load",
            "airflow",
            NIGHT,
            NIGHT + minute,
            Status.OK,
            parent_run_id=DAG_RUN,
            job="airflow-shop/shop.load",
        ),
        Run(
            COPY_RUN,
            "copy",
            "airflow",
            NIGHT,
            NIGHT + minute,
            Status.OK,
            engine_version="3.3.2",
            parent_run_id=DAG_RUN,
            job="airflow-shop/shop.copy",
            url="http://airflow/dags/shop/copy?try_number=2",
            attempt=2,
            nominal_start=NIGHT - timedelta(days=1),
            nominal_end=NIGHT,
        ),
        Run(DAG_RUN, "shop", "airflow", NIGHT, None, Status.UNKNOWN, job="airflow-shop/shop"),
        Run(
            "daily-1",
            "daily",
            "spark",
            NIGHT,
            NIGHT + minute,
            Status.OK,
            application_id="app-1",
            engine_version="4.0.1",
        ),
        Run("view-1", "view", "view", NIGHT, NIGHT, Status.OK),
        Run("report-1", "report", "spark", NIGHT, NIGHT, Status.OK),
    )
    datasets = (
        Dataset(
            ORDERS,
            columns=(Column("id", "int"), Column("amount", "decimal(9,2)")),
            symlinks=(parse_dataset_id("file/data/orders"),),
        ),
        Dataset(FILES, Kind.PATH),
    )
    edges = (
        edge(ORDERS, "id", FILES, "id", Subtype.IDENTITY),
        replace(edge(ORDERS, "amount", FILES, "price", Subtype.TRANSFORMATION), masking=True),
        edge(ORDERS, "*", FILES, "day", Subtype.FILTER),
    )
    return Records(
        accesses=(*first, *failed, *third, *daily, *view, *report, *copy),
        runs=runs,
        shapes={shape.shape_id: shape for shape in _SHAPES},
        datasets=datasets,
        column_edges=edges,
    )


def snapshot(**changes: Any) -> LineageSnapshot:
    """The lineage of these records with a dbt model on top, which ran once and was skipped once."""
    found = records()
    infos = {
        "load": TaskInfo(
            description="Loads **orders**.",
            owner="data-platform",
            repo="git@github.com:shop/etl.git",
            path="jobs/load orders.py",
            tags=("critical",),
        )
    }
    lineage = build(found, settings=LineageSettings(infos))
    model = Definition(DBT_MODEL, DefinitionKind.DBT, MART, (ORDERS,), Operation.CREATE_TABLE_AS)
    flow = Flow(ORDERS, MART, DBT_MODEL, evidence=Evidence.DECLARED, definition=DefinitionKind.DBT)
    total = ColumnEdge(
        *(DBT_MODEL, MART, "total", ORDERS, "amount"),
        *(Subtype.AGGREGATION.type, Subtype.AGGREGATION),
        masking=False,
        shape_id="",
        evidence=Evidence.DECLARED,
    )
    ran = NodeResult(DBT_MODEL, INVOCATION, "build", "success", Status.OK, NIGHT, NIGHT, rows=5)
    skipped = replace(ran, invocation_id="other", word="skipped", status=Status.UNKNOWN)
    lineage = replace(
        lineage,
        datasets={**lineage.datasets, MART: Dataset(MART, columns=(Column("total"),))},
        definitions={**lineage.definitions, DBT_MODEL: model},
        flows=(*lineage.flows, flow),
        column_edges=(*lineage.column_edges, total),
        dbt=replace(lineage.dbt, node_results={DBT_MODEL: (skipped, ran)}),
    )
    descriptions = {
        MART: Description(
            MART,
            DBT_MODEL,
            "mart",
            Role.MODEL,
            "Totals.",
            "finance",
            ("nightly",),
            {"Total": "Of all orders."},
            labels=("confidential",),
            column_labels={"total": ("PII",)},
        )
    }
    made = LineageSnapshot(lineage, COLLECTED, descriptions, found.accesses)
    return replace(made, **changes)
