"""A project that dbt 2 itself compiles, with two tasks around its models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.collectors.openlineage.events import Document, event, written

DBT = Path(__file__).resolve().parents[2] / "build/dbt-2/bin/dbt"
FILES = {
    "dbt_project.yml": "name: shop\nprofile: shop\n",
    "profiles.yml": "shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb}}}\n",
    "models/paid.sql": (
        "select id, amount * 2 as double, customer from {{ source('raw', 'orders') }} "
        "where state = 'paid'"
    ),
    "models/totals.sql": (
        "{{ config(materialized='table', tags=['finance']) }}\n"
        "select customer, sum(double) as total from {{ ref('paid') }} group by customer"
    ),
    "models/shop.yml": """\
sources:
  - name: raw
    tables:
      - name: orders
        columns: [{name: id, data_tests: [not_null]}, {name: amount}]
models:
  - name: totals
    description: Sales of each customer
exposures:
  - {name: board, type: dashboard, owner: {name: Ada}, depends_on: [ref('totals')]}
""",
    "graft.yml": """\
dbt: {command: DBT, namespace: duckdb}
collect: [{openlineage: {path: events.jsonl}}]
tasks: {load_orders: {owner: Ada, schedule: "0 3 * * *"}}
""",
}
RAW, TOTALS, SEGMENTS = (
    "duckdb shop.raw.orders",
    "duckdb shop.main.totals",
    "duckdb shop.ml.segments",
)
FEED = "sftp://partner orders.csv"


def write_project(folder: Path) -> None:
    """Write the project, and the events of its tasks."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("DBT", str(DBT)))
    loaded = output(RAW, amount=(FEED, "amt", "TRANSFORMATION"), id=(FEED, "no", "IDENTITY"))
    document = output(SEGMENTS, segment=(TOTALS, "total", "TRANSFORMATION"))
    written(
        folder / "events.jsonl",
        event("START", "load_orders", 1, at="2026-11-22T03:00:00Z"),
        event(job="load_orders", run=1, at="2026-11-22T03:05:00Z", inputs=[FEED], outputs=[loaded]),
        event("START", "find_segments", 2, at="2026-11-22T04:00:00Z"),
        event(
            job="find_segments",
            run=2,
            at="2026-11-22T04:01:00Z",
            inputs=[TOTALS],
            outputs=[document],
        ),
    )


def output(name: str, rows: int = 0, **columns: tuple[str, str, str]) -> Document:
    """A dataset that a task wrote, with where its columns come from."""
    fields: dict[str, Any] = {}
    for column, (source, field, subtype) in columns.items():
        namespace, table = source.split(" ")
        how = [{"type": "DIRECT", "subtype": subtype}]
        origin = {"namespace": namespace, "name": table, "field": field, "transformations": how}
        fields[column] = {"inputFields": [origin]}
    namespace, table = name.split(" ")
    return {
        "namespace": namespace,
        "name": table,
        "facets": {
            "columnLineage": {"fields": fields},
            "schema": {"fields": [{"name": column, "type": "BIGINT"} for column in columns]},
        },
        "outputFacets": {"outputStatistics": {"rowCount": rows}} if rows else {},
    }


def graft(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the project."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("DBT_")}
    return subprocess.run(
        [sys.executable, "-m", "dbt_graft", *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
    )
