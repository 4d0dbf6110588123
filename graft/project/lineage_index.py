"""The lineage of a project as questions about single things are asked of it, also in a file.

`lineage_index.bin` in the folder of artifacts is written by builds, and by a question that found
none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.index_files import LINEAGE_FILE
from dbt_graft.injector.relations import ShortNames
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.own_values import dump_values, load_values
from dbt_graft.lineage.records import Dataset, Records

if TYPE_CHECKING:
    from dbt_graft.analysis.checks.column_drift import DbtColumns
    from dbt_graft.injector.report import Report

T = TypeVar("T")


@frozen
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


@frozen
class GraftFacts:
    """Facts of the graft that checks ask for, beside its lineage.

    Attributes:
        report: What the graft changes; None without artifacts of dbt.
        columns: The columns that dbt knows; None without its artifacts.
        logged: The datasets in logs, under their names of today.
    """

    report: Report | None
    columns: DbtColumns | None
    logged: tuple[Dataset, ...]


def remove_lineage_index(config: Config) -> None:
    """Remove the file: what is taken out of the store must not stay in it."""
    with suppress(OSError):
        (Path(config.path(config.artifacts)) / LINEAGE_FILE).unlink()


def lineage_sections(index: LineageIndex, facts: GraftFacts) -> dict[str, bytes]:
    """An index and the facts as bytes, each by itself: most questions ask no facts."""
    return {type(part).__name__: dump_values(part) for part in (index, facts)}


def stored_part(kind: type[T], sections: Mapping[str, memoryview]) -> T | None:
    """The index, or the facts, in these bytes; None if they have none."""
    part = load_values(sections[kind.__name__]) if kind.__name__ in sections else None
    return part if isinstance(part, kind) else None
