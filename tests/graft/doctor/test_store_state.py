"""The doctor's findings on the store; no store stops it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.analysis.finding import Severity
from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT
from dbt_graft.collectors.store.batches import StoredBatch
from dbt_graft.graft.doctor.store_state import (
    StoreState,
    contents,
    read,
    rejects,
    replaced_keys,
    shared_tasks,
    statements,
)
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.project import Project
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Dataset,
    Direction,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
)

NOW = datetime.now(UTC)


def test_the_remedy_for_an_empty_store_is_graft_collect(tmp_path: Path) -> None:
    [finding] = contents(read(Project(Config(store=str(tmp_path)))))
    assert (finding.severity, finding.problem, finding.remedy) == (
        Severity.WARNING,
        "nothing was collected yet",
        "run `graft collect`",
    )


def test_a_damaged_store_is_an_error_and_is_taken_as_empty(tmp_path: Path) -> None:
    folder = tmp_path / "batches" / "batch_id=1"
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"PAR1 and no more")
    state = read(Project(Config(store=str(tmp_path))))
    [finding] = contents(state)
    assert finding.severity is Severity.ERROR
    assert finding.problem == (
        "the lineage store is damaged: "
        "batches/batch_id=1/part-0.parquet is not a complete Parquet file"
    )
    assert (state.records, state.positions) == (Records(), {})


def test_a_store_is_counted() -> None:
    runs = (Run("1", "load", "spark"), Run("2", "load", "spark"), Run("3", "use", "spark"))
    batches = [
        StoredBatch(n, 1, "", NOW - timedelta(days=3), (), batch_id=name)
        for n, name in enumerate("ab", 1)
    ]
    [finding] = contents(StoreState("store", Records(runs=runs), batches))
    assert str(finding) == (
        "note: store: 2 batches, the last 3 days ago; 3 runs of 2 tasks, 0 datasets"
    )


def test_names_in_which_a_key_was_replaced_are_counted() -> None:
    key = "ghp_abcdefghijklmnopqrstuvwxyz012345"
    ids = (DatasetId("https://api.test", f"{key}/x"), DatasetId("spark", "raw.orders"))
    datasets = tuple(Dataset(named) for named in ids)
    [finding] = replaced_keys(StoreState("store", Records(datasets=datasets)))
    assert finding.severity is Severity.WARNING
    assert finding.subject == "https://api.test/redacted/x"
    assert finding.problem.startswith("1 name held a key")
    assert list(replaced_keys(StoreState("store", Records(datasets=datasets[1:])))) == []


def test_a_name_that_several_jobs_end_with_is_a_warning() -> None:
    jobs = ["a/orders.load", "a/customers.load", "a/load", "a/orders.load.query.1"]
    runs = [Run(f"{n}", "load", "airflow", job=job) for n, job in enumerate(jobs)]
    unused = [Run(f"{job}", "wait", "airflow", job=f"a/{job}.wait") for job in ("orders", "load")]
    table, write = (DatasetId("spark", "raw.a"), Kind.TABLE), (Direction.WRITE, Operation.INSERT)
    access = Access("load", "1", *table, *write, "shape")
    state = StoreState("store", Records(runs=(*runs, *unused), accesses=(access,)))
    [finding] = shared_tasks(state)
    assert (finding.subject, finding.problem) == (
        "load",
        "one task of 2 jobs of events: a/customers.load, a/orders.load",
    )
    alone = StoreState("store", Records(runs=tuple(runs[1:]), accesses=(access,)))
    assert [*shared_tasks(alone)] == []


UNNAMED = "the application is called 'pyspark-shell', which names no task: set spark.app.name"


def test_rejects_are_summed_up_by_reason_the_most_frequent_first() -> None:
    pieces = [Reject("a.xel", "9", "the event is cut off")]
    pieces += [Reject(f"app-{n}", "whole log", UNNAMED) for n in range(5)]
    findings = list(rejects(StoreState("store", Records(rejects=tuple(pieces)))))
    assert [(finding.subject, finding.problem) for finding in findings] == [
        ("app-0, app-1, app-2 and 2 more", f"5 × {UNNAMED}"),
        ("a.xel", "1 × the event is cut off"),
    ]


def test_many_reasons_have_an_end() -> None:
    pieces = tuple(Reject("a", "", f"reason {n:02}") for n in range(25))
    findings = list(rejects(StoreState("store", Records(rejects=pieces))))
    assert (len(findings), findings[-1].problem) == (11, "15 more reasons of rejects")


def test_a_gap_of_a_run_has_no_example() -> None:
    shape = Shape("s", "spark-plan", "", "plan", Outcome.PARTIAL, "rows in code")
    [finding] = statements(StoreState("store", Records(shapes={"s": shape})))
    assert finding.problem == "1 parsed in part: rows in code"


@pytest.mark.parametrize(
    ("outcome", "reason", "pieces"),
    [
        (Outcome.PARSED, None, None),
        (Outcome.FAILED, "a syntax error", (Severity.WARNING, "1 not parsed: a syntax error")),
        (Outcome.PARTIAL, "other tables", (Severity.NOTE, "1 parsed in part: other tables")),
        (Outcome.PARTIAL, f"columns: {PLAN_CUT}", None),
    ],
    ids=["parsed", "failed", "partial", "cut by Spark"],
)
def test_statements_that_were_not_parsed(
    outcome: Outcome, reason: str | None, pieces: tuple[Severity, str] | None
) -> None:
    shape = Shape("s", "tsql", "SELECT " + "a, " * 50, "parser", outcome, reason)
    findings = list(statements(StoreState("store", Records(shapes={"s": shape}))))
    assert [(finding.severity, finding.problem.split("; ")[0]) for finding in findings] == (
        [pieces] if pieces else []
    )
    assert all(len(finding.problem) < 160 for finding in findings)
