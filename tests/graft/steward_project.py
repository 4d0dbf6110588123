"""A project with weeks of versioned, dated runs, personal data, deadlines and contracts.

Each morning `load_orders` appends the day before to raw.orders as a new version and `build_sales`
makes the same day of mart.sales of it and of raw.customers; `send_partners` puts mart.sales into a
file. 4 November failed to load, 6 November was loaded twice, and the load of the 25th has not run
at nine on the 26th. A test of raw.orders failed on the 25th.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from click.testing import CliRunner

from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    NodeResult,
    Records,
    Run,
    Status,
    Subtype,
)
from tests.graft.commands.test_impact import node, not_null
from tests.graft.small_project import small_project

NOW = "2026-11-26T09:00"
FILES, PARTNERS = DatasetId("sftp", "shop/orders"), DatasetId("sftp", "partners/sales")
ORDERS, CUSTOMERS = DatasetId("spark", "raw.orders"), DatasetId("spark", "raw.customers")
SALES = DatasetId("spark", "mart.sales")
CONFIG = """
collect: [{declared: {path: lineage.yml}}]
store: store
contracts: [contracts.odcs.yaml]
tasks:
  load_orders: {owner: Shop}
  build_sales: {owner: Sales}
  send_partners: {owner: Sales}
privacy:
  columns: [{columns: raw.customers.mail, is: pii}]
"""
LINEAGE = """
version: 1
consumers:
  board: {type: dashboard, owner: CFO, reads: [spark/mart.sales], deadline: "08:00"}
"""
LAST = 24
DBT = "dbt:shop#check-1"
TEST = "test.shop.not_null_note"
CONTRACT = """
apiVersion: v3.1.0
kind: DataContract
id: partners-1
name: partner_sales
version: 1.0.0
status: active
team: {name: Partners}
schema:
  - {name: sales, physicalName: mart.sales, properties: [{name: day}]}
  - {name: returns, physicalName: mart.returns, properties: [{name: day}]}
"""


def steward_project(folder: Path) -> None:
    """Write the project, with its store."""
    small_project(folder)
    (folder / "graft.yml").write_text(CONFIG)
    (folder / "lineage.yml").write_text(LINEAGE)
    (folder / "contracts.odcs.yaml").write_text(CONTRACT)
    manifest = json.loads((folder / "target/manifest.json").read_text())
    source = node("source", "raw.orders")
    manifest["sources"] = {source["unique_id"]: source}
    manifest["nodes"] = {TEST: not_null(source["unique_id"], "amount")}
    (folder / "target/manifest.json").write_text(json.dumps(manifest))
    accesses = tuple(_accesses())
    runs = {
        (access.task, access.run_id): Run(
            *(access.run_id, access.task, "spark", access.first_at, access.last_at, access.status),
            origin="log",
        )
        for access in accesses
    }
    columns = {
        ORDERS: "day amount",
        CUSTOMERS: "id mail",
        SALES: "day amount mail_domain",
        PARTNERS: "amount mail_domain",
    }
    failed = NodeResult(
        *(TEST, "check-1", "test", "fail", Status.FAILED),
        *(_morning(LAST + 1) + timedelta(hours=3), _morning(LAST + 1) + timedelta(hours=3)),
        failures=3,
        origin=DBT,
    )
    records = Records(
        accesses=accesses,
        runs=tuple(runs.values()),
        datasets=tuple(
            Dataset(dataset, _kind(dataset), tuple(map(Column, names.split())), origin="log")
            for dataset, names in columns.items()
        ),
        column_edges=(
            _edge("build_sales", ORDERS, "amount", SALES, "amount", Subtype.AGGREGATION),
            _edge("build_sales", CUSTOMERS, "mail", SALES, "mail_domain", Subtype.TRANSFORMATION),
            _edge("send_partners", SALES, "amount", PARTNERS, "amount", Subtype.IDENTITY),
            _edge("send_partners", SALES, "mail_domain", PARTNERS, "mail_domain", Subtype.IDENTITY),
        ),
    )
    logs = [ReadLog("log", "1"), ReadLog(DBT, "1", events=1)]
    committed = tables(
        records, {}, node_results=table(NodeResult, [failed]), origins=table(ReadLog, logs)
    )
    commit(str(folder / "store"), [committed])
    config = str(folder / "graft.yml")
    assert CliRunner().invoke(main, ["collect", "-c", config]).exit_code == 0


def _accesses() -> Iterator[Access]:
    version = 0
    yield from _run("load_customers", "customers-1", _morning(1), (), (CUSTOMERS, "1", None), 50)
    for day in range(1, LAST + 1):
        loads = [(f"orders-{day}", _morning(day + 1), Status.OK)]
        if day == 4:
            loads = [("orders-4", _morning(5), Status.FAILED)]
        if day == 6:
            loads.append(("orders-6-again", _morning(7) + timedelta(minutes=30), Status.OK))
        for run_id, at, status in loads:
            version += status is Status.OK
            target = (ORDERS, str(version), day)
            yield from _run("load_orders", run_id, at, ((FILES, "", None),), target, 100, status)
        if day != 4:
            reads = (ORDERS, str(version), day), (CUSTOMERS, "", None)
            at = _morning(day + 1) + timedelta(hours=1)
            target = (SALES, str(day), day)
            yield from _run("build_sales", f"sales-{day}", at, reads, target, 10)
    at = _morning(LAST + 1) + timedelta(hours=2)
    read = ((SALES, str(LAST), None),)
    yield from _run("send_partners", "partners-1", at, read, (PARTNERS, "", None), 80)


def _morning(day: int) -> datetime:
    return datetime(2026, 11, day, 5, tzinfo=UTC)


def _run(
    task: str,
    run_id: str,
    at: datetime,
    reads: tuple[tuple[DatasetId, str, int | None], ...],
    target: tuple[DatasetId, str, int | None],
    rows: int,
    status: Status = Status.OK,
) -> Iterator[Access]:
    sides = [*((read, Direction.READ) for read in reads), (target, Direction.WRITE)]
    for (dataset, version, day), direction in sides:
        start = datetime(2026, 11, day, tzinfo=UTC) if day else None
        period = start and Period(
            start, start + timedelta(1), Grain.DAY, PeriodEvidence.PARTITION, "day"
        )
        is_read = direction is Direction.READ
        yield Access(
            *(task, run_id, dataset, _kind(dataset), direction),
            *(Operation.SELECT if is_read else Operation.INSERT, f"{task}/{target[0]}"),
            rows=rows,
            bytes=rows * 20,
            first_at=at,
            last_at=at + timedelta(minutes=4 if is_read else 5),
            status=status,
            origin="log",
            periods=(period,) if period else (),
            positions=(DataPosition("delta version", version, version),) if version else (),
        )


def _kind(dataset: DatasetId) -> Kind:
    return Kind.PATH if dataset.namespace == "sftp" else Kind.TABLE


def _edge(
    task: str, source: DatasetId, column: str, target: DatasetId, output: str, subtype: Subtype
) -> ColumnEdge:
    return ColumnEdge(
        *(task, target, output, source, column, EdgeType.DIRECT, subtype, False, "s"), origin="log"
    )
