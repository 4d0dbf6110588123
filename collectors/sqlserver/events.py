"""Pieces of exports -> captured events, in Arrow batches on the executors.

What surrounds the events, a document type among it, is never parsed: no entity that a file defines
is ever looked at. Statements leave without their literals: no literal goes further.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from xml.etree import ElementTree

import pyarrow as pa

from collectors.statements.dialect import Dialect
from collectors.statements.parse import normalise

# The events that carry statements. One statement may be seen by several: the lowest level counts.
LEVELS = {
    "sql_batch_completed": 0,
    "rpc_completed": 0,
    "sql_statement_completed": 1,
    "sp_statement_completed": 1,
    "sql_batch_starting": 2,
    "rpc_starting": 2,
    "sql_statement_starting": 3,
    "sp_statement_starting": 3,
}
EVENTS = (
    "origin string, block bigint, piece bigint, damage string, excerpt string, task string, "
    "run string, session string, sequence bigint, database string, text string, level int, "
    "status string, rows bigint, started timestamp, ended timestamp"
)
_START = re.compile(r"(?=<event[\s>])")
_NAME = re.compile(r'<event\s+name="(\w+)"')
# Only names and a time: nothing that a statement says.
_START_TAG = re.compile(r'<event name="\w+" package="\w+" timestamp="[\d:.TZ-]+">')
# Characters that XML 1.0 does not allow, raw or as a reference. In SQL they can only stand where a
# space can, or inside a literal.
_ILLEGAL = re.compile(
    r"[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]"
    r"|&#(?:x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2}|[fF]{3}[efEF])"
    r"|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));"
)
_INTEGER = re.compile(r"\s*[-+]?\d{1,18}\s*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Batches = Iterator[pa.RecordBatch]


class Event(NamedTuple):
    """One event, in the order of `EVENTS` behind where it stands; times are microseconds."""

    damage: str | None
    excerpt: str
    task: str = ""
    run: str = ""
    session: str = ""
    sequence: int = 0
    database: str = ""
    text: str | None = None
    level: int | None = None
    status: str = "unknown"
    rows: int | None = None
    started: int | None = None
    ended: int | None = None


def events(task: str, schema: pa.Schema) -> Callable[[Batches], Batches]:
    """Pieces -> the events of tasks, and the damaged ones of whomever.

    Args:
        task: A regular expression with a group `task`, and maybe `run`, on the application's name.
        schema: `EVENTS`.
    """

    def run(batches: Batches) -> Batches:
        application = re.compile(task)
        for batch in batches:
            rows = [
                (*place, *event)
                for *place, piece in zip(*(c.to_pylist() for c in batch.columns), strict=True)
                for event in in_piece(piece, application)
            ]
            columns = zip(*rows, strict=True) if rows else [()] * len(schema)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return run


def in_piece(piece: str, application: re.Pattern[str]) -> Iterator[Event]:
    """The events of tasks in a piece: one, or none.

    A piece with two beginnings holds an event whose end is missing, and the next one.
    """
    for text in _START.split(piece):
        if not text.startswith("<event"):
            continue
        name = _NAME.match(text)
        if name and name[1] not in LEVELS:
            continue
        event = _event(text, application)
        if event.damage or event.task:
            yield event


def _event(text: str, application: re.Pattern[str]) -> Event:
    tag = _START_TAG.match(text)
    excerpt = tag[0] if tag else ""
    root = _parsed(text)
    if root is None:
        return Event("is not well-formed XML", excerpt)
    data, texts = _entries(root, "data")
    actions, _ = _entries(root, "action")
    name = root.get("name", "")
    ended = _micros(root.get("timestamp", ""))
    statement = data.get("batch_text", data.get("statement"))
    result = texts.get("result", data.get("result", "OK"))
    matched = application.search(actions.get("client_app_name", ""))
    said = matched.groupdict(default="") if matched else {}
    damage = None
    if ended is None:
        damage = "has no readable time"
    elif statement is None:
        damage = "has no statement"
    completed = name.endswith("_completed")
    return Event(
        damage,
        excerpt,
        said.get("task", ""),
        said.get("run", ""),
        actions.get("session_id", ""),
        _integer(actions.get("event_sequence")) or 0,
        actions.get("database_name", data.get("database_name", "")),
        normalise(statement, Dialect.TSQL) if statement is not None and matched else None,
        LEVELS.get(name),
        "unknown" if not completed else "ok" if result in ("OK", "0") else "failed",
        _integer(data.get("row_count")),
        None if ended is None else ended - (_integer(data.get("duration")) or 0),
        ended,
    )


def _parsed(text: str) -> ElementTree.Element | None:
    """An event's XML; None where it is not well-formed, illegal characters aside."""
    # Begins inside a document: no document type can stand in it, so no entity either.
    try:
        return ElementTree.fromstring(text)  # noqa: S314
    except ElementTree.ParseError:
        cleaned = _ILLEGAL.sub(" ", text)
    try:
        return ElementTree.fromstring(cleaned)  # noqa: S314
    except ElementTree.ParseError:
        return None


def _entries(root: ElementTree.Element, part: str) -> tuple[dict[str, str], dict[str, str]]:
    """The values of an event's fields or actions by their names, and the words for these values."""
    values: dict[str, str] = {}
    words: dict[str, str] = {}
    for entry in root.iterfind(part):
        for one in entry:
            if one.tag in ("value", "text"):
                found = values if one.tag == "value" else words
                found.setdefault(entry.get("name", ""), one.text or "")
    return values, words


def _integer(text: str | None) -> int | None:
    return int(text) if text and _INTEGER.fullmatch(text) else None


def _micros(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)
