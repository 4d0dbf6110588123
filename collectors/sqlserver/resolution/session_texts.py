"""The texts of sessions, resolved: with the columns of temporary tables that others of them make.

A log has `SELECT a INTO #t FROM s` and `SELECT * FROM #t` as two texts. The tables that texts make
are known only when these are resolved, so those that name them are resolved again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dbt_graft.collectors.sqlserver.resolution.resolve import ResolvedText, SentText, TextResolver
from dbt_graft.collectors.sqlserver.runs import temporaries
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment

# A table by its name and its suffix -> its columns; empty where these are not known.
_Columns = dict[tuple[str, str], tuple[str, ...]]
# How many tables are followed that are made of each other by `SELECT *`.
_ROUNDS = 5


def resolve_texts(
    segments: Sequence[RunSegment], resolver: TextResolver
) -> list[ResolvedText | None]:
    """The texts of segments of some runs; None where no log shows one."""
    suffixes = [temporaries.decode(segment.key.temporaries) for segment in segments]
    known: _Columns = {}
    resolved: list[ResolvedText | None] = []
    for _ in range(_ROUNDS):
        sent = [
            None if segment.key.text is None else _sent(segment, named, known)
            for segment, named in zip(segments, suffixes, strict=True)
        ]
        texts = resolver.resolve(filter(None, sent))
        resolved = [None if text is None else texts[text] for text in sent]
        made = _made_tables(zip(suffixes, resolved, strict=True))
        if made == known:
            break
        known = made
    return resolved


def _sent(segment: RunSegment, named: Mapping[str, str], known: _Columns) -> SentText:
    tables = ((name, known.get((name, suffix), ())) for name, suffix in named.items())
    text = segment.key.text or ""
    return SentText(text, segment.key.database, tuple(table for table in tables if table[1]))


def _made_tables(
    texts: Iterable[tuple[Mapping[str, str], ResolvedText | None]],
) -> _Columns:
    """The temporary tables that texts make; where two do not agree, nothing is known."""
    made: _Columns = {}
    for named, text in texts:
        for name, columns in text.made if text else ():
            table = name, named.get(name, "")
            made[table] = columns if made.get(table, columns) == columns else ()
    return made
