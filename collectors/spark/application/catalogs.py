"""Catalogs that commands show as objects only: `…SparkCatalog@1bd39ee8, raw.totals`.

The log has the class of the object, and several catalogs may be of the same class. What the
command runs writes to the table by its full name (`IcebergWrite(table=lake.raw.totals)`), or the
text of the statement has it. An object is the same catalog in the whole application.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver

# `df.write.format("iceberg").save("raw.t")`, which uses the catalog that Iceberg adds by itself.
_SAVE = re.compile(r"\.DataFrameWriter\.save\(")


def name_catalogs(segments: Sequence[PlanSegment], resolver: DatasetResolver) -> list[str]:
    """Teach a resolver the names of catalogs; targets in a catalog without a name are removed.

    Returns:
        A reason for each target that was removed.
    """
    for segment in segments:
        names = _catalogs_of_writes(segment, segments)
        if segment.target and segment.target.catalog and len(names) == 1:
            resolver.catalogs[segment.target.catalog] = names.pop()
    problems = []
    for segment in segments:
        if not (segment.target and segment.target.table):
            continue
        saves = bool(_SAVE.search(segment.execution.details))
        candidates = resolver.catalogs_of(segment.target.catalog, may_be_default=saves)
        by_text = [name for name in candidates if _has_full_name(segment, name)]
        if len(by_text) == 1:
            resolver.catalogs[segment.target.catalog] = by_text[0]
        elif len(candidates) > 1:
            table, options = ".".join(segment.target.table), " or ".join(candidates)
            problems.append(
                f"execution {segment.execution.id}: {table} is in the catalog {options}, "
                "and the log does not tell in which"
            )
            segment.target = None
    return problems


def _catalogs_of_writes(segment: PlanSegment, segments: Iterable[PlanSegment]) -> set[str]:
    """The catalogs of the table that a command names, as the writes inside it name it."""
    table = segment.target.table if segment.target else ()
    written = (
        inner.target.table
        for inner in segments
        if inner.target and segment.execution.encloses(inner.execution)
    )
    return {name[0] for name in written if table and name[1:] == table}


def _has_full_name(segment: PlanSegment, catalog: str) -> bool:
    """Whether the text of a statement has the full name of its target."""
    table = segment.target.table if segment.target else ()
    name = r"\.".join(rf"`?{re.escape(part)}`?" for part in (catalog, *table))
    return bool(re.search(rf"(?<![\w.]){name}(?!\w)", segment.execution.sql, re.IGNORECASE))
