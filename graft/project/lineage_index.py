"""The lineage of a project as questions about single things are asked of it, also in a file.

`lineage_index.bin` in the folder of artifacts is written by builds, and by a question that found
none. It is a pickle of which nothing but values of our own types is read.
"""

from __future__ import annotations

import io
import logging
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from operator import attrgetter
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.garbage import without_garbage_collection
from dbt_graft.injector.relations import ShortNames
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.records import Records

LINEAGE_FILE = "lineage_index.bin"
_SECTION = "lineage"
_ROOMS = ("dbt_graft.lineage.", "dbt_graft.injector.relations", __name__)
_VALUES = {
    ("builtins", "frozenset"),
    ("builtins", "set"),
    ("collections", "defaultdict"),
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("zoneinfo", "ZoneInfo"),
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LineageIndex:
    """The lineage, and the records that show it.

    Attributes:
        records: Those of the store, under the names of the logs; each run of events once.
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
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _Reductions({ZoneInfo: lambda zone: (ZoneInfo, (zone.key,))})
    pickler.dump(index)
    return {_SECTION: content.getvalue()}


def stored_lineage_index(sections: Mapping[str, memoryview]) -> LineageIndex | None:
    """The index that these bytes are of; None if they are of none."""
    try:
        with without_garbage_collection():
            index = _OwnValues(io.BytesIO(sections[_SECTION])).load()
    except (pickle.UnpicklingError, LookupError, TypeError, ValueError, AttributeError) as error:
        _log.debug("the lineage index is made again: %s", error)
        return None
    return index if isinstance(index, LineageIndex) else None


class _Reductions(dict[type, Callable[[Any], tuple[Any, ...]]]):
    """Types -> what makes a value of the type again.

    Of a dataclass its arguments: its own way looks the fields up again for each of a million.
    """

    def __missing__(self, kind: type) -> Callable[[Any], tuple[Any, ...]]:
        if not is_dataclass(kind) or any(field.kw_only for field in fields(kind)):
            raise KeyError(kind)
        names = [field.name for field in fields(kind) if field.init]
        arguments = attrgetter(*names)
        is_alone = len(names) == 1

        def parts(value: object) -> tuple[Any, ...]:
            return kind, (arguments(value),) if is_alone else arguments(value)

        self[kind] = parts
        return parts


class _OwnValues(pickle.Unpickler):
    """Reads values of our own types and no others, so that a file can run nothing."""

    def find_class(self, module: str, name: str) -> Any:
        """A type by its name.

        Raises:
            UnpicklingError: It is not one of ours.
        """
        if (module, name) == ("builtins", "getattr"):
            return _member
        match = super().find_class(module, name) if _is_ours(module, name) else None
        if isinstance(match, type):
            return match
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a lineage")


def _member(kind: type, name: str) -> Any:
    """A member of an enumeration, which Python 3.11 pickles by `getattr`."""
    if not issubclass(kind, Enum):
        raise pickle.UnpicklingError(f"{kind} is no enumeration")
    return kind[name]


def _is_ours(module: str, name: str) -> bool:
    return (module, name) in _VALUES or (module.startswith(_ROOMS) and "." not in name)
