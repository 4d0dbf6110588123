"""Owners of applications, names of their tasks, and redacted errors."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.redact import redact_error
from dbt_graft.collectors.spark.application.identity import is_dbt, shell_task, task_name
from tests.cases import for_each


@for_each(
    "app, task",
    [
        ("load_orders", "load_orders"),
        (" load orders ", "load orders"),
        ("load_orders-2026-11-21", "load_orders"),
        ("load_orders_20261121", "load_orders"),
        ("load_orders_20261121T050000", "load_orders"),
        ("load_orders-2026-11-21T05:00:00+00:00", "load_orders"),
        ("load_orders 2026-11-21 05:00", "load_orders"),
        ("load_orders_1795229194066", "load_orders"),
        ("load_orders-0c6f4b2e-1111-4222-8333-944455556666", "load_orders"),
        ("load_orders_2026-11-21_0c6f4b2e111142228333944455556666", "load_orders"),
        ("load_orders (2026-11-21)", "load_orders"),
        ("load_orders_2026112503", "load_orders"),
        ("load_orders_25-11-2026", "load_orders"),
        ("load_orders-11.25.2026 03:00", "load_orders"),
        ("load_orders_2026_11", "load_orders"),
        ("load_orders_202611", "load_orders"),
        ("load_orders-2026-W47", "load_orders"),
        ("load_orders-2016-10-05:21", "load_orders"),
        ("load_orders_scheduled__2026-11-21T05:00:00+00:00", "load_orders"),
        ("load_orders_2026_13", "load_orders_2026_13"),
        ("load_orders_25-2026", "load_orders_25-2026"),
        ("load_orders_v2", "load_orders_v2"),
        ("load_2026_targets", "load_2026_targets"),
        ("job.py", "job.py"),
        ("2026-11-21", "2026-11-21"),
        ("pyspark-shell", None),
        ("Spark shell", None),
        ("Thrift JDBC/ODBC Server", None),
        ("Spark Connect server", None),
        ("SparkSQL::10.0.0.1", None),
        ("Databricks Shell", None),
        ("graft collect", None),
        ("0c6f4b2e-1111-4222-8333-944455556666", None),
        ("", None),
    ],
)
def test_the_application_names_the_task_without_dates_and_ids(app: str, task: str | None) -> None:
    assert task_name(app, r"(?P<task>.+)") == task


@for_each(
    "app, task",
    [
        ("Spark shell", "spark-shell"),
        ("PySparkShell", "pyspark"),
        ("SparkR", "sparkR"),
        ("SparkSQL::10.0.0.1", "spark-sql"),
        # Python scripts without a name, and servers of many users
        ("pyspark-shell", None),
        ("Thrift JDBC/ODBC Server", None),
        ("Databricks Shell", None),
        ("load_orders", None),
    ],
)
def test_work_at_a_prompt_is_the_task_of_its_command(app: str, task: str | None) -> None:
    assert shell_task(app, r"(?P<task>.+)") == task
    assert shell_task(app, r"etl::(?P<task>[^:]*)") is None


@pytest.mark.parametrize(
    ("app", "task"),
    [("etl::load_orders::17", "load_orders"), ("adhoc", None), ("etl::", None)],
)
def test_a_rule_picks_the_task_out_of_the_name(app: str, task: str | None) -> None:
    assert task_name(app, r"etl::(?P<task>[^:]*)") == task


@for_each(
    "app, description, plan",
    [
        ("dbt", "", ""),
        ("dbt-spark", "", ""),
        ("dbt build shop", "", ""),
        ("x", "collect at /venv/site-packages/dbt/adapters/spark/session.py:142", ""),
        ("x", r"collect at C:\venv\Lib\site-packages\dbt\adapters\spark\session.py:1", ""),
        ("x", "", "Arguments: `orders__dbt_tmp`, select * from raw.orders, LocalTempView"),
        ("x", "", "Arguments: `spark_catalog`.`dev`.`orders__dbt_backup`, false"),
    ],
)
def test_dbt_is_recognised(app: str, description: str, plan: str) -> None:
    assert is_dbt(app, ["sql at NativeMethodAccessorImpl.java:0", description], [plan])


@pytest.mark.parametrize("app", ["load_dbt_sources", "dbtools", "dbt_metadata_export", "my dbt"])
def test_a_task_with_dbt_in_its_name_is_a_task(app: str) -> None:
    assert not is_dbt(app, ["collect at /home/me/dbt_tasks/load.py:3"], ["`raw`.`dbt_tmp`"])


@for_each(
    "message, redacted",
    [
        (
            "[TABLE_OR_VIEW_NOT_FOUND] Table or view `raw`.`x` cannot be found. SQLSTATE: 42P01",
            "TABLE_OR_VIEW_NOT_FOUND `raw`.`x` (SQLSTATE 42P01)",
        ),
        (
            "[CAST_INVALID_INPUT] The value 'Jane' of the type \"STRING\" cannot be cast",
            "CAST_INVALID_INPUT",
        ),
        (
            "[USER_RAISED_EXCEPTION] password=hunter2 SQLSTATE: P0001",
            "USER_RAISED_EXCEPTION (SQLSTATE P0001)",
        ),
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `x` cannot be resolved. Did you mean `y`",
            "UNRESOLVED_COLUMN.WITH_SUGGESTION `x`",
        ),
        (
            '[PYTHON_EXCEPTION] Traceback:\n  File "/home/jane/f.py", line 3\n'
            "ValueError: bad customer Jane\n SQLSTATE: 38000",
            "PYTHON_EXCEPTION (ValueError) (SQLSTATE 38000)",
        ),
        (
            "Job aborted due to stage failure: (host 10.1.2.3): java.lang.RuntimeException: Jane",
            "RuntimeException",
        ),
        (
            "org.apache.spark.SparkException: Job aborted. Caused by: java.io.IOException: /home/j",
            "SparkException, IOException",
        ),
        (
            "Job aborted: com.nvidia.spark.rapids.jni.GpuSplitAndRetryOOM: GPU OutOfMemory of Jane",
            "GpuSplitAndRetryOOM",
        ),
        ("Duplicate map key Jane was found", "failed"),
        ("JANE", "failed"),
        ("CAST_INVALID_INPUT `Jane`", "failed"),
        ("CAST_INVALID_INPUT (Jane)", "failed"),
        ("RuntimeException, Jane", "failed"),
    ],
)
def test_a_redacted_error_has_nothing_that_could_be_data(message: str, redacted: str) -> None:
    assert redact_error(message) == redacted
    assert redact_error(redacted) == redacted
