"""The positions in logs up to which a store has read them, asked for those that a source lists.

A store of years holds millions of logs, most of which no source lists any more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import field

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.store.batches import OpenStore, open_store, reopens
from dbt_graft.collectors.store.logs import SomeLogs, last_logs, values
from dbt_graft.collectors.store.tables import Positions
from dbt_graft.lineage.frozen import frozen

# The last part of a log: `log@4711`, `log@4711#dbt`; and a file in the folder that is a log.
_PART, _FILE = "[@#][^@#]*$", "/[^/]*$"


@reopens
def positions(store: str, without: Collection[str] = ()) -> dict[str, tuple[str, int]]:
    """Origin -> the position reached in it, and the number of events up to there."""
    return open_positions(open_store(store, without))


def open_positions(snapshot: OpenStore, only: SomeLogs | None = None) -> dict[str, tuple[str, int]]:
    """As `positions`, of an open store."""
    logs = last_logs(snapshot, only).select(["origin", "position", "events"]).to_pydict()
    places = zip(logs["position"], logs["events"], strict=True)
    return dict(zip(logs["origin"], places, strict=True))


class PositionsOfLogs(Mapping[str, tuple[str, int]]):
    """Positions of which a few are asked for, all at once."""

    @abstractmethod
    def of(self, logs: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The positions of some logs and of their parts."""

    def __getitem__(self, origin: str) -> tuple[str, int]:
        return self.of([origin])[origin]


def of_logs(all_positions: Positions, logs: Iterable[str]) -> Positions:
    """The positions of some logs and of their parts; a mapping in memory is as good as it is."""
    return all_positions.of(logs) if isinstance(all_positions, PositionsOfLogs) else all_positions


@frozen
class StoredPositions(PositionsOfLogs):
    """The positions in a store, read as they are asked for; what was read once stays as it was.

    Attributes:
        without: Damaged batches to do without, as `damages` names them.
    """

    place: str
    without: tuple[str, ...] = ()
    _positions: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict, repr=False)

    def of(self, logs: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The positions of some logs and of their parts.

        Raises:
            StoreError: The store is damaged or cannot be read.
        """
        asked = set(logs)
        if new := asked - self._positions.keys():
            self._positions.update({log: {} for log in new})
            for origin, position in _read_positions(self.place, new, self.without).items():
                for log in _enclosing_logs(origin):
                    if log in new:
                        self._positions[log][origin] = position
        return {
            origin: position for log in asked for origin, position in self._positions[log].items()
        }

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
    """
    if not settings:
        return {}
    snapshot = open_store(store, without)
    others = last_logs(snapshot, lambda rows: _has_other_settings(settings))
    logs = last_logs(snapshot, values(others, "origin")).filter(_has_other_settings(settings))
    return dict(zip(values(logs, "origin"), values(logs, "settings"), strict=True))


def _has_other_settings(settings: Iterable[tuple[str, str]]) -> pc.Expression:
    """Whether a log has settings, and they are not those of a source that it is below."""
    origin, stored = pc.field("origin"), pc.field("settings")
    differs = pc.scalar(False)
    for top, now in settings:
        below = origin == top
        for mark in "/#@":
            below |= pc.starts_with(origin, f"{top}{mark}")
        differs |= below & (stored != now)
    return differs & (stored != "")


@reopens
def _read_positions(
    store: str, logs: Set[str], without: Collection[str]
) -> dict[str, tuple[str, int]]:
    wanted = pa.array(sorted(logs), pa.string())

    def are_of_logs(rows: pa.Table) -> pc.Expression:
        origins = rows["origin"]
        is_log = pc.is_in(origins, value_set=wanted)
        in_folder = pc.is_in(pc.replace_substring_regex(origins, _FILE, ""), value_set=wanted)
        parts = rows.filter(pc.match_substring_regex(origins, _PART))
        names = [
            *values(rows.filter(pc.or_(is_log, in_folder)), "origin"),
            *(
                origin
                for origin in values(parts, "origin")
                if not logs.isdisjoint(_enclosing_logs(origin))
            ),
        ]
        return pc.is_in(pc.field("origin"), value_set=pa.array(names, pa.string()))

    return open_positions(open_store(store, without), are_of_logs)


def _enclosing_logs(origin: str) -> Iterator[str]:
    """An origin, and what it may be a part of."""
    yield origin
    yield origin.rpartition("/")[0]
    while cut := max(origin.rfind("@"), origin.rfind("#")) + 1:
        origin = origin[: cut - 1]
        yield origin
