"""dbt's manifest against what dbt's own runs on Spark read."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.analysis.checks.drift import model_drift
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction, Records, Run, Status
from tests.cases import for_each

RUNS = 4


def table(name: str) -> DatasetId:
    return DatasetId("spark", name)


def lineage(
    read: str, *, written: str = "dw.mart", runs: int = RUNS, status: Status = Status.OK
) -> Lineage:
    """Runs of dbt in which one statement reads some tables and writes one."""
    accesses, found = [], []
    for day in range(1, runs + 1):
        at, run_id = datetime(2026, 11, day, tzinfo=UTC), f"app-{day}"
        found.append(Run(run_id, "dbt", "dbt", at, at, Status.OK, origin=run_id))
        uses = [(one, Direction.READ) for one in read.split()] + [(written, Direction.WRITE)]
        accesses += [
            Access(
                *("dbt", run_id, table(name), Kind.TABLE, direction),
                *(Operation.CREATE_TABLE_AS, f"shape of {written}"),
                first_at=at,
                last_at=at,
                status=status,
                origin=run_id,
            )
            for name, direction in uses
        ]
        # Another statement of the same run, that writes nothing: a test.
        accesses.append(
            Access(
                *("dbt", run_id, table("other.tested"), Kind.TABLE, Direction.READ),
                *(Operation.SELECT, "a test"),
                first_at=at,
                last_at=at,
                origin=run_id,
            )
        )
    return build(Records(accesses=tuple(accesses), runs=tuple(found)))


def drifted(found: Lineage, manifest: str, views: str = "", **more: object) -> dict[str, str]:
    """Dataset -> the status of its edge into the mart; `manifest`: `mart < stg raw; stg < raw`."""
    definitions = {}
    for line in manifest.split(";"):
        name, _, parents = line.partition("<")
        dataset = table(f"dw.{name.strip()}")
        reads = tuple(table(f"dw.{one}" if "." not in one else one) for one in parents.split())
        definition = Definition(f"model.shop.{name.strip()}", DefinitionKind.DBT, dataset, reads)
        definitions[definition.name] = definition
    datasets = {
        table(f"dw.{name}"): Dataset(table(f"dw.{name}"), Kind.VIEW) for name in views.split()
    }
    with_manifest = Lineage(datasets, definitions=definitions, dbt=DbtRuns(reads=found.dbt.reads))
    edges = model_drift(with_manifest, **more)  # type: ignore[arg-type]
    assert {edge.task for edge in edges} <= {"model.shop.mart"}
    return {edge.dataset.name: edge.status.value for edge in edges}


@for_each(
    "read, manifest, views, expected",
    [
        ("raw.orders", "mart < raw.orders", "", {"raw.orders": "VERIFIED"}),
        ("RAW.Orders", "mart < raw.orders", "", {"raw.orders": "VERIFIED"}),
        (
            "raw.orders raw.prices",
            "mart < raw.orders",
            "",
            {"raw.orders": "VERIFIED", "raw.prices": "UNDECLARED"},
        ),
        (
            "raw.orders",
            "mart < raw.orders raw.prices",
            "",
            {"raw.orders": "VERIFIED", "raw.prices": "PHANTOM"},
        ),
        # Plans show what is behind a view.
        ("raw.orders", "mart < stg; stg < raw.orders", "stg", {"dw.stg": "VERIFIED"}),
        ("raw.orders", "mart < stg; stg < raw.orders", "", {"dw.stg": "VERIFIED"}),
        (
            "raw.orders",
            "mart < b; b < a; a < raw.orders",
            "a b",
            {"dw.b": "VERIFIED"},
        ),
        # A table is no view: what it is made of is not read through it.
        (
            "dw.stg raw.orders",
            "mart < stg; stg < raw.orders",
            "",
            {"dw.stg": "VERIFIED", "raw.orders": "UNDECLARED"},
        ),
        # Views that lead in a circle end.
        ("raw.x", "mart < a; a < b; b < a", "a b", {"dw.a": "PHANTOM", "raw.x": "UNDECLARED"}),
        # An incremental model reads itself.
        ("dw.mart raw.orders", "mart < raw.orders", "", {"raw.orders": "VERIFIED"}),
        ("raw.orders", "other < raw.orders", "", {}),
    ],
)
def test_an_edge_of_the_manifest(
    read: str, manifest: str, views: str, expected: dict[str, str]
) -> None:
    assert drifted(lineage(read), manifest, views) == expected


def test_too_few_runs_tell_nothing() -> None:
    found = lineage("raw.orders", runs=2)
    assert drifted(found, "mart < raw.prices")["raw.prices"] == "UNVERIFIED"


def test_failed_statements_do_not_count() -> None:
    assert drifted(lineage("raw.orders", status=Status.FAILED), "mart < raw.orders") == {}


def test_what_was_read_before_and_not_since_is_a_phantom() -> None:
    found = lineage("raw.orders")
    since = datetime(2026, 11, 30, tzinfo=UTC)
    assert drifted(found, "mart < raw.orders", since=since) == {}
