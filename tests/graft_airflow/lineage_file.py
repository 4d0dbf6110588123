"""A file of collected lineage, as `graft export airflow-lineage` writes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dbt_graft.exporters.airflow_lineage import airflow_lineage, lines
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Records,
    Run,
    Status,
    Subtype,
)
from tests import notation

CRM = DatasetId("mssql://crm:1433", "Shop.dbo.Orders")
ORDERS = DatasetId("spark", "raw.orders")
SCORES = DatasetId("spark", "mart.scores")
# The run id of a try in Airflow.
TRY = "01a19467-e800-763a-bbc9-7f14e359d112"
NIGHT = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
COLLECTED = datetime(2026, 11, 22, 5, 30, tzinfo=UTC)


def access(
    task: str, dataset: DatasetId, operation: Operation = Operation.SELECT, **fields: Any
) -> Access:
    known = {"task": task, "shape_id": f"{task}-shape", "at": NIGHT, **fields}
    return notation.access(operation, dataset, **known)


def edge(to: DatasetId, column: str, source: DatasetId, field: str, subtype: Subtype) -> ColumnEdge:
    task = "load_orders" if to == ORDERS else "score_customers"
    known = {"task": task, "masking": field == "Mail", "shape_id": f"{task}-shape"}
    return notation.column_edge(to, column, source, field, subtype, **known)


RECORDS = Records(
    accesses=(
        access("load_orders", CRM),
        access("load_orders", ORDERS, Operation.INSERT),
        access("score_customers", ORDERS),
        access("score_customers", SCORES, Operation.INSERT),
        access(
            "score_customers", SCORES, Operation.INSERT, status=Status.FAILED, last_at=COLLECTED
        ),
    ),
    runs=(
        Run("load_orders-1", "load_orders", "sqlserver", NIGHT, NIGHT, Status.OK),
        Run("score_customers-1", "score_customers", "spark", NIGHT, NIGHT, parent_run_id=TRY),
        Run(TRY, "shop.ml.score", "airflow", NIGHT, NIGHT, job="default/shop.ml.score"),
    ),
    datasets=(Dataset(ORDERS, columns=(Column("id", "int"), Column("mail"))),),
    column_edges=(
        edge(ORDERS, "id", CRM, "OrderId", Subtype.IDENTITY),
        edge(ORDERS, "mail", CRM, "Mail", Subtype.IDENTITY),
        edge(ORDERS, "*", CRM, "Status", Subtype.FILTER),
        edge(SCORES, "total", ORDERS, "id", Subtype.AGGREGATION),
    ),
)


def document(records: Records = RECORDS) -> dict[str, Any]:
    return airflow_lineage(build(records), COLLECTED)


def text(records: Records = RECORDS) -> bytes:
    return "".join(f"{line}\n" for line in lines(document(records))).encode()
