"""Retention: how long a store keeps single runs and the texts of statements, and when it purges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import orjson

from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.purge import Purge, purge
from dbt_graft.collectors.store.statement_texts import drop_statements, old_statements

# The times up to which a store was purged, of runs and of statements.
_DONE = "purged.json"
# A purge by itself waits until so much of the time has passed again.
_SHARE = 12


@dataclass(frozen=True, slots=True)
class Purged:
    """The result of a purge by rules.

    Attributes:
        before: The time before which runs and statements are old; `runs`, `statements`.
        statements: How many lost their text.
    """

    before: dict[str, datetime]
    runs: Purge = field(default_factory=Purge)
    statements: int = 0


def purge_store(
    store: str,
    keep: Mapping[str, timedelta],
    now: datetime,
    *,
    dry_run: bool = False,
    on_progress: Callable[[str], object] = lambda text: None,
) -> Purged:
    """Purge a store of all that is older than the rules say.

    Args:
        keep: `runs`, `statements` -> the time for which they are kept; without one for all time.
        dry_run: Only count.

    Raises:
        StoreError: The store is damaged.
    """
    before = {name: now - span for name, span in keep.items()}
    runs, statements = Purge(), 0
    if limit := before.get("statements"):
        on_progress("looking for old statements")
        if dry_run:
            statements = len(old_statements(open_store(store), limit))
        else:
            statements = drop_statements(store, limit)
    if limit := before.get("runs"):
        runs = purge(store, limit, dry_run=dry_run, on_progress=on_progress)
    if before and not dry_run:
        _write(open_store(store), before)
    return Purged(before, runs, statements)


def purge_if_due(store: str, keep: Mapping[str, timedelta], now: datetime) -> Purged | None:
    """Purge a store if enough time has passed since; None if it has not."""
    done = _read(open_store(store))
    due = {
        name: span
        for name, span in keep.items()
        if name not in done or now - span - done[name] >= span / _SHARE
    }
    if not due:
        return None
    return purge_store(store, due, now)


def _read(snapshot: OpenStore) -> dict[str, datetime]:
    try:
        with snapshot.files.open_input_file(f"{snapshot.root}/{_DONE}") as file:
            content = orjson.loads(file.read())
        return {
            name: datetime.fromisoformat(content[name]).astimezone(UTC)
            for name in ("runs", "statements")
            if name in content
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError):
        return {}  # a purge too many does no harm


def _write(snapshot: OpenStore, before: dict[str, datetime]) -> None:
    content = {name: at.isoformat() for name, at in (_read(snapshot) | before).items()}
    beside = f"{snapshot.root}/.{_DONE}.new"
    with snapshot.files.open_output_stream(beside) as out:
        out.write(orjson.dumps(content))
    snapshot.files.move(beside, f"{snapshot.root}/{_DONE}")
