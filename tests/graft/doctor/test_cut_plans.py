"""Plans that Spark cut are reported task by task, with the setting that avoids it."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.gap_reasons import PATHS_CUT, PLAN_CUT, PLAN_SHORT
from dbt_graft.collectors.spark.plans.columns import OPAQUE
from dbt_graft.graft.doctor.cut_plans import cut_plans, hidden_databases, is_cut
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.records import Access, Direction, Outcome, Records, Run, Shape

NO_RULES = NameRules()


def shape(shape_id: str, reason: str | None) -> Shape:
    outcome = Outcome.PARTIAL if reason else Outcome.PARSED
    return Shape(shape_id, "spark-plan", "INSERT a <- b", "plan", outcome, reason)


def access(
    task: str,
    dataset: DatasetId,
    direction: Direction = Direction.WRITE,
    shape_id: str = "s",
    run: str = "r1",
) -> Access:
    return Access(task, run, dataset, Kind.TABLE, direction, "INSERT", shape_id)


ORDERS = DatasetId("spark", "raw.orders")


def test_a_task_with_cut_plans_is_reported_with_its_applications_and_the_setting() -> None:
    shapes = [shape("s1", f"columns: {OPAQUE}, {PLAN_CUT}"), shape("s2", f"columns: {PLAN_CUT}")]
    records = Records(
        accesses=(
            access("load", ORDERS, shape_id="s1"),
            access("load", ORDERS, shape_id="s2", run="r2"),
            access("fine", ORDERS, shape_id="s3"),
        ),
        runs=tuple(Run(r, "load", "spark", application_id=f"app-{r}") for r in ("r1", "r2")),
        shapes={one.shape_id: one for one in (*shapes, shape("s3", f"columns: {OPAQUE}"))},
    )
    [finding] = cut_plans(records)
    assert str(finding) == (
        "warning: load: Spark cut the plans of 2 statements, so columns are missing "
        "(app-r1, app-r2)\n"
        "  set spark.sql.debug.maxToStringFields=10000 in its Spark session"
    )


def test_cut_paths_have_a_setting_of_their_own() -> None:
    records = Records(
        accesses=(access("load", ORDERS, Direction.READ),),
        shapes={"s": shape("s", f"columns: {PLAN_CUT}; inputs: {PATHS_CUT}")},
    )
    assert [(finding.problem, finding.remedy.split()[1]) for finding in cut_plans(records)] == [
        (
            "Spark cut the plans of 1 statement, so columns are missing",
            "spark.sql.debug.maxToStringFields=10000",
        ),
        (
            "Spark cut the lists of paths of 1 statement, so inputs are missing",
            "spark.sql.maxMetadataStringLength=100000",
        ),
    ]


def test_many_cut_tasks_have_an_end() -> None:
    records = Records(
        accesses=tuple(access(f"task_{n:02}", ORDERS) for n in range(40)),
        shapes={"s": shape("s", f"columns: {PLAN_CUT}")},
    )
    findings = list(cut_plans(records))
    assert len(findings) == 11
    assert findings[-1].problem == "30 more tasks whose plans Spark cut"


@pytest.mark.parametrize(
    ("reason", "cut"),
    [
        (None, False),
        (f"columns: {OPAQUE}", False),
        (f"columns: {PLAN_CUT}", True),
        (f"columns: {PLAN_SHORT}", True),
        (PATHS_CUT, True),
    ],
)
def test_only_what_spark_cut_is_its_fault(reason: str | None, cut: bool) -> None:
    assert is_cut(shape("s", reason)) is cut


JDBC = DatasetId("jdbc", "dbo.Orders")


@pytest.mark.parametrize(
    ("table", "direction", "servers", "line", "setting"),
    [
        (
            *("dbo.Orders", Direction.WRITE, ["mssql://crm:1433"]),
            '- {from: "jdbc/dbo.*", to: "mssql://crm:1433/DATABASE.dbo.*"}',
            "spark.sql.redaction.options.regex=(?i)secret|password|token",
        ),
        (
            *("dbo.Orders", Direction.READ, []),
            '- {from: "jdbc/dbo.*", to: "mssql://HOST:1433/DATABASE.dbo.*"}',
            "spark.sql.catalog.<name>.url",
        ),
        (
            *("PEOPLE", Direction.READ, ["mssql://a:1433", "mssql://b:1433"]),
            '- {from: "jdbc/*", to: "mssql://HOST:1433/DATABASE.*"}',
            "spark.sql.catalog.<name>.url",
        ),
    ],
    ids=["a write, to the one server", "a read", "a table without schema"],
)
def test_a_hidden_database_is_reported_with_a_name_rule(
    table: str, direction: Direction, servers: list[str], line: str, setting: str
) -> None:
    records = Records(accesses=(access("load", DatasetId("jdbc", table), direction),))
    [finding] = hidden_databases(records, NO_RULES, servers)
    assert line in finding.remedy
    assert setting in finding.remedy
    # The line is one: a rule of graft.yml with it finds the table.
    source, target = (part.split('"')[1] for part in line.split(", to"))
    assert NameRules([NameRule(source, target)])(DatasetId("jdbc", table)).namespace != "jdbc"


def test_a_name_rule_reveals_a_database() -> None:
    records = Records(accesses=(access("load", JDBC), access("load", ORDERS)))
    rules = NameRules([NameRule("jdbc/dbo.*", "mssql://crm:1433/Shop.dbo.*")])
    assert list(hidden_databases(records, rules, [])) == []
    assert [finding.subject for finding in hidden_databases(records, NO_RULES, [])] == [
        "jdbc/dbo.*"
    ]
