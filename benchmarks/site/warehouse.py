"""A warehouse of any size for benchmarks of the site: tables, columns, tasks and their lineage."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
)

COLUMNS = 15
TABLES_PER_SCHEMA = 100
WRITES_PER_TASK = 10
AT = datetime(2026, 11, 20, tzinfo=UTC)
SUBJECTS = ("orders", "customers", "payments", "shipments", "products", "returns", "invoices")


def table(n: int) -> DatasetId:
    """The n-th table: `layer_03.orders_by_day_00312`."""
    subject = SUBJECTS[n % len(SUBJECTS)]
    return DatasetId("spark", f"layer_{n // TABLES_PER_SCHEMA:03}.{subject}_by_day_{n:05}")


def warehouse(tables: int) -> tuple[Lineage, dict[DatasetId, Description]]:
    """Tables, each read from two earlier ones by a task that writes ten of them."""
    accesses, runs, shapes, edges = [], [], {}, []
    names = [f"{SUBJECTS[n % len(SUBJECTS)]}_{n}" for n in range(COLUMNS)]
    for n in range(tables):
        task = f"build_{SUBJECTS[n % len(SUBJECTS)]}_{n // WRITES_PER_TASK:05}"
        shape = f"3-{n:020x}"
        parents = [table(m) for m in sorted({n // 2, max(0, n - TABLES_PER_SCHEMA)}) if m < n]
        text = f"INSERT INTO {table(n).name} SELECT * FROM {parents[:1]}"
        shapes[shape] = Shape(shape, "spark", text, "sqlglot", Outcome.PARSED)
        for day in range(3):
            at, run = AT + timedelta(days=day), f"{task}-{day}"
            if n % WRITES_PER_TASK == 0:
                ended = at + timedelta(minutes=n % 50)
                runs.append(Run(run, task, "spark", at, ended, Status.OK))
            common = {"operation": Operation.INSERT, "shape_id": shape, "first_at": at}
            for parent in parents:
                access = (task, run, parent, Kind.TABLE, Direction.READ)
                accesses.append(Access(*access, **common, last_at=at))
            access = (task, run, table(n), Kind.TABLE, Direction.WRITE)
            accesses.append(Access(*access, **common, rows=1000 + n, last_at=at))
        for parent in parents[:1]:
            for at_column, name in enumerate(names):
                how = Subtype.IDENTITY if at_column % 3 else Subtype.AGGREGATION
                edges.append(
                    ColumnEdge(task, table(n), name, parent, name, how.type, how, False, shape)
                )
    columns = tuple(Column(name, "decimal(18,2)") for name in names)
    lineage = build(
        Records(
            accesses=tuple(accesses),
            runs=tuple(runs),
            shapes=shapes,
            datasets=tuple(Dataset(table(n), columns=columns) for n in range(tables)),
            column_edges=tuple(edges),
        )
    )
    texts = {name: f"The {name.replace('_', ' ')} of the day." for name in names}
    descriptions = {
        table(n): Description(
            table(n),
            f"model.shop.{table(n).parts[-1]}",
            role=Role.MODEL,
            name=table(n).parts[-1],
            text=f"{SUBJECTS[n % len(SUBJECTS)].title()} by day, cleaned.",
            owner=f"Team {n % 20}",
            tags=(f"tag_{n % 30}", "daily"),
            columns=texts,
        )
        for n in range(tables)
    }
    return lineage, descriptions
