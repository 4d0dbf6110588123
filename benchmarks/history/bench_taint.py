"""Taint of many tasks: what bad data of three days went into, over a year of daily runs.

All tasks are downstream of the bad data. The first answer reads off all runs how the dates of
their inputs and outputs belong together; further ones of the same history know that.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.history.taint_history import START, first_table, layered_lineage
from benchmarks.report import Report
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_dates
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.lineage.dates.calendar import dates_between

WARM_SECONDS = 3.0


def main() -> int:
    """Measure a history and report what was found; 1 where the bar is missed."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tasks", type=int, default=1_000)
    asked.add_argument("--days", type=int, default=400)
    options = asked.parse_args()
    report = Report("Taint", "benchmarks/history/bench_taint.py")
    lineage = layered_lineage(options.tasks, options.days)
    gc.freeze()
    bad_from = START + timedelta(days=options.days // 4)
    dates = dates_between(bad_from, bad_from + timedelta(days=3))
    history = AccessHistory(lineage)

    def answer() -> None:
        bad = bad_dates(history, first_table(), dates)
        plan = taint_plan(history, bad, spread(history, bad))
        print(f"{len(plan.reruns):,} tasks to run again", file=sys.stderr)

    first = _seconds(answer)
    warm = min(_seconds(answer) for _ in range(3))
    report.say(
        f"{options.tasks:,} tasks, daily for {options.days} days: "
        f"{len(lineage.history.accesses):,} accesses in memory; three days of their common source "
        "were bad."
    )
    report.table("", "s", "bar")
    report.row("the first answer", f"{first:.2f}", "")
    report.row("a further one", f"{warm:.2f}", f"{WARM_SECONDS}")
    report.write()
    return int(warm > WARM_SECONDS)


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
