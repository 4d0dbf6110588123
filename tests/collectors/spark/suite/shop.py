"""The shop that the suite's jobs work for: its landing zone and its tables.

| dataset | rows |
|---|---|
| `raw.orders` by `dt` | 6, 3 in each of two partitions |
| `raw.customers` | 3 |
| `/landing/orders/2026-01-0?.csv` | 2 files of 5 |
| `/landing/customers.json` | 3 |
| `/landing/events/2026/01/0?/events.json` | 2 files of 2 |
| `/landing/hourly/dt=…/hour=…/h.csv` | 2 files of 2 |
| `/landing/returns/r.csv` | 2 |
| `/landing/notes.txt` | 2 lines |
| `/watched/a.csv` | 3 |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = """
    SELECT id AS order_id, id % 3 AS customer_id, id * 10D AS amount, array('a', 'b') AS tags,
      named_struct('zip', id, 'city', 'x') AS addr, map('k', 'v') AS attrs,
      concat('2026-01-0', id % 2 + 1) AS dt
    FROM (SELECT /*+ COALESCE(1) */ cast(id AS int) AS id FROM range(6))"""
CUSTOMERS = """
    SELECT id, concat('Jane ', id) AS name, concat('jane', id, '@shop') AS email, 30 + id AS age
    FROM (SELECT /*+ COALESCE(1) */ cast(id AS int) AS id FROM range(3))"""


def land(base: Path) -> None:
    """Write the landing zone."""
    landing = base / "landing"
    for day in (1, 2):
        lines = [f"{day}{n},{n % 3},{day * 10 + n}" for n in range(5)]
        _write(landing / f"orders/2026-01-0{day}.csv", "order_id,customer_id,amount", *lines)
        events = [json.dumps({"id": n, "kind": "click"}) for n in range(2)]
        _write(landing / f"events/2026/01/0{day}/events.json", *events)
        _write(landing / f"hourly/dt=2026-01-0{day}/hour=05/h.csv", "1,a", "2,b")
    people = [json.dumps({"id": n, "name": f"Jane {n}"}) for n in range(3)]
    _write(landing / "customers.json", *people)
    _write(landing / "notes.txt", "one", "two")
    _write(landing / "returns/r.csv", "1,lost", "2,late")
    _write(base / "watched/a.csv", "1,x", "2,y", "3,z")


def _write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]))


def fill(spark: SparkSession) -> None:
    """Make the databases and tables."""
    for database in ("raw", "ml", "q"):
        spark.sql(f"CREATE DATABASE {database}")
    spark.sql(f"CREATE TABLE raw.orders USING parquet PARTITIONED BY (dt) AS {ORDERS}")
    spark.sql(f"CREATE TABLE raw.customers USING parquet AS {CUSTOMERS}")
