"""The outbox: events that wait for delivery, and the keys of those that were delivered.

One SQLite file beside the store. Each step is a transaction, so that a process that dies at any
moment loses no event and notes none twice. What is delivered keeps its key only. An event whose
answer was lost is sent again: receivers know it by its run, type and time.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path

from dbt_graft.lineage.errors import GraftError, write_error
from dbt_graft.lineage.frozen import frozen

_SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    key TEXT NOT NULL,
    task TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'refused')),
    body BLOB,
    reason TEXT NOT NULL DEFAULT '',
    UNIQUE (receiver, key)
);
CREATE INDEX IF NOT EXISTS undelivered ON event (receiver, state, id) WHERE state != 'delivered';
"""
_ADD_AGAIN = """
INSERT INTO event (receiver, key, task, state, body) VALUES (?, ?, ?, 'waiting', ?)
ON CONFLICT DO UPDATE SET state = 'waiting', body = excluded.body
"""
# What still waits gets its newest content.
_ADD = f"{_ADD_AGAIN} WHERE state = 'waiting'"
_BATCH = 1_000
_LOCKED = 600.0  # seconds that an export waits for another one


@frozen
class OutgoingEvent:
    """An event to be delivered.

    Attributes:
        key: Its identity, by `events.event_key`.
        task: The task or dbt model that it is about; empty for a dataset's.
        body: JSON.
    """

    key: str
    task: str
    body: bytes


@frozen
class UndeliveredEvent:
    """An event in the outbox that was not delivered, and why, if it was tried."""

    id: int
    task: str
    body: bytes
    reason: str = ""


class Outbox:
    """The events for one receiver.

    Args:
        receiver: The URL that they are sent to.

    Raises:
        GraftError: The file cannot be written, or is damaged; by each method.
    """

    def __init__(self, path: Path, receiver: str) -> None:
        self._path = path
        self._receiver = receiver
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._events = sqlite3.connect(path, timeout=_LOCKED, isolation_level=None)
            self._events.execute("PRAGMA journal_mode = WAL")
            # Without power the last notes may be lost: these events are sent again.
            self._events.execute("PRAGMA synchronous = NORMAL")
            self._events.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._events.close()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Hold the outbox for one process; another waits for it.

        Raises:
            GraftError: Another export holds it for too long.
        """
        lock = sqlite3.connect(
            self._path.with_name(f"{self._path.name}.lock"), timeout=_LOCKED, isolation_level=None
        )
        try:
            with self._errors():
                lock.execute("BEGIN EXCLUSIVE")
            yield
        finally:
            lock.close()

    def add(self, events: Iterable[OutgoingEvent], *, again: bool = False) -> int:
        """Add events that are not known yet; returns their number.

        Args:
            again: Known ones too, whatever became of them.
        """
        before = self._count()
        statement = _ADD_AGAIN if again else _ADD
        rest = iter(events)
        while batch := list(islice(rest, _BATCH)):
            rows = [(self._receiver, event.key, event.task, event.body) for event in batch]
            with self._transaction():
                self._events.executemany(statement, rows)
        return self._count() - before

    def waiting(self) -> Iterator[UndeliveredEvent]:
        """The events to be sent, in the order in which they were added."""
        last = 0
        while batch := self._waiting_after(last):
            yield from batch
            last = batch[-1].id

    def waiting_count(self) -> int:
        """The number of events to be sent."""
        return self._count("state = 'waiting'")

    def refused(self) -> int:
        """The number of events that the receiver does not want."""
        return self._count("state = 'refused'")

    def note_delivered(self, event: UndeliveredEvent) -> None:
        """The receiver has it: it is never sent again."""
        self._update("state = 'delivered', body = NULL, reason = ''", (), event)

    def note_refused(self, event: UndeliveredEvent, reason: str) -> None:
        """The receiver does not want it: it is not sent again unless it is asked for."""
        self._update("state = 'refused', reason = ?", (reason,), event)

    def note_failed(self, event: UndeliveredEvent, reason: str) -> None:
        """It could not be sent now, and waits."""
        self._update("reason = ?", (reason,), event)

    def try_refused_again(self) -> None:
        """Let events wait again that were refused."""
        with self._transaction():
            self._events.execute(
                "UPDATE event SET state = 'waiting' WHERE receiver = ? AND state = 'refused'",
                (self._receiver,),
            )

    def _waiting_after(self, last: int) -> list[UndeliveredEvent]:
        with self._errors():
            rows = self._events.execute(
                "SELECT id, task, body, reason FROM event WHERE receiver = ? "
                "AND state = 'waiting' AND id > ? ORDER BY id LIMIT ?",
                (self._receiver, last, _BATCH),
            ).fetchall()
        return [UndeliveredEvent(*row) for row in rows]

    def _update(self, change: str, values: tuple[str, ...], event: UndeliveredEvent) -> None:
        with self._transaction():
            # The change is one of those above, its values are bound.
            self._events.execute(f"UPDATE event SET {change} WHERE id = ?", (*values, event.id))  # noqa: S608

    def _count(self, condition: str = "true") -> int:
        with self._errors():
            query = f"SELECT count(*) FROM event WHERE receiver = ? AND {condition}"  # noqa: S608
            [[number]] = self._events.execute(query, (self._receiver,)).fetchall()
        return int(number)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            self._events.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._events.execute("ROLLBACK")
                raise
            self._events.execute("COMMIT")

    def _errors(self) -> AbstractContextManager[None]:
        return _outbox_errors(self._path)


@contextmanager
def _outbox_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        remedy = "make the folder writable, or wait for the other export that holds it"
        if _is_full(path, error):
            raise write_error(OSError(errno.ENOSPC, ""), path, remedy) from error
        problem = f"the outbox cannot be written: {error}"
        raise GraftError(problem, place=str(path), remedy=remedy) from error
    except sqlite3.DatabaseError as error:
        raise GraftError(
            "the outbox is damaged",
            place=str(path),
            remedy="move it away: events are made again from the store, and all are sent again",
        ) from error
    except OSError as error:
        remedy = "name another file as `openlineage.outbox` in graft.yml"
        raise write_error(error, path, remedy) from error


def _is_full(path: Path, error: sqlite3.OperationalError) -> bool:
    """Whether there is no space for the file; SQLite calls it an I/O error where it maps one."""
    if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
        return True
    is_io = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR
    return is_io and not shutil.disk_usage(path.parent).free
