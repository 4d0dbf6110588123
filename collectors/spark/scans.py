"""What a plan reads: the operators that bring data in, by name.

| operator | dataset |
|---|---|
| `Scan parquet spark_catalog.raw.orders` | the table; its folders are in `metadata.Location` |
| `Scan csv` | the folders in `metadata.Location` |
| `Scan hive spark_catalog.raw.orders` | the table |

`FileScan`, `PhotonScan`, `GpuScan` are other builds' words for `Scan`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from collectors.spark.plans.arguments import attributes, identifier
from collectors.spark.plans.info import Node
from collectors.spark.schema import output_columns, parse_struct
from lineage.records import Column

_SCAN = re.compile(r"(?:File|Photon|Gpu)?Scan (?P<format>[\w.$-]+)(?: (?P<table>.+))?")
_ANY_SCAN = re.compile(r"\w*Scan\b.*")
_LOCATION = re.compile(r"\w+(?:\(\d+ paths\))?\s?\[(?P<paths>.*?)\]?")
_BETWEEN_PATHS = re.compile(r", (?=[a-zA-Z][a-zA-Z0-9+.-]*:/|/|\.\.\.)")
_OUTPUT = re.compile(r"\[[^\[\]]*\]")
_HIVE_COLUMNS = re.compile(r"(?:Data|Partition) Cols: (\[[^\[\]]*\])")

# Scans of data that is in the application already: made in Python, or read elsewhere in the plan.
_IN_MEMORY = ("Scan ExistingRDD", "Scan OneRowRelation", "LocalTableScan", "InMemoryTableScan")


@dataclass(frozen=True, slots=True)
class Scan:
    """One read: a metastore table, or paths; either may come with the other.

    Attributes:
        types: The type of each column in the files by its id in the plan.
        rows: The accumulator that counts rows; None where there is none.
        bytes: The accumulator that sums up file sizes.
    """

    table: tuple[str, ...]
    paths: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    types: tuple[tuple[int, str], ...] = ()
    rows: int | None = None
    bytes: int | None = None


def read_scan(node: Node) -> Scan | None:
    """What an operator reads; None where it reads nothing that lasts.

    Raises:
        LookupError: It reads something, but of a kind there is no rule for.
    """
    # An RDD without a name is scanned by a bare `Scan`.
    in_memory = node.name.startswith(_IN_MEMORY) or node.name == "Scan"
    if in_memory or not _ANY_SCAN.fullmatch(node.name):
        return None
    found = _SCAN.fullmatch(node.name)
    location = node.metadata.get("Location", "")
    table = identifier(found["table"] or "") if found else ()
    if found is None or not (table or location):
        raise LookupError(" ".join(node.name.split()[:2]).partition("(")[0])
    schema = parse_struct(node.metadata.get("ReadSchema", ""))
    lists = _HIVE_COLUMNS.findall(node.text) or _OUTPUT.findall(node.text)[:1]
    output = [attribute for text in lists for attribute in attributes(text)]
    by_name = {column.name: column.type for column in schema}
    return Scan(
        table=table,
        paths=_paths(location),
        columns=output_columns(schema, output),
        types=tuple((a.id, by_name[a.name]) for a in output if a.name in by_name),
        rows=node.metrics.get("number of output rows"),
        bytes=node.metrics.get("size of files read"),
    )


def is_schema_inference(plan: Node) -> bool:
    """Whether a plan is Spark's own look into CSV or JSON text to find out its columns.

    It reads the text of the files as `value`: the first line that is not blank, or all lines into
    an RDD. The read that the user asked for has its own execution.
    """
    nodes = [n for n in plan.walk() if not n.name.startswith(("WholeStageCodegen", "InputAdapter"))]
    names = [node.name.partition(" ")[0] for node in nodes]
    if nodes[-1].name != "Scan text":
        return False
    if names == ["CollectLimit", "Filter", "Scan"]:
        return nodes[0].text == "CollectLimit 1" and "(length(trim(value#" in nodes[1].text
    return names == ["DeserializeToObject", "Scan"] and ".toString()" in nodes[0].text


def _paths(location: str) -> tuple[str, ...]:
    """The paths of `InMemoryFileIndex(2 paths)[file:/a, file:/b]`; later ones may be missing."""
    found = _LOCATION.fullmatch(location)
    if found is None:
        return ()
    paths = (path.strip() for path in _BETWEEN_PATHS.split(found["paths"]))
    return tuple(path for path in paths if path and not path.startswith("..."))
