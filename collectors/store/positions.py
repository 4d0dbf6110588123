"""The positions in logs up to which a store has read them, asked for those that a source lists.

A store of years holds millions of logs, most of which no source lists any more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.store.batches import open_store, reopens
from dbt_graft.collectors.store.logs import last_logs, values
from dbt_graft.collectors.store.read import open_positions, positions
from dbt_graft.collectors.store.tables import Positions

# The last part of a log: `log@4711`, `log@4711#dbt`; and a file in the folder that is a log.
_PART, _FILE = "[@#][^@#]*$", "/[^/]*$"


class PositionsOfLogs(Mapping[str, tuple[str, int]]):
    """Positions of which a few are asked for, all at once."""

    @abstractmethod
    def of(self, logs: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The positions of some logs and of their parts."""

    def __getitem__(self, origin: str) -> tuple[str, int]:
        return self.of([origin])[origin]


def of_logs(known: Positions, logs: Iterable[str]) -> Positions:
    """The positions of some logs and of their parts; a mapping in memory is as good as it is."""
    return known.of(logs) if isinstance(known, PositionsOfLogs) else known


@dataclass(frozen=True, slots=True)
class StoredPositions(PositionsOfLogs):
    """The positions in a store, read as they are asked for; what was read once stays as it was.

    Attributes:
        without: Damaged batches to do without, as `damages` names them.
    """

    place: str
    without: tuple[str, ...] = ()
    _found: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict, repr=False)

    def of(self, logs: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The positions of some logs and of their parts.

        Raises:
            StoreError: The store is damaged or cannot be read.
        """
        asked = set(logs)
        if new := asked - self._found.keys():
            self._found.update({log: {} for log in new})
            for origin, position in _positions_of(self.place, new, self.without).items():
                for log in _with_logs(origin):
                    if log in new:
                        self._found[log][origin] = position
        return {one: at for log in asked for one, at in self._found[log].items()}

    def __iter__(self) -> Iterator[str]:
        return iter(positions(self.place, self.without))

    def __len__(self) -> int:
        return len(positions(self.place, self.without))


@reopens
def other_settings(
    store: str, settings: Collection[tuple[str, str]], without: Collection[str] = ()
) -> dict[str, str]:
    """The logs that were read with other settings than their sources have -> those settings.

    Args:
        settings: For each source the place that its logs are below, and its settings.
        without: Damaged batches to do without, as `damages` names them.
    """
    if not settings:
        return {}
    found = open_store(store, without)
    others = last_logs(found, lambda rows: _with_others(settings))
    logs = last_logs(found, values(others, "origin")).filter(_with_others(settings))
    return dict(zip(values(logs, "origin"), values(logs, "settings"), strict=True))


def _with_others(settings: Iterable[tuple[str, str]]) -> pc.Expression:
    """Whether a log has settings, and they are not those of a source that it is below."""
    origin, stored = pc.field("origin"), pc.field("settings")
    found = pc.scalar(False)
    for top, now in settings:
        below = origin == top
        for mark in "/#@":
            below |= pc.starts_with(origin, f"{top}{mark}")
        found |= below & (stored != now)
    return found & (stored != "")


@reopens
def _positions_of(
    store: str, logs: Set[str], without: Collection[str]
) -> dict[str, tuple[str, int]]:
    wanted = pa.array(sorted(logs), pa.string())

    def are_of_logs(rows: pa.Table) -> pc.Expression:
        origins = rows["origin"]
        found = pc.is_in(origins, value_set=wanted)
        in_folder = pc.is_in(pc.replace_substring_regex(origins, _FILE, ""), value_set=wanted)
        parts = rows.filter(pc.match_substring_regex(origins, _PART))
        named = [
            *values(rows.filter(pc.or_(found, in_folder)), "origin"),
            *(one for one in values(parts, "origin") if not logs.isdisjoint(_with_logs(one))),
        ]
        return pc.is_in(pc.field("origin"), value_set=pa.array(named, pa.string()))

    return open_positions(open_store(store, without), are_of_logs)


def _with_logs(origin: str) -> Iterator[str]:
    """An origin, and what it may be a part of."""
    yield origin
    yield origin.rpartition("/")[0]
    while cut := max(origin.rfind("@"), origin.rfind("#")) + 1:
        origin = origin[: cut - 1]
        yield origin
