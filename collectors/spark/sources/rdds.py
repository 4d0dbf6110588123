"""Sources of RDDs: where a plan begins with an RDD, its rows were read before.

`spark.createDataFrame(df.rdd.map(f))`, `df.localCheckpoint()` and `sc.textFile(path)` make plans
that scan an RDD (`Scan ExistingRDD … MapPartitionsRDD[317] at …`). Jobs log the parents
of each RDD, and what the first of them read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.collectors.spark.plans.arguments import attributes
from dbt_graft.collectors.spark.plans.info import PlanNode
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.collectors.spark.sources.scans import Scan, read_scan

_NUMBER = re.compile(r"\b\w*RDD\[(?P<id>\d{1,18})\] at ")
_SCAN = re.compile(r"\w*Scan(?: |$)")

# The scans and paths that each RDD was made of, by its id.
Rdds = Mapping[int, tuple[str, ...]]


def scanned_rdd(operator: Operator) -> int | None:
    """The id of the RDD that an operator scans; None for other operators."""
    if operator.kind not in ("Scan", "RDDScan") or operator.fields.get("Location"):
        return None
    match = _NUMBER.search(operator.arguments)
    return int(match["id"]) if match else None


def rdd_scans(operator: Operator, rdds: Rdds) -> list[Scan]:
    """The scans behind the RDD that an operator scans."""
    number = scanned_rdd(operator)
    if number is None:
        return []
    ids = tuple(column.id for column in attributes(operator.fields.get("Output", "")))
    return [scan for label in rdds.get(number, ()) if (scan := labelled_scan(label, ids))]


def labelled_scan(label: str, ids: tuple[int, ...] = ()) -> Scan | None:
    """Return the scan of an RDD's label; None where the label names no dataset.

    Args:
        ids: The ids of the columns that a plan has of it.
    """
    if not _SCAN.match(label):
        return Scan(paths=(label,), ids=ids, from_rdd=True)
    try:
        scan = read_scan(PlanNode(label.strip(), label))
    except LookupError:
        return None  # Files without a table, which an RDD's scope does not name.
    return Scan(scan.table, ids=ids, external=scan.external, from_rdd=True) if scan else None
