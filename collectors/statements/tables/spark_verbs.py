"""What only Spark, Delta and Iceberg have: CACHE, LOAD, COPY INTO, CONVERT, RESTORE, CALL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt_graft.collectors.statements.tables.scan_state import Walk
from dbt_graft.collectors.statements.text.procedures import PROCEDURES, READ, TEMPORARY
from dbt_graft.lineage.dataset import Kind


def _cache(walk: Walk, at: int) -> int:
    """`CACHE TABLE t` reads a table, `CACHE TABLE v AS SELECT …` makes a temporary view."""
    walk.operation = "CACHE TABLE"
    if walk.word(at + 1) == "SELECT":
        return at + 1
    found = walk.name(walk.skip(at + 1, "LAZY", "TABLE"))
    if found is None:
        return walk.end
    end = found.end
    if walk.word(end) == "OPTIONS":
        end = walk.behind(end + 1)
    if end >= walk.end:
        walk.read(at, found)
    else:
        walk.write(found, walk.operation, kind=Kind.TEMPORARY)
    return walk.skip(end, "AS")


def _load(walk: Walk, at: int) -> int:
    """`LOAD DATA INPATH files.`/x` INTO TABLE t`"""
    walk.operation = "LOAD DATA"
    into = walk.find(at, "INTO")
    target = walk.name(walk.skip(into + 1, "TABLE")) if into else None
    if target:
        walk.write(target, walk.operation)
    path = walk.find(at, "INPATH")
    source = walk.name(path + 1) if path else None
    if source and source.kind is Kind.PATH:
        walk.read(at, source)
    return walk.end


def _copy(walk: Walk, at: int) -> int:
    """`COPY INTO t FROM files.`/x``, `COPY INTO t FROM (SELECT … FROM files.`/x`)`"""
    walk.operation = "COPY INTO"
    found = walk.name(walk.skip(at + 1, "INTO"))
    if found is None:
        return walk.end
    walk.scope.has_from = True
    walk.write(found, walk.operation)
    return found.end


def _restore(walk: Walk, at: int) -> int:
    """`RESTORE TABLE t TO VERSION AS OF 3`, `CONVERT TO DELTA t`"""
    walk.operation = walk.word(at)
    if found := walk.name(walk.skip(at + 1, "TABLE", "TO", "DELTA")):
        walk.write(found, walk.operation)
    return walk.end


def _call(walk: Walk, at: int) -> int:
    walk.operation = "CALL"
    procedure = walk.name(at + 1)
    if procedure is None or walk.word(procedure.end) != "(":
        return walk.end
    tables = PROCEDURES.get(procedure.name[-1].casefold(), {})
    place, end = procedure.end + 1, walk.behind(procedure.end) - 1
    for position in range(len(tables)):
        named = walk.word(place + 1) == "=>"
        argument = walk.word(place).casefold() if named else list(tables)[position]
        found = walk.name(place + 2 if named else place)
        use = tables.get(argument) if found else None
        if found and use == READ:
            walk.read(at, found)
        elif found and use:
            kind = Kind.TEMPORARY if use == TEMPORARY else Kind.TABLE
            walk.write(found, walk.operation, kind=kind)
        while place < end and walk.word(place) != ",":
            place = walk.behind(place)
        place += 1
    return walk.end


SPARK_VERBS: Mapping[str, Callable[[Walk, int], int]] = {
    "CACHE": _cache,
    "CALL": _call,
    "CONVERT": _restore,
    "COPY": _copy,
    "LOAD": _load,
    "RESTORE": _restore,
}
