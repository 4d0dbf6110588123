"""The shape of a log source: what the pipeline calls, whatever the engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.files import glob_top
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.store.positions import PositionsOfLogs, of_logs
from dbt_graft.collectors.store.tables import Collected, Positions
from dbt_graft.lineage.frozen import frozen

# Before the position of a log that is to be read again. No log has such a position, so it is new.
_STALE = "again "


class NewLogs(Protocol):
    """Lists the logs that a store with these positions does not have as they are now.

    What is left out of the list, such as a folder that cannot be listed, goes to `report`.
    """

    def __call__(self, positions: Positions, report: Report = ..., /) -> Sequence[object]: ...


@frozen
class LogSource:
    """An entry of `collect` in `graft.yml`; the `source.py` of each collector returns one.

    It has `collect` or `read`.

    Attributes:
        new_logs: Needs no JVM. Raises `GraftError` if none of its logs can be listed.
        collect: Reads them with an engine, and counts them; None if there are none.
        label: The prefix of its origins; `is_below` tells whether one is.
        settings: A digest of all settings that decide on what is made of a log.
    """

    new_logs: NewLogs
    collect: Callable[[Engine, Positions, Reading], Collected | None] | None = None
    label: str = ""
    settings: str = ""
    read: Callable[[Positions], Iterator[Collected]] | None = None

    def parts(
        self, engine: Engine | None, positions: Positions, reading: Reading
    ) -> Iterator[Collected]:
        """Its new logs as rows of the store.

        Args:
            engine: Needed where the source has `collect`.
        """
        if self.read:
            yield from self.read(positions)
        elif self.collect and engine and (collected := self.collect(engine, positions, reading)):
            yield collected


def is_below(origin: str, label: str) -> bool:
    """Whether an origin is of the source with a label."""
    top = _top(label)
    return origin == top or origin.startswith((f"{top}/", f"{top}#", f"{top}@"))


def _top(label: str) -> str:
    return glob_top(label).rstrip("/")


def settings_digest(settings: Mapping[str, object]) -> str:
    """Settings as a short text that differs once one of them does, and shows none of them."""
    text = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def settings_of(origin: str, sources: Iterable[LogSource]) -> str:
    """The settings of the sources that an origin is of."""
    settings = {
        source.settings for source in sources if source.settings and is_below(origin, source.label)
    }
    return ",".join(sorted(settings))


def settings_below(sources: Iterable[LogSource]) -> list[tuple[str, str]]:
    """For each source with settings the place that its logs are below, and the settings."""
    return [(_top(source.label), source.settings) for source in sources if source.settings]


def changed_settings(stored: Mapping[str, str], sources: Sequence[LogSource]) -> set[str]:
    """The origins that were read with settings that no source of theirs has any more."""
    return {
        origin
        for origin, settings in stored.items()
        if settings and (now := settings_of(origin, sources))
        if not {*settings.split(",")} <= {*now.split(",")}
    }


def to_read_again(positions: Positions, again: Callable[[str], bool]) -> Positions:
    """Positions in which some logs are to be read again.

    What their sources no longer show keeps its records: nothing is read that would replace them.

    Args:
        again: Tells of an origin whether it is to be read again.
    """
    return _ToReadAgain(positions, again)


@frozen
class _ToReadAgain(PositionsOfLogs):
    positions: Positions
    again: Callable[[str], bool]

    def of(self, logs: Iterable[str]) -> dict[str, tuple[str, int]]:
        return {
            origin: (f"{_STALE}{position}" if self.again(origin) else position, events)
            for origin, (position, events) in of_logs(self.positions, logs).items()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self.positions)

    def __len__(self) -> int:
        return len(self.positions)


def is_stale(position: str) -> bool:
    """Whether a position is that of a log that is to be read again."""
    return position.startswith(_STALE)


def position_before(position: str) -> str:
    """The position that a log had before it was to be read again."""
    return position.removeprefix(_STALE)
