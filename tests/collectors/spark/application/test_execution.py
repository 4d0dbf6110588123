"""Errors of the batches of a streaming query: a stop of the query is no failure."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.application.execution import StreamingQuery

STOPPED = (
    "java.lang.InterruptedException\n\tat java.base/java.util.concurrent.locks",
    "org.apache.spark.SparkException: [SPARK_JOB_CANCELLED] Job 22 cancelled Query [id = 7] "
    "was stopped SQLSTATE: XXKDA",
)
FAILED = ("java.lang.ArithmeticException: / by zero", "")


@pytest.mark.parametrize("error", STOPPED)
def test_where_the_end_is_not_logged_the_error_decides(error: str) -> None:
    assert StreamingQuery().is_interrupted_by(error)
    assert not StreamingQuery(failed=True).is_interrupted_by(error)


@pytest.mark.parametrize("error", FAILED)
def test_other_errors_are_failures_unless_the_query_ended_without_one(error: str) -> None:
    assert not StreamingQuery().is_interrupted_by(error)
    assert StreamingQuery(stopped=True).is_interrupted_by(error)
