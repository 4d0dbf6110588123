"""Capture the nights of October 2026 in the shop: every task and dbt, run for real.

    python dbt_project/history/capture.py --out dbt_project/history

Each night lands what the web shop had delivered by then, runs the steps of `demo.py` on it and
keeps their logs. `INCIDENTS` is what went wrong. All nights run one after the other in one process
and one JVM, so it takes minutes instead of hours; `slim.py` then moves each log to its night and
leaves out what lineage does not need. A second run continues where the first was interrupted.
README.md has the details.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession
from slim import slim_event_log, slim_results

HERE = Path(__file__).resolve().parent
# A folder of the same name on every machine: tables and files are named by it in the logs.
SHOP = Path("/srv/shop")
BUILD = SHOP / "build"
LANDING = SHOP / "landing"
FIRST_NIGHT = date(2026, 10, 2)
RENAMED_ON = date(2026, 10, 6)
# When the scheduler starts what. dbt takes the scores of the night before.
STARTS = {
    "land_shop_files": time(3),
    "dbt": time(4),
    "score_customers": time(6),
    "dbt, from the scores on": time(6, 30),
    "export_finance_report": time(7),
    "rename_returned_goods": time(7, 20),
    "rebuild_returns": time(7, 30),
}
SUNDAY = 6
# The column that says when a row came into being.
SINCE = {"orders": "ordered_at", "payments": "paid_at", "returns": "returned_on"}
# What numbers a row, and by how much each copy of the load test moves it: all are closer together.
NUMBERS = {"order_id", "customer_id", "payment_id", "return_id"}
LOAD = range(0, 4_000_000, 1_000)


def cut_orders() -> None:
    """The web shop's export of orders ended after a tenth of its rows, all in one file."""
    paths = sorted((LANDING / "orders").glob("*.csv"))
    lines = [line for path in paths for line in path.read_text().splitlines(keepends=True)[1:]]
    head = paths[0].read_text().splitlines(keepends=True)[:1]
    for path in paths:
        path.unlink()
    paths[0].write_text("".join(head + lines[: len(lines) // 10]))


def customers_twice() -> None:
    """The customers were delivered twice."""
    shutil.copy(LANDING / "customers/customers.json", LANDING / "customers/customers_2.json")


def broken_payments() -> None:
    """The second file of payments was compressed, and its upload broke off."""
    path = LANDING / "payments/payments_part2.csv"
    packed = gzip.compress(path.read_bytes(), mtime=0)
    path.with_suffix(".csv.gz").write_bytes(packed[: len(packed) // 2])
    path.unlink()


def file_per_row() -> None:
    """The web shop delivered each order and each payment as a file of its own."""
    for path in [*LANDING.glob("orders/*.csv"), *LANDING.glob("payments/*.csv")]:
        head, *lines = path.read_text().splitlines(keepends=True)
        path.unlink()
        for number, line in enumerate(lines):
            path.with_name(f"{path.stem}_{number:04}.csv").write_text(head + line)


def load_test() -> None:
    """A load test of the web shop: all there is, four thousand times, under numbers of its own."""
    for path in LANDING.glob("*/*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        shifted = [name in NUMBERS for name in head]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            for shift in LOAD:
                writer.writerows(
                    [
                        int(one) + shift if moves else one
                        for one, moves in zip(row, shifted, strict=True)
                    ]
                    for row in rows
                )
    path = LANDING / "customers/customers.json"
    customers = [json.loads(line) for line in path.read_text().splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for shift in LOAD:
            for one in customers:
                moved = {**one, "customer_id": one["customer_id"] + shift}
                file.write(json.dumps(moved) + "\n")


INCIDENTS: dict[date, Callable[[], None]] = {
    date(2026, 10, 4): load_test,
    date(2026, 10, 5): broken_payments,
    date(2026, 10, 8): cut_orders,
    date(2026, 10, 13): file_per_row,
    date(2026, 10, 15): customers_twice,
    # And from 10 October on rebuild_returns fails, by what a clerk typed.
}


def main() -> None:
    """Run the nights and write their logs into `spark/` and `dbt/` of the folder `--out`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the logs")
    parser.add_argument("--nights", type=int, default=30, help="how many, from 2 October on")
    arguments = parser.parse_args()
    out: Path = arguments.out.resolve()
    is_new = not SHOP.exists()
    if is_new:
        shutil.copytree(HERE.parent, SHOP)
    sys.path.insert(0, str(SHOP))
    demo = importlib.import_module("demo")
    java = subprocess.check_output(
        [sys.executable, "-m", "dbt_graft", "doctor", "--java"], text=True
    ).strip()
    if is_new:
        demo.start_clean(BUILD)
    os.environ |= demo.step_environment(BUILD, java)
    os.chdir(BUILD)
    # Starts the JVM with the settings of all nights: it keeps those that it starts with.
    SparkSession.builder.getOrCreate().stop()
    steps = {step.name: step.command for step in demo.steps(BUILD)}
    replicate = steps.pop("replicate")
    if is_new:
        run(replicate)
    for age in range(arguments.nights):
        night = FIRST_NIGHT + timedelta(days=age)
        if not is_new and (out / "spark" / f"{night}_rebuild_returns.zstd").exists():
            continue
        deliver(night)
        prepare_returns(night)
        todo = {name: command for name, command in steps.items() if "dbt" not in name}
        if night == FIRST_NIGHT:
            todo["dbt"] = steps["dbt, up to the scores"]
            todo["dbt, from the scores on"] = steps["dbt, from the scores on"]
        else:
            todo["dbt"] = ("run_dbt.py", "build" if has_tests(night) else "run")
        if night == RENAMED_ON:
            todo["rename_returned_goods"] = ("history/rename_returned_goods.py",)
        for name in sorted(todo, key=STARTS.__getitem__):
            capture(name, todo[name], night, out)


def has_tests(night: date) -> bool:
    """Whether dbt tests: on Sundays, and when somebody noticed that the landing zone was odd."""
    return night.weekday() == SUNDAY or night in INCIDENTS


def deliver(night: date) -> None:
    """Put what the web shop had by a night into the landing zone."""
    shutil.rmtree(LANDING)
    shutil.copytree(HERE.parent / "landing", LANDING)
    until = f"{night} {STARTS['land_shop_files']}"
    for folder, column in SINCE.items():
        for path in (LANDING / folder).glob("*.csv"):
            with path.open(newline="", encoding="utf-8") as file:
                head, *rows = csv.reader(file)
            at = head.index(column)
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([head, *(row for row in rows if row[at] < until)])
    if incident := INCIDENTS.get(night):
        incident()


def prepare_returns(night: date) -> None:
    """Until its rename `raw.returns` was called `raw.returned_goods`, in the task's code too."""
    task = (HERE.parent / "tasks/rebuild_returns.py").read_text()
    if night < RENAMED_ON:
        task = task.replace("raw.returns", "raw.returned_goods")
    (SHOP / "tasks/rebuild_returns.py").write_text(task)


def capture(name: str, command: tuple[str, ...], night: date, out: Path) -> None:
    """Run a step and keep the log of the task, or the results of dbt."""
    for folder in ("spark-events", "dbt-runs"):
        shutil.rmtree(BUILD / folder, ignore_errors=True)
        (BUILD / folder).mkdir()
    start = datetime.now(UTC)
    run(tuple(argument for argument in command if argument != "docs generate"))
    shift = datetime.combine(night, STARTS[name], UTC) - start
    print(f"{night} {name}: {(datetime.now(UTC) - start).total_seconds():.1f} s", flush=True)
    for log in (BUILD / "spark-events").glob("*/events_*"):
        if not name.startswith("dbt"):
            slim_event_log(log, out / "spark" / f"{night}_{name}.zstd", shift)
    for results in (BUILD / "dbt-runs").glob("*.json"):
        slim_results(results, out / "dbt" / f"{night}_{STARTS[name]:%H%M}.json.gz", shift)


def run(command: tuple[str, ...]) -> None:
    """Run a script in this process, to its end or its error, and stop the Spark that it leaves."""
    script, *sys.argv[1:] = command
    sys.argv[0] = str(SHOP / script)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if end.code:
            print(f"exit code {end.code}")
    except Exception as error:
        print("".join(traceback.format_exception_only(error))[:300])
    # dbt leaves its session in another thread.
    if SparkContext._active_spark_context:
        SparkSession.builder.getOrCreate().stop()


if __name__ == "__main__":
    main()
