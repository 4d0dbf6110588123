"""The progress of a collect through its logs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dbt_graft.collectors.reading import Reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Count:
    """An accumulator without Spark."""

    def __init__(self, value: int) -> None:
        self.value = value

    def add(self, more: int) -> None:
        self.value += more


def test_logs_and_bytes_of_all_sources_are_counted() -> None:
    spark: Any = SimpleNamespace(_sc=SimpleNamespace(accumulator=Count))
    reading = Reading(spark)
    assert (str(reading), reading.part) == ("", None)
    first, second = reading.counter(2, 1_500_000), reading.counter(1, 500_000)
    assert (str(reading), reading.part) == ("0 of 3 logs, 0 bytes of 2.0 MB", 0.0)
    first.add(1, 1_000_000)
    assert (str(reading), reading.part) == ("1 of 3 logs, 1.0 MB of 2.0 MB", 0.5)
    second.add(1, 500_000)
    first.add(1, 500_000)
    first.add(1, 500_000)  # a task that Spark ran twice
    assert (str(reading), reading.part) == ("3 logs read, 2.0 MB; writing to the store", 1.0)


def test_where_spark_does_not_count_the_total_is_shown() -> None:
    reading = Reading()
    reading.counter(3, 999).add(1, 100)
    assert (str(reading), reading.part) == ("3 logs, 999 bytes", None)


@pytest.mark.spark
def test_workers_count(spark: SparkSession) -> None:
    reading = Reading(spark)
    counter = reading.counter(4, 40)

    def run(batches: Any) -> Any:
        for batch in batches:
            counter.add(batch.num_rows, 10 * batch.num_rows)
            yield batch

    assert len(spark.range(4).mapInArrow(run, "id bigint").collect()) == 4
    assert reading.part == 1.0
