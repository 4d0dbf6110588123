"""The dates of data that a command writes, drops or changes, by its arguments.

| argument | of |
|---|---|
| `[ds=2026-10-10]` behind the path | `InsertIntoHadoopFsRelationCommand` |
| `[dt=Some(2026-10-10), hr=None]` | `InsertIntoHiveTable` |
| `Map(ds -> 2026-10-31)` | commands on partitions: DROP, ADD, TRUNCATE, LOAD DATA |
| `/out/j/2026/11/02`, `/out/month=2026-10` | the path |
"""

from __future__ import annotations

import re

from dbt_graft.collectors.spark.plans.arguments import bracket_items
from dbt_graft.lineage.dates.partition_dates import Partition

_PAIR = re.compile(r"(?P<key>[^=\[\]()]+)=(?:Some\((?P<some>.*)\)|(?P<value>[^()]*))")
_MAP = re.compile(r"\bMap\((?P<pairs>[^()]*)\)")
_MAPPED = re.compile(r"(?P<key>[\w.$-]+) -> (?P<value>[^,]*)")


def static_partition(argument: str) -> Partition:
    """The columns with a value in `[ds=2026-10-10]` or `[dt=Some(1), hr=None]`."""
    if not argument.startswith("[") or "=" not in argument:
        return ()
    pairs = (_PAIR.fullmatch(item) for item in bracket_items(argument))
    return tuple(
        (pair["key"].strip(), pair["some"] or pair["value"])
        for pair in pairs
        if pair and (pair["some"] or pair["value"] not in (None, "", "None"))
    )


def mapped_partitions(arguments: str) -> tuple[Partition, ...]:
    """The partitions in `[Map(ds -> 2026-10-31), Map(ds -> 2026-11-01)]`."""
    return tuple(
        tuple((pair["key"], pair["value"].strip()) for pair in _MAPPED.finditer(match["pairs"]))
        for match in _MAP.finditer(arguments)
    )
