"""Rules of lineage: each finds what it is about, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbt_graft.analysis.checks.report import owner_scores
from dbt_graft.analysis.checks.rules import RuleScope, rule_findings
from dbt_graft.analysis.rule import SECOND_WRITER, STALE_EDGE
from dbt_graft.lineage.building.checks import Check
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Dataset,
    Direction,
    Evidence,
    NodeResult,
    Outcome,
    Reject,
    Run,
    Shape,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each

ORDERS, RAW = DatasetId("spark", "orders"), DatasetId("spark", "raw")
NOW = datetime(2026, 11, 1, tzinfo=UTC)
CODE = TaskInfo(repo="https://example.com/jobs")


def write(task: str = "load", **more: Any) -> Usage:
    values = {"shapes": ("ok",), **more}
    return Usage(task, ORDERS, Direction.WRITE, (Operation.INSERT,), **values)


def task(*usages: Usage, info: TaskInfo = CODE, runs: tuple[Run, ...] = (), **more: Any) -> Task:
    return Task(usages[0].task, ("spark",), usages, runs, info, **more)


def lineage(*tasks: Task, **more: Any) -> Lineage:
    shapes = {
        "ok": Shape("ok", "spark", "select 1", "plan", Outcome.PARSED),
        "bad": Shape("bad", "spark", "select ?", "plan", Outcome.PARTIAL, "columns: why"),
        "open": Shape("open", "spark", "exec (@s)", "plan", Outcome.FAILED, "it is dynamic"),
    }
    datasets = {one: Dataset(one, Kind.TABLE) for one in (ORDERS, RAW)}
    return Lineage(datasets, {one.name: one for one in tasks}, shapes=shapes, **more)


CHANGES = ("DELETE", "TRUNCATE", "UPDATE", "DROP", "ALTER", "RENAME", "CREATE TABLE")


def change(verb: str, task: str) -> Usage:
    """The use of the orders by a statement of this verb; SELECT reads them."""
    operation, direction = Operation(verb), Direction.READ if verb == "SELECT" else Direction.WRITE
    moves = operation.brings_data or verb == "SELECT"
    return Usage(task, ORDERS, direction, (operation,), ("ok",), moves_data=moves)


def described(**more: Any) -> dict[DatasetId, Description]:
    return {ORDERS: Description(ORDERS, "model.shop.orders", "orders", Role.MODEL, **more)}


def result(node: str, **more: Any) -> DbtRuns:
    return DbtRuns({node: (NodeResult(node, "1", **more),)})


TESTED = (NodeTest("test.shop.unique", "unique", "id"),)
MODEL = {"orders": Definition("orders", DefinitionKind.DBT, ORDERS)}
DASHBOARD = Consumer("exposure.shop.sales", "Sales", "dashboard", (ORDERS,), freshness_slo="PT2H")
OLD = (Flow(RAW, ORDERS, "load", last_at=NOW - timedelta(100)),)
PLATFORM = RuleScope(platform=("Airflow.*", "load"))
AGED = RuleScope(stale_before=NOW - timedelta(90))


@for_each(
    "found_in, descriptions, consumers, scope, expected",
    [
        pytest.param(lineage(task(write())), {}, (), RuleScope(), [], id="all is known"),
        pytest.param(
            *(lineage(task(write(evidence=Evidence.DECLARED))), {}, (), RuleScope()),
            ["MISSING_PRODUCING_RUN spark/orders"],
            id="declared only",
        ),
        pytest.param(
            lineage(task(write(evidence=Evidence.DECLARED)), definitions=MODEL),
            *({}, (), RuleScope()),
            ["SECOND_WRITER spark/orders"],
            id="declared, and dbt builds it",
        ),
        pytest.param(
            *(lineage(task(write())), {}, (replace(DASHBOARD, deadline="08:00 Mars/Base"),)),
            *(RuleScope(), ["PROMISE_NOT_READ Sales"]),
            id="a deadline on Mars",
        ),
        pytest.param(
            *(lineage(task(write())), {}, (replace(DASHBOARD, freshness_slo="often"),)),
            *(RuleScope(), ["PROMISE_NOT_READ Sales"]),
            id="an SLO that is not a length of time",
        ),
        pytest.param(
            *(lineage(task(write())), {}, (replace(DASHBOARD, deadline="08:00 Europe/Paris"),)),
            *(RuleScope(), []),
            id="a deadline",
        ),
        pytest.param(
            *(lineage(task(write(), info=TaskInfo())), {}, (), RuleScope()),
            ["MISSING_CODE_REF load"],
            id="no code",
        ),
        pytest.param(
            lineage(
                task(
                    write(),
                    info=TaskInfo(),
                    runs=(Run("1", "load", "spark", code_version="4f1c"),),
                )
            ),
            *({}, (), RuleScope(), []),
            id="the code's version is enough",
        ),
        pytest.param(
            *(lineage(task(write()), task(write("fix"))), {}, (), RuleScope()),
            ["SECOND_WRITER spark/orders"],
            id="two writers",
        ),
        pytest.param(
            *(lineage(task(write(shapes=("ok", "bad")))), {}, (), RuleScope()),
            ["UNRESOLVED_STATEMENTS load"],
            id="a statement of which not all columns are known",
        ),
        pytest.param(
            *(lineage(task(write(shapes=("ok", "bad")), gaps=("open",))), {}, (), RuleScope()),
            ["UNRESOLVED_STATEMENTS load", "UNRESOLVED_STATEMENTS load"],
            id="a statement of which nothing is known, too",
        ),
        pytest.param(
            *(lineage(task(write(), gaps=("open",))), {}, (), RuleScope(accept=("lo*",)), []),
            id="a statement of which nothing is known, of a task that is accepted",
        ),
        pytest.param(
            *(lineage(task(write())), described(tags=("Certified",)), (), RuleScope()),
            [
                "CERTIFIED_ASSET_MISSING_OWNER spark/orders",
                "CERTIFIED_ASSET_MISSING_SLO spark/orders",
            ],
            id="certified, and no more",
        ),
        pytest.param(
            lineage(task(write())),
            described(tags=("certified",), owner="Finance"),
            *((DASHBOARD,), RuleScope(), []),
            id="certified, with an owner and a reader who says how fresh",
        ),
        pytest.param(
            lineage(task(write())),
            described(tags=("certified",), owner="Finance", is_checked_for_freshness=True),
            *((), RuleScope(), []),
            id="certified, with an owner and a freshness check",
        ),
        pytest.param(
            *(lineage(task(write())), described(tags=("gold",)), (), RuleScope()),
            ["GOLD_ASSET_MISSING_QUALITY_RESULT spark/orders"],
            id="gold without a test",
        ),
        pytest.param(
            *(lineage(task(write())), described(tags=("gold",), tests=TESTED), (), RuleScope()),
            ["GOLD_ASSET_MISSING_QUALITY_RESULT spark/orders"],
            id="gold, and its test never ran",
        ),
        pytest.param(
            lineage(task(write()), dbt=result("test.shop.unique", status=Status.OK)),
            described(tags=("gold",), tests=TESTED),
            *((), RuleScope(), []),
            id="gold with a result",
        ),
        pytest.param(
            lineage(task(write()), dbt=result("test.shop.unique", word="skipped")),
            described(tags=("gold",), tests=TESTED),
            *((), RuleScope(), ["GOLD_ASSET_MISSING_QUALITY_RESULT spark/orders"]),
            id="gold, and dbt skipped its test",
        ),
        pytest.param(
            lineage(
                task(write()),
                dbt=result("test.shop.unique", word="error", status=Status.FAILED),
            ),
            described(tags=("gold",), tests=TESTED),
            *((), RuleScope(), ["GOLD_ASSET_MISSING_QUALITY_RESULT spark/orders"]),
            id="gold, and its test could not be run",
        ),
        pytest.param(
            lineage(task(write()), dbt=result(Check(ORDERS, "unique").id, status=Status.FAILED)),
            described(tags=("gold",)),
            *((), RuleScope(), []),
            id="gold with the result of a check in an event",
        ),
        pytest.param(
            *(lineage(task(write("load [prod]?"))), {}, ()),
            *(RuleScope(platform=("load [prod]?",)), []),
            id="of the platform, with brackets in its name",
        ),
        pytest.param(
            *(lineage(task(write("loads"))), {}, (), RuleScope(platform=("load?", "load[s]"))),
            ["WRITE_OUTSIDE_PLATFORM loads"],
            id="only a star is a wildcard",
        ),
        pytest.param(*(lineage(task(write())), {}, (), PLATFORM, []), id="of the platform"),
        pytest.param(
            *(lineage(task(write("notebook"))), {}, (), PLATFORM),
            ["WRITE_OUTSIDE_PLATFORM notebook"],
            id="not of the platform",
        ),
        pytest.param(
            lineage(*(task(change(verb, verb.lower())) for verb in (*CHANGES, "SELECT"))),
            *({}, (), PLATFORM),
            [f"WRITE_OUTSIDE_PLATFORM {verb.lower()}" for verb in CHANGES],
            id="not of the platform, and changes what is there",
        ),
        pytest.param(
            *(lineage(task(replace(change("DELETE", "fix"), failed=True))), {}, (), PLATFORM, []),
            id="not of the platform, and failed to change anything",
        ),
        pytest.param(
            *(lineage(task(write()), flows=OLD), {}, (), AGED),
            ["STALE_EDGE spark/orders"],
            id="not seen for long",
        ),
        pytest.param(
            lineage(task(write()), flows=(*OLD, Flow(RAW, ORDERS, "fix", last_at=NOW))),
            *({}, (), AGED, []),
            id="seen by another task since",
        ),
    ],
)
def test_a_rule_finds(
    found_in: Lineage,
    descriptions: dict[DatasetId, Description],
    consumers: tuple[Consumer, ...],
    scope: RuleScope,
    expected: list[str],
) -> None:
    findings = rule_findings(found_in, descriptions, consumers, scope)
    assert [f"{finding.code} {finding.subject}" for finding in findings] == expected


def test_a_finding_says_what_is_not_known_of_statements() -> None:
    findings = rule_findings(
        lineage(task(write(shapes=("ok", "bad")), gaps=("open",))), {}, (), RuleScope()
    )
    assert [finding.problem for finding in findings] == [
        "may read or write more than is known: it is dynamic (exec (@s))",
        "of 1 of its 3 statements not all columns are known",
    ]


@for_each(
    "accept, tasks, expected",
    [
        ((), "abc", ["log: a, b, c"]),
        (("b",), "abc", ["log: a, c"]),
        (("log",), "abc", []),
        (("a", "b"), "ab", []),
        ((), "a", ["a"]),
    ],
)
def test_a_part_that_may_be_of_any_task_of_a_log_is_one_finding(
    accept: tuple[str, ...], tasks: str, expected: list[str]
) -> None:
    runs = {name: (Run(name, name, "spark", origin="log"),) for name in tasks}
    with_log = lineage(
        *(task(replace(write(name), moves_data=False), runs=runs[name]) for name in tasks),
        rejects=(Reject("log", "1", "it is cut"), Reject("log", "2", "it is cut")),
    )
    findings = [
        finding
        for finding in rule_findings(with_log, {}, (), RuleScope(accept=accept))
        if finding.code == "UNRESOLVED_STATEMENTS"
    ]
    assert [
        finding.subject + finding.problem.rpartition("known")[2].replace(": it is cut", "")
        for finding in findings
    ] == expected


def test_a_score_is_the_share_without_warnings_and_errors() -> None:
    owned = {"a": "Finance", "b": "Finance", "c": "Finance", "d": "Sales"}
    findings = [SECOND_WRITER.finding(subject, "") for subject in ("a", "d", "x")]
    findings.append(STALE_EDGE.finding("b", ""))
    assert owner_scores(owned, findings) == {"Finance": 66, "Sales": 0}
