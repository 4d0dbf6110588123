"""One edge that several sources show: it is there once, and has all their evidences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.event_runs import EVENT_SHAPE
from dbt_graft.lineage.building.evidences import evidence_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Evidence, Records, Run, Status
from tests import notation
from tests.cases import for_each

NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)
SPARK = Run("app-1", "load", "spark", NOW, NOW, Status.OK, parent_run_id="t1")
LATER = replace(SPARK, started_at=NOW + timedelta(minutes=1))
LOOSE = replace(SPARK, parent_run_id=None)
SERVER = Run("s-1", "load", "sqlserver", NOW, NOW, Status.OK)
TRY = Run(
    *("t1", "load", "airflow", NOW, NOW, Status.OK),
    application_id="shop/load/manual__1",
    job="etl/shop.load",
)
EVENT = Run("e1", "load", "spark", NOW, NOW, Status.OK, job="etl/load")
JOB = Run("job:load", "load", "spark", None, None, Status.OK, job="etl/load")
YAML = Run("declared:lineage/#shop.yml/load/0", "load", "", None, None)
DECLARED = Evidence.DECLARED


def statement(run: Run, text: str, evidence: Evidence = Evidence.OBSERVED) -> list[Access]:
    """`a, b -> c`: a statement of a run reads a and b and writes c."""
    shape = f"{EVENT_SHAPE}{run.run_id}{text}" if run.job else f"{run.run_id}{text}"
    return notation.run_accesses(
        run,
        text,
        task="load",
        shape_id=shape,
        rows=None if run.job or run is YAML else 7,
        evidence=evidence,
        origin=run.run_id.removesuffix("/load/0") if run is YAML else "",
    )


Statement = tuple[Run, str] | tuple[Run, str, Evidence]


def of(statements: Sequence[Statement]) -> Lineage:
    """The lineage of what runs did."""
    runs = [one[0] for one in statements if one[0] not in (YAML, JOB)]
    return build(
        Records(
            runs=tuple(dict.fromkeys(runs)),
            accesses=tuple(access for one in statements for access in statement(*one)),
        )
    )


CASES: dict[str, tuple[list[Statement], dict[str, str]]] = {
    "a log alone": ([(SPARK, "a -> b")], {"a -> b": ""}),
    "an event alone": ([(EVENT, "a -> b")], {"a -> b": ""}),
    "a log and an event": (
        [(SPARK, "a -> b"), (EVENT, "a -> b")],
        {"a -> b": "observed (OpenLineage event, Spark log)"},
    ),
    "a log and Airflow's inlets and outlets": (
        [(SPARK, "a -> b"), (TRY, "a -> b", DECLARED)],
        {"a -> b": "observed (Spark log) · declared (Airflow)"},
    ),
    "of a run that was not handed over": (
        [(LOOSE, "a -> b"), (TRY, "a -> b", DECLARED)],
        {"a -> b": "observed (Spark log) · declared (Airflow)"},
    ),
    "a log and what an extractor found": (
        [(LOOSE, "a -> b"), (TRY, "a -> b")],
        {"a -> b": "observed (OpenLineage event, Spark log)"},
    ),
    "a log and YAML": (
        [(SPARK, "a -> b"), (YAML, "a -> b", DECLARED)],
        {"a -> b": "observed (Spark log) · declared (shop.yml)"},
    ),
    "a log and an event without a run": (
        [(SERVER, "a -> b"), (JOB, "a -> b", DECLARED)],
        {"a -> b": "observed (SQL Server log) · declared (OpenLineage job event)"},
    ),
    "all of them": (
        [
            *((SPARK, "a -> b"), (SERVER, "a -> b"), (EVENT, "a -> b")),
            *((TRY, "a -> b", DECLARED), (YAML, "a -> b", DECLARED)),
        ],
        {
            "a -> b": "observed (OpenLineage event, SQL Server log, Spark log)"
            " · declared (Airflow, shop.yml)"
        },
    ),
    "two logs of one task": (
        [(SPARK, "a -> b"), (SERVER, "a -> b")],
        {"a -> b": ""},
    ),
    "a body of a procedure, and YAML": (
        [(SERVER, "a -> b", Evidence.INFERRED), (YAML, "a -> b", DECLARED)],
        {"a -> b": "declared (shop.yml) · inferred (SQL Server log)"},
    ),
    "an event of all that a run did makes no edge across its statements": (
        [(SPARK, "a -> x"), (SPARK, "b -> y"), (TRY, "a, b -> x, y")],
        {
            "a -> x": "observed (OpenLineage event, Spark log)",
            "b -> y": "observed (OpenLineage event, Spark log)",
        },
    ),
    "what an event adds has its evidence alone": (
        [(SPARK, "a -> x"), (TRY, "a, c -> x", DECLARED)],
        {"a -> x": "observed (Spark log) · declared (Airflow)", "c -> x": ""},
    ),
    "another edge of the same datasets shows nothing": (
        [(SPARK, "a -> x"), (YAML, "a -> y", DECLARED), (YAML, "b -> x", DECLARED)],
        {"a -> x": "", "a -> y": "", "b -> x": ""},
    ),
    "through the memory of a task": (
        [(SPARK, "a -> "), (LATER, " -> b"), (TRY, "a -> b", DECLARED)],
        {"a -> b": "observed (Spark log) · declared (Airflow)"},
    ),
    "a failed event shows nothing": (
        [(LOOSE, "a -> b"), (replace(EVENT, status=Status.FAILED), "a -> b")],
        {"a -> b": ""},
    ),
    "nor does a failed log": (
        [(replace(LOOSE, status=Status.FAILED), "a -> b"), (TRY, "a -> b", DECLARED)],
        {"a -> b": ""},
    ),
}


@for_each("case", CASES)
def test_an_edge_is_there_once_with_all_its_evidences(case: str) -> None:
    statements, expected = CASES[case]
    flows = [
        (f"{f.source.short} -> {f.target.short}".replace("raw.", ""), evidence_text(f.evidences))
        for f in of(statements).flows
    ]
    assert sorted(flows) == sorted(expected.items())


@for_each("case", CASES)
def test_the_strongest_evidence_is_that_of_the_edge(case: str) -> None:
    lineage = of(CASES[case][0])
    usages = [usage for task in lineage.tasks.values() for usage in task.usages]
    for edge in (*lineage.flows, *(usage for usage in usages if not usage.repeats)):
        assert not edge.evidences or edge.evidences[0].evidence is edge.evidence


@for_each("case", CASES)
def test_the_order_of_records_does_not_matter(case: str) -> None:
    statements = CASES[case][0]
    for shuffled in permutations(statements):
        assert of(shuffled).flows == of(statements).flows
        assert of(shuffled).tasks == of(statements).tasks


LISTED = {
    "an event on the engine of the log": ([(SPARK, "a -> b"), (EVENT, "a -> b")], ["spark"]),
    "Airflow beside the log": ([(LOOSE, "a -> b"), (TRY, "a -> b")], ["spark"]),
    "YAML beside the log": ([(SPARK, "a -> b"), (YAML, "a -> b", DECLARED)], ["spark"]),
    "two logs": ([(SPARK, "a -> b"), (SERVER, "a -> b")], ["spark", "sqlserver"]),
    "Airflow alone": ([(TRY, "a -> b", DECLARED)], ["airflow"]),
    "Airflow beside a log of failures": (
        [(replace(LOOSE, status=Status.FAILED), "a -> b"), (TRY, "a -> b")],
        ["airflow"],
    ),
}


@for_each("case", LISTED)
def test_a_writer_is_listed_once_with_the_rows_of_its_log(case: str) -> None:
    statements, engines = LISTED[case]
    lineage = of(statements)
    target = DatasetId("spark", "raw.b")
    writers = lineage.writers(target)
    assert sorted(writer.engine for writer in writers) == engines
    logged = [writer for writer in writers if writer.engine != "airflow"]
    assert all((writer.rows, writer.operations) == (7, (Operation.INSERT,)) for writer in logged)


def test_runs_of_airflow_that_no_log_shows_stay_in_the_history() -> None:
    lineage = of([(LOOSE, "a -> b"), (TRY, "a -> b")])
    usages = lineage.usages_of(DatasetId("spark", "raw.b"), Direction.WRITE)
    runs = lineage.tasks["load"].runs_of(*usages)
    assert sorted(run.engine for run in runs) == ["airflow", "spark"]
