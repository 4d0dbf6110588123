"""The progress of a collect through its logs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from dbt_graft.collectors.engines.engine import Batches, Engine
from dbt_graft.collectors.engines.reading import ReadCounter, Reading
from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.store.arrow_tables import table


class Count:
    """An accumulator without Spark."""

    def __init__(self, value: int) -> None:
        self.value = value

    def add(self, more: int) -> None:
        self.value += more


def test_logs_and_bytes_of_all_sources_are_counted() -> None:
    session: Any = SimpleNamespace(_sc=SimpleNamespace(accumulator=Count))
    reading = Reading(SparkEngine(session))
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


@dataclass(frozen=True)
class Listed:
    """A row of its own."""

    id: int


def count_rows(counter: ReadCounter, batches: Batches) -> Batches:
    for rows in batches:
        counter.add(rows.num_rows, 10 * rows.num_rows)
        yield rows


def test_workers_count(engine: Engine) -> None:
    reading = Reading(engine)
    counter = reading.counter(4, 40)
    rows = engine.spread(table(Listed, map(Listed, range(4))), 2, 1 << 30)
    assert rows.map(partial(count_rows, counter), Listed).gather().num_rows == 4
    assert reading.part == 1.0
