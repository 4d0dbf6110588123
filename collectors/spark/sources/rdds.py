"""What an RDD was made of: where a plan begins with one, the rows came from somewhere before.

`spark.createDataFrame(df.rdd.map(f))`, `df.localCheckpoint()` and `sc.textFile(path)` give plans
that scan an RDD (`Scan ExistingRDD … MapPartitionsRDD[317] at …`). Jobs tell each RDD's parents,
and what the first of them read.
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

# Of each RDD what it was made of: scans and paths.
Rdds = Mapping[int, tuple[str, ...]]


def scanned_rdd(operator: Operator) -> int | None:
    """The RDD that an operator scans."""
    if operator.kind not in ("Scan", "RDDScan") or operator.fields.get("Location"):
        return None
    found = _NUMBER.search(operator.arguments)
    return int(found["id"]) if found else None


def rdd_scans(operator: Operator, rdds: Rdds) -> list[Scan]:
    """What the rows of an RDD came from."""
    number = scanned_rdd(operator)
    if number is None:
        return []
    ids = tuple(one.id for one in attributes(operator.fields.get("Output", "")))
    return [scan for label in rdds.get(number, ()) if (scan := labelled_scan(label, ids))]


def labelled_scan(label: str, ids: tuple[int, ...] = ()) -> Scan | None:
    """What an RDD read that is labelled so; None where the label does not tell.

    Args:
        ids: The columns that a plan has of it.
    """
    if not _SCAN.match(label):
        return Scan(paths=(label,), ids=ids, from_rdd=True)
    try:
        scan = read_scan(PlanNode(label.strip(), label))
    except LookupError:
        return None  # Files without a table: an RDD's scope does not tell which.
    return Scan(scan.table, ids=ids, external=scan.external, from_rdd=True) if scan else None
