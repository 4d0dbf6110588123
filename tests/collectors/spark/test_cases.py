"""Logs that were read wrongly, each cut to what shows it, have their right values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.logs import read_logs
from tests.cases import for_each
from tests.collectors.spark.stored import tables

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "spark"
SAME = "IDENTITY"
SUM = "AGGREGATION"
GROUPED = {
    ("cust_id", "cust_id", SAME),
    ("total", "amount", SUM),
    ("*", "cust_id", "GROUP_BY"),
}


def _read(case: str) -> dict[str, Any]:
    path = CASES / f"{case}.gz"
    if not path.is_file():
        pytest.skip("the case is not beside the repository")
    [collected] = read_logs(SparkLogs(str(path), str(path)), lambda *_: None)
    row = tables(collected)
    # Some are excerpts of a log.
    assert [each for each in row["rejects"] if "are not in the log" not in each["reason"]] == []
    assert {shape["reason"] for shape in row["shapes"]} == {None}
    return row


@for_each(
    "case, written, edges",
    [
        # The places of the tables in these logs are all called /lake.
        ("cached_aggregate", {("default.orders", 7)}, GROUPED),
        (
            "cache_reused_by_equal_plan",
            {("default.orders", 7)},
            {("cust_id", "cust_id", SAME), ("total_e", "dec", SUM), ("*", "cust_id", "GROUP_BY")},
        ),
        (
            "cache_table_aggregate",
            {("default.from_hot", 3)},
            {("cust_id", "cust_id", SAME), ("s", "amount", SUM), ("*", "cust_id", "GROUP_BY")},
        ),
        ("iceberg_ctas_spark35", {("lake.raw.totals", None)}, GROUPED),
        (
            "iceberg_default_catalog_ambiguity",
            {("lake.raw.totals", None), ("/lake", 37)},
            GROUPED | {("order_id", "order_id", SAME), ("amount", "amount", SAME)},
        ),
        (
            "iceberg_read_by_path",
            {("/lake", 37)},
            {("order_id", "order_id", SAME), ("amount", "amount", SAME)},
        ),
        (
            "iceberg_totable_stream_spark35",
            {("lake.raw.stream_t", 50)},
            {("order_id", "order_id", SAME), ("amount", "amount", SAME)},
        ),
        (
            "odd_column_names",
            {("default.t", 44)},
            {
                ("Amount (EUR), net", "order_id", SAME),
                ("a AS b", "amount", SAME),
                ("id#7", "name", SAME),
                ("x[0]", "cust_id", SAME),
                ("größe", "epoch", SAME),
                ("with.dot", "country", SAME),
                ("out1", "a AS b", SAME),
                ("out2", "id#7", SAME),
                ("out, 3", "Amount (EUR), net", SAME),
                ("größe2", "with.dot", SAME),
                ("x[0]", "x[0]", SAME),
                ("größe", "größe", SAME),
                ("sum(Amount (EUR), net)", "Amount (EUR), net", SUM),
                ("max(a AS b)", "a AS b", SUM),
                ("*", "größe", "GROUP_BY"),
            },
        ),
    ],
)
def test_a_case_has_its_right_value(
    case: str, written: set[tuple[str, int | None]], edges: set[tuple[str, str, str]]
) -> None:
    row = _read(case)
    assert {(a["name"], a["rows"]) for a in row["accesses"] if a["direction"] == "write"} == written
    assert {
        (e["to_column"], e["from_column"], str(e["subtype"])) for e in row["column_edges"]
    } == edges


def test_a_column_keeps_its_name_whatever_signs_it_has() -> None:
    [dataset] = _read("odd_column_names")["datasets"]
    names = {column["name"] for column in dataset["columns"]}
    assert names == {
        *("order_id", "cust_id", "amount", "name", "epoch", "country"),
        *("Amount (EUR), net", "a AS b", "id#7", "x[0]", "größe", "with.dot"),
        *("out1", "out2", "out, 3", "größe2", "sum(Amount (EUR), net)", "max(a AS b)"),
    }
