"""The lineage of a project as questions about single things are asked of it, also in a file.

`lineage_index.bin` in the folder of artifacts is written by builds, and by a question that found
none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.own_values import dump_values, load_values
from dbt_graft.injector.relations import ShortNames
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.records import Records

LINEAGE_FILE = "lineage_index.bin"
_SECTION = "lineage"


@dataclass(frozen=True, slots=True)
class LineageIndex:
    """The lineage, and the records that show it.

    Attributes:
        records: Those of the store, under the names of the logs; each run of events once. Without
            datasets and column edges.
        names: Each name of a dataset, in logs too -> the dataset; of temporary tables as well.
        short_names: Names in logs that lack a part of a relation's name; None without dbt.
        folded: The tasks whose runs are not all among the records.
        collected: Whether anything was collected: without, it is dbt's lineage alone.
    """

    described: DescribedLineage
    records: Records
    names: Mapping[DatasetId, DatasetId]
    short_names: ShortNames | None
    folded: frozenset[str]
    collected: bool


def remove_lineage_index(config: Config) -> None:
    """Remove the file: what is taken out of the store must not stay in it."""
    with suppress(OSError):
        (Path(config.path(config.artifacts)) / LINEAGE_FILE).unlink()


def lineage_sections(index: LineageIndex) -> dict[str, bytes]:
    """An index as bytes."""
    return {_SECTION: dump_values(index)}


def stored_lineage_index(sections: Mapping[str, memoryview]) -> LineageIndex | None:
    """The index that these bytes are of; None if they are of none."""
    index = load_values(sections[_SECTION]) if _SECTION in sections else None
    return index if isinstance(index, LineageIndex) else None
