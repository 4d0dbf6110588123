"""The events of a running session, read over a connection through the server's own function.

`sys.fn_xe_file_target_read_file` gives the events of a session's files block by block, and begins
after the block that is its argument. The server writes a block at once: its file and offset are an
exact checkpoint.
https://learn.microsoft.com/sql/relational-databases/system-functions/sys-fn-xe-file-target-read-file-transact-sql
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, LogDamage
from dbt_graft.collectors.sqlserver.files.xml_events import is_dismissed, is_wanted, parse_event
from dbt_graft.collectors.sqlserver.odbc.connection import load_pyodbc
from dbt_graft.collectors.sqlserver.odbc.event_files import event_server, session_files
from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure
from dbt_graft.collectors.sqlserver.odbc.polling import Polled, Rows, read_chunks, rows
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    import pyodbc

_ALL = """
SELECT object_name, event_data, file_name, file_offset
FROM sys.fn_xe_file_target_read_file(?, NULL, NULL, NULL)
"""
_BEHIND = """
SELECT object_name, event_data, file_name, file_offset
FROM sys.fn_xe_file_target_read_file(?, NULL, ?, ?)
"""
# The file of the checkpoint is gone, or has no block there.
_GONE = frozenset({25717, 25722})
_NO_FILE = 25718
_SKIPPED = 25720
_DAMAGED = 25723
_REREADS = 3
_CHUNK_CHARACTERS = 4 << 20
# The server puts the time at which it began a file, counted since 1601, into its name.
_BEGUN = re.compile(r"_(\d+)\.xel$", re.IGNORECASE)


@frozen
class LiveSession:
    """An Extended Events session whose target is files.

    Attributes:
        connection: `env:NAME` or `dsn:NAME`.
        session: Its name; may be empty where `path` is set, but then events that the session
            dropped are not reported.
        path: Its files as the server sees them, with `*` on disk or as the beginning of a URL;
            empty to ask the session.
    """

    connection: str
    session: str
    path: str = ""
    wanted: EventFilter = field(default_factory=EventFilter)


@dataclass(frozen=True, slots=True, order=True)
class _Checkpoint:
    """A block, in the order in which a session writes them."""

    begun: int
    name: str
    offset: int
    file: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}|{self.offset}"


def poll(session: LiveSession, position: str) -> Polled:
    """The events of a session after a position, in chunks that end where a block ends.

    Nothing is written: a reader that stores each chunk together with its position loses no event
    and has none twice. Events that the session dropped, or that rolled over before they were read,
    are damages of the first chunk, which may be without events.

    Args:
        position: Where an earlier call has ended, `<file>|<offset of the block>`; empty at first.

    Raises:
        GraftError: There is no such session, its files cannot be read, a permission is missing, or
            the connection stays lost.
    """
    if position:
        _checkpoint_at(position)
    reported: set[LogDamage] = set()
    return read_chunks(session.connection, position, partial(_read, session, reported))


def _read(
    session: LiveSession, reported: set[LogDamage], connection: pyodbc.Connection, position: str
) -> Polled:
    odbc = load_pyodbc()
    server = event_server(connection)
    path = session.path
    try:
        if session.session:
            files = session_files(connection, server, session.session)
            path = path or files.path
            losses = [loss for loss in files.losses if loss not in reported]
            if losses:
                reported.update(losses)
                yield Chunk(damages=losses), position
        yield from _read_behind(connection, path, session.wanted, position)
    except odbc.Error as error:
        failure = odbc_failure(error)
        if _NO_FILE in failure.numbers:
            raise failure.error(
                "the server finds no event file", path, "check `path`, and that the session runs"
            ) from None
        if _DAMAGED in failure.numbers:
            raise failure.error(
                "the server cannot read its event files", path, "name undamaged files in `path`"
            ) from None
        if denied := server.denial(failure):
            raise denied from None
        raise


def _read_behind(
    connection: pyodbc.Connection, path: str, wanted: EventFilter, position: str
) -> Polled:
    """Chunks behind a position, whose file may roll over before or while it is read."""
    odbc = load_pyodbc()
    rereads = 0
    infos: list[int] = []
    while True:
        behind = _checkpoint_at(position) if position else None
        if behind is None or rereads:
            query = rows(connection, _ALL, path, infos=infos)
        else:
            query = rows(connection, _BEHIND, path, behind.file, behind.offset, infos=infos)
        try:
            with closing(query) as event_rows:
                for chunk, reached in _chunks(event_rows, wanted, behind if rereads else None):
                    position = reached
                    yield chunk, reached
                    rereads = min(rereads, 1)
        except odbc.Error as error:
            if _GONE.isdisjoint(odbc_failure(error).numbers) or rereads == _REREADS:
                raise
            rereads += 1
        else:
            break
    if _SKIPPED in infos:
        reason = "the server skipped records of its event files that it cannot read"
        yield Chunk(damages=[LogDamage(f"up to {position}", reason)]), position


def _chunks(event_rows: Rows, wanted: EventFilter, reread: _Checkpoint | None) -> Polled:
    """Rows -> chunks of complete blocks; those up to `reread` have been read before."""
    chunk, seen, size = Chunk(), 0, 0
    last: _Checkpoint | None = None
    complete = reread is None
    for (file, offset), block in groupby(event_rows, itemgetter(2, 3)):
        here = _checkpoint(file, offset)
        if reread is not None and here <= reread:
            complete = complete or here == reread
            continue
        if reread is not None and not complete:
            chunk.damages.append(_gap(reread, here))
            complete = True
        if last is not None and size >= _CHUNK_CHARACTERS:
            yield replace(chunk, seen=seen), str(last)
            chunk, seen, size = Chunk(), 0, 0
        last = here
        for number, (name, text, *_) in enumerate(block, 1):
            seen += 1
            size += len(text or "")
            _add_event(chunk, name, text or "", wanted, f"{_block_position(here)}, event {number}")
    if last is not None:
        yield replace(chunk, seen=seen), str(last)


def _add_event(chunk: Chunk, name: str, text: str, wanted: EventFilter, position: str) -> None:
    if (wanted.names is not None and name not in wanted.names) or is_dismissed(text, wanted):
        return
    event = parse_event(text)
    if isinstance(event, LogDamage):
        chunk.damages.append(replace(event, position=position))
    elif is_wanted(event, wanted):
        chunk.events.append(event)


def _gap(behind: _Checkpoint, first: _Checkpoint) -> LogDamage:
    return LogDamage(
        f"between {_block_position(behind)} and {_block_position(first)}",
        "events may have rolled over before they were read: raise max_rollover_files or collect "
        "more often",
    )


def _block_position(block: _Checkpoint) -> str:
    return f"{block.file}, block at byte {block.offset}"


def _checkpoint(file: str, offset: int) -> _Checkpoint:
    begun = _BEGUN.search(file)
    name = re.split(r"[\\/]", file)[-1].casefold()
    return _Checkpoint(int(begun[1]) if begun else 0, name, offset, file)


def _checkpoint_at(position: str) -> _Checkpoint:
    file, _, offset = position.rpartition("|")
    if not file or not offset.isdecimal():
        raise GraftError(
            "the position in the store is none of an event session",
            place=position,
            remedy="give this source a name of its own in `collect`, or a new store",
        )
    return _checkpoint(file, int(offset))
