"""Capture a month of partitioned tables: the web shop's visits of October 2026, day by day.

    python dbt_project/history/capture_visits.py --out dbt_project/history/visits

The tasks of `visit_tasks/` run for real on visits that this script makes up; three days are bad. As
for the nights of `capture.py`, all runs follow one another in one JVM, and `slim.py` moves each log
to its time. README.md has the story.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from capture import BUILD, HERE, LANDING, SHOP, run
from pyspark.sql import SparkSession
from slim import slim_event_log

FIRST, LAST = date(2026, 10, 1), date(2026, 10, 31)
NEVER_DELIVERED = date(2026, 10, 8)
# A crawler was counted: noticed three days later, and that day loaded again.
CRAWLED, CORRECTED_AT = date(2026, 10, 13), datetime(2026, 10, 16, 9, 10, tzinfo=UTC)
# Half of the day is missing, and nobody noticed.
HALVED = date(2026, 10, 23)
PAGES = ("/", "/basket", "/mugs", "/notebooks", "/pens")


@dataclass(frozen=True, order=True)
class TaskRun:
    """One run of a task for a day of data."""

    at: datetime
    task: str
    day: date


def task_runs() -> list[TaskRun]:
    """All runs of the month, in the order of their times."""
    return sorted([*_scheduled(), *_repeated()])


def _scheduled() -> Iterator[TaskRun]:
    for age in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=age)
        night = day + timedelta(days=1)
        is_sunday = day.isoweekday() == 7
        daily = {
            "load_visits": time(1),
            "count_weekly_visitors": time(1, 20),
            "remember_visitors": time(1, 40),
        }
        for task, at in daily.items() if day != NEVER_DELIVERED else ():
            yield TaskRun(datetime.combine(night, at, UTC), task, day)
        if is_sunday or day == LAST:
            yield TaskRun(datetime.combine(night, time(2), UTC), "sum_visits_by_month", day)
        if is_sunday:
            yield TaskRun(datetime.combine(night, time(8), UTC), "mail_visitor_report", day)


def _repeated() -> Iterator[TaskRun]:
    """What was run again for the day of the crawler; the two days after it were forgotten."""
    yield TaskRun(CORRECTED_AT, "load_visits", CRAWLED)
    yield TaskRun(CORRECTED_AT + timedelta(minutes=20), "count_weekly_visitors", CRAWLED)


def deliver(day: date, at: datetime) -> None:
    """Put the visits of a day into the landing zone, as they were delivered by then."""
    folder = LANDING / "visits" / str(day)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    numbers = random.Random(f"visits of {day}")
    visits = [
        (numbers.randrange(1, 20 + day.day * 5), numbers.choice(PAGES), numbers.randrange(2, 300))
        for _ in range(40 + 10 * (day.isoweekday() > 5))
    ]
    if day == CRAWLED and at < CORRECTED_AT:
        visits += [(900_000 + number, page, 1) for number in range(60) for page in PAGES]
    if day == HALVED:
        del visits[len(visits) // 2 :]
    with (folder / "visits.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("visitor_id", "page", "seconds"), *visits])


def main() -> None:
    """Run the month and write its logs into the folder `--out`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the logs")
    out: Path = parser.parse_args().out.resolve()
    if SHOP.exists():
        parser.error(f"remove {SHOP} first: all runs are captured at once")
    shutil.copytree(HERE.parent, SHOP)
    sys.path.insert(0, str(SHOP))
    demo = importlib.import_module("demo")
    java = subprocess.check_output(
        [sys.executable, "-m", "dbt_graft", "doctor", "--java"], text=True
    ).strip()
    demo.start_clean(BUILD)
    os.environ |= demo.step_environment(BUILD, java)
    os.chdir(BUILD)
    SparkSession.builder.getOrCreate().stop()
    for one in task_runs():
        if one.task == "load_visits":
            deliver(one.day, one.at)
        capture(one, out)


def capture(one: TaskRun, out: Path) -> None:
    """Run a task and keep its log."""
    shutil.rmtree(BUILD / "spark-events")
    (BUILD / "spark-events").mkdir()
    start = datetime.now(UTC)
    run((f"history/visit_tasks/{one.task}.py", str(one.day)))
    print(f"{one.at:%Y-%m-%d %H:%M} {one.task} {one.day}", flush=True)
    [log] = (BUILD / "spark-events").glob("*/events_*")
    slim_event_log(log, out / f"{one.at:%Y-%m-%d_%H%M}_{one.task}.zstd", one.at - start)


if __name__ == "__main__":
    main()
