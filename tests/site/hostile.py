"""A project that nobody would write and any log may hold: names, sizes and texts without limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from dbt_graft.catalog.build import build as build_site
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Consumer, Description, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.settings import LineageSettings

LONG = "customer_orders_by_month_" * 20  # 500 characters
NAMES = [
    LONG,
    "x" * 500,
    "two words " * 50,
    "طلبات العملاء الشهرية",
    "\u202eevil\u202c rtl override",
    "הזמנות_raw",
    "🌱📦 orders 🚚👩‍👩‍👧‍👦",
    "日本語のテーブル名" * 12,
    "Orders",
    "ORDERS",
    "orders",
    "",
    " ",
    ".",
    "..",
    "../../../etc/passwd",
    "..\\..\\windows\\system32",
    "a/b/c",
    "%2e%2e%2fx",
    "?q=1#fragment",
    "con",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)> ' onmouseover='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "__proto__",
    "line\nbreak\ttab \u2028 \x00 \x1b[31m",
    "-->]]></script>",
    "à̴̡̢̧̛̛̖̗̘̙̜̝̞̟̠̣̤̥̦̩̪̫̬̭̮̯̰̱̲̳̹̺̻̼͇͈͉͍͎́̂̃̄̅̆̇̈̉̊̋̌̍̎̏",
]
WIDE, HUB = DatasetId("spark", "raw.wide_table"), DatasetId("spark", "raw.hub")
COLUMNS = 400
TABLE = (
    "| "
    + " | ".join(f"a heading of column {n}" for n in range(14))
    + " |\n|"
    + " --- |" * 14
    + "\n"
    + ("| " + " | ".join(f"`a_value_without_blanks_{n}`" for n in range(14)) + " |\n") * 30
)
TEXT = (
    f"# A description\n\n{'Every word of it is needed. ' * 60}\n\n{TABLE}\n\n"
    f"```sql\nselect {'a_column, ' * 80}\n```\n"
)
AT = datetime(2026, 11, 20, 3, tzinfo=UTC)


def _records(readers: int) -> tuple[Records, dict[str, TaskInfo]]:
    accesses: list[Access] = []
    runs: list[Run] = []
    datasets = [
        Dataset(HUB, columns=(Column("id", "bigint"),)),
        Dataset(
            WIDE, columns=tuple(Column(f"{LONG[:70]}_{n:03}", "decimal(38,18)") for n in range(400))
        ),
    ]
    shapes = {
        "0": Shape(
            "0", "spark", f"insert into t select {'a_' * 3000}", "sqlglot", Outcome.PARTIAL, LONG
        )
    }
    infos: dict[str, TaskInfo] = {}
    edges: list[ColumnEdge] = []

    def access(task: str, dataset: DatasetId, direction: Direction, status: Status) -> None:
        operation = Operation.SELECT if direction is Direction.READ else Operation.INSERT
        accesses.append(
            Access(
                task, f"r-{task}", dataset, Kind.TABLE, direction, operation, "0",
                first_at=AT, last_at=AT, status=status, rows=10**15, procedure=task,
            )
        )  # fmt: skip

    for n, name in enumerate(NAMES):
        task, status = name, Status.FAILED if n % 3 == 0 else Status.OK
        dataset = DatasetId("spark", f"raw.{name}")
        datasets.append(Dataset(dataset, columns=tuple(Column(one, one) for one in NAMES if one)))
        infos[task] = TaskInfo(
            TEXT, name, "https://wiki.example.com/" + "x" * 300, name, name, name, (name,)
        )
        runs += [
            Run(
                f"r-{task}" if not at else f"{at}-{task}", task, "spark",
                AT - timedelta(days=at), AT - timedelta(days=at) + timedelta(seconds=7 * at + 1),
                status, f"java.lang.IllegalStateException:{'x' * 400} {name}",
            )
            for at in range(12)
        ]  # fmt: skip
        access(task, HUB, Direction.READ, status)
        access(task, WIDE, Direction.READ, Status.OK)
        access(task, dataset, Direction.WRITE, status)
        edges += [
            ColumnEdge(task, dataset, to, WIDE, f"{LONG[:70]}_{m:03}", kind.type, kind, False, "0")
            for m, to in enumerate(one for one in NAMES if one)
            for kind in (Subtype.IDENTITY, Subtype.FILTER)
        ]
    for n in range(readers):
        task = f"reader_{n:04}"
        runs.append(Run(f"r-{task}", task, "spark", AT, AT, Status.OK))
        access(task, HUB, Direction.READ, Status.OK)
    rejects = tuple(Reject(name, name, f"{name} {'y' * 300}", name) for name in NAMES)
    return Records(
        tuple(accesses),
        tuple(runs),
        shapes,
        tuple(datasets),
        rejects=rejects,
        column_edges=tuple(edges),
    ), infos


def publish(out: Path, readers: int) -> Path:
    """Build the site of the hostile project, in which so many tasks read one table."""
    records, infos = _records(readers)
    lineage = build(records, settings=LineageSettings(infos))
    columns = {f"{LONG[:70]}_{n:03}": TEXT if n < 3 else "Short." for n in range(COLUMNS)}
    descriptions = {
        dataset: Description(
            dataset, f"model.shop.{dataset.name}", dataset.short, Role.MODEL, TEXT, LONG,
            tuple(NAMES), columns if dataset == WIDE else {},
        )
        for dataset in lineage.datasets
    }  # fmt: skip
    consumers = [
        Consumer(f"exposure.shop.{n}", name, LONG[:60], (HUB, WIDE), TEXT, LONG, name, (name,))
        for n, name in enumerate(NAMES)
    ]
    return build_site(
        DescribedLineage(lineage, descriptions, consumers), SiteSettings(LONG), out
    ).index.parent
