"""run_results.json and sources.json of dbt -> results of nodes.

The formats are dbt's: https://schemas.getdbt.com/dbt/run-results/v6.json, and /dbt/sources/v3.json
on the same host. dbt 2 writes the same versions and leaves keys out; its index is read in the
same form.

dbt's microbatches -> dates of data: what an incremental model with an event time has written.

https://docs.getdbt.com/docs/build/incremental-microbatch; `batch_results` of run_results.json
lists the start and the end of each batch, those that went well apart from those that failed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from dbt_graft.collectors.dbt.messages import redact_message
from dbt_graft.lineage.dates.date_ranges import begin_of_unit, next_unit
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import union
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import NodeResult, Status

# dbt's sizes of a batch, coarsest first.
_SIZES = (Grain.YEAR, Grain.MONTH, Grain.DAY, Grain.HOUR)


def written_periods(result: Mapping[str, Any]) -> tuple[Period, ...]:
    """The dates of the batches of a model's result that went well; empty for any other model."""
    batches = result.get("batch_results")
    successful = batches.get("successful") if isinstance(batches, dict) else None
    return union(_periods(successful)) if isinstance(successful, list) else ()


def batch_time(value: Any) -> datetime | None:
    """A time of dbt's artifacts, in UTC with or without saying so; None for anything else."""
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _periods(batches: list[Any]) -> Iterator[Period]:
    for batch in batches:
        if not isinstance(batch, list) or len(batch) != 2:
            continue
        start, end = map(batch_time, batch)
        if start is None or end is None or end <= start:
            continue
        size = next((grain for grain in _SIZES if _is_unit(start, end, grain)), Grain.HOUR)
        first, last = begin_of_unit(start, size), begin_of_unit(end, size)
        last = last if last == end else next_unit(last, size)
        yield Period(first, last, size, PeriodEvidence.INTERVAL)


def _is_unit(start: datetime, end: datetime, size: Grain) -> bool:
    try:
        return begin_of_unit(start, size) == start and next_unit(start, size) == end
    except (OverflowError, ValueError):  # the end of the calendar
        return False


Document = Mapping[str, Any]

_STATUS = {
    "success": Status.OK,
    "pass": Status.OK,
    "warn": Status.OK,
    "error": Status.FAILED,
    "fail": Status.FAILED,
    "runtime error": Status.FAILED,
    "partial success": Status.FAILED,
}
# Commands that write results and build nothing; `dbt docs generate` is one.
_COMPILE_ONLY = frozenset({"compile", "docs", "docs generate", "generate", "list", "parse", "show"})
_KINDS = frozenset({"model", "seed", "snapshot", "source", "test", "unit_test"})
_VERSION = re.compile(r"/dbt/(?P<artifact>[a-z-]+)/v(?P<version>\d+)")
_READABLE = {"run-results": range(4, 7), "sources": range(3, 4)}
# `INSERT 0 12`, `SUCCESS 32`, `SELECT 12`: what the database says of a statement that went well.
_ROWS = re.compile(r"(?:COPY|DELETE|INSERT|MERGE|SELECT|SUCCESS|UPDATE)(?: \d+)? (?P<rows>\d+)")
_WORD = re.compile(r"[a-z -]{1,20}")


class NoResultsError(ValueError):
    """A document of dbt, or of somebody else, without results that can be read."""


@frozen
class Invocation:
    """The results of one invocation of dbt.

    Attributes:
        position: Differs once there are more results: dbt may write a file while it runs.
    """

    origin: str
    position: str
    results: tuple[NodeResult, ...]


def artifact(head: bytes) -> str:
    """The kind of a dbt artifact by its first bytes: `run-results`; empty if they do not say."""
    match = _VERSION.search(head.decode("utf-8", "replace"))
    return match["artifact"] if match else ""


def read_invocation(content: bytes, label: str) -> Invocation:
    """Read the content of a file.

    Raises:
        orjson.JSONDecodeError: It is no JSON, or not all of it.
        NoResultsError: It is something else, or of a version that this one does not know.
    """
    digest = hashlib.sha256(content).hexdigest()[:32]
    return read_document(orjson.loads(content), label, digest)


def read_document(document: Any, label: str, digest: str) -> Invocation:
    """Read a document.

    Args:
        digest: Stands for the invocation where the document does not name it.

    Raises:
        NoResultsError: It is something else, or of a version that this one does not know.
    """
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict) or not isinstance(document.get("results"), list):
        raise NoResultsError("this is neither a run_results.json nor a sources.json of dbt")
    match = _VERSION.search(str(metadata.get("dbt_schema_version")))
    kind = match["artifact"] if match else ""
    if not match or kind not in _READABLE:
        raise NoResultsError("this is neither a run_results.json nor a sources.json of dbt")
    if int(match["version"]) not in _READABLE[kind]:
        first, last = _READABLE[kind][0], _READABLE[kind][-1]
        versions = f"v{first}" if first == last else f"v{first} to v{last}"
        raise NoResultsError(f"{kind} of version v{match['version']}; {versions} can be read")
    invocation = _identifier(metadata.get("invocation_id")) or digest
    is_sources = kind == "sources"
    origin = f"{label}#{invocation}" + ("/sources" if is_sources else "")
    generated_at = batch_time(metadata.get("generated_at"))
    reader = _Reader(
        invocation,
        "source freshness" if is_sources else _command(document.get("args")),
        batch_time(metadata.get("invocation_started_at")) or generated_at,
        origin,
        counts_nothing=not str(metadata.get("dbt_version")).startswith("2"),
        takes_all=_takes_all(document.get("args")),
    )
    results = reader.freshness if is_sources else reader.runs
    return Invocation(
        origin,
        f"{generated_at and generated_at.isoformat()} {len(document['results'])}",
        tuple(_node_results(document["results"], results))
        if reader.command not in _COMPILE_ONLY
        else (),
    )


def _command(args: Any) -> str:
    which = args.get("which") if isinstance(args, dict) else None
    return which if isinstance(which, str) and _WORD.fullmatch(which) else ""


def _takes_all(args: Any) -> bool:
    """Whether models read all rows: `--empty` takes none, `--sample` those of a time."""
    return not (isinstance(args, dict) and (args.get("empty") or args.get("sample")))


def _node_results(
    results: list[Any], read: Callable[[str, str, Document], NodeResult]
) -> Iterator[NodeResult]:
    for result in results:
        node_id = result.get("unique_id") if isinstance(result, dict) else None
        if isinstance(node_id, str) and node_id.partition(".")[0] in _KINDS:
            word = str(result.get("status")).lower()
            yield read(node_id, word if _WORD.fullmatch(word) else "", result)


@frozen
class _Reader:
    """Reads results of an invocation: of its run, or of its freshness check.

    Attributes:
        counts_nothing: Whether 0 rows are a count; dbt 2 says so of statements without one too.
        takes_all: Whether models read all rows, so that a batch has all of its dates.
    """

    invocation_id: str
    command: str
    at: datetime | None
    origin: str
    counts_nothing: bool = True
    takes_all: bool = True

    def runs(self, node_id: str, word: str, result: Document) -> NodeResult:
        """The result of a model, seed, snapshot or test."""
        is_test = node_id.startswith(("test.", "unit_test."))
        started = _start_time(result)
        shared = self._result(node_id, word, result, started, started)
        failures = _count(result.get("failures"))
        # Of a test that found something, the number of rows says it.
        shows_error = shared.status is Status.FAILED and (word != "fail" or failures is None)
        error = _error(node_id, result) if shows_error else None
        if is_test:
            return replace(shared, failures=failures, error=error)
        rows = _rows(result.get("adapter_response"))
        rows = rows if rows or self.counts_nothing else None
        periods = written_periods(result) if self.takes_all else ()
        return replace(shared, rows=rows, error=error, periods=periods)

    def freshness(self, node_id: str, word: str, result: Document) -> NodeResult:
        """The result of a source's check, which has no times if it could not be made."""
        checked, error = batch_time(result.get("snapshotted_at")), result.get("error")
        shared = self._result(node_id, word, result, checked or _start_time(result), checked)
        return replace(
            shared,
            error=redact_message(error, "", node_id) if isinstance(error, str) else None,
            max_loaded_at=_newest_row(result.get("max_loaded_at")),
            criteria=_criteria(result.get("criteria")),
        )

    def _result(
        self, node_id: str, word: str, result: Document, at: datetime | None, began: datetime | None
    ) -> NodeResult:
        return NodeResult(
            node_id=node_id,
            invocation_id=self.invocation_id,
            command=self.command,
            word=word,
            status=_STATUS.get(word, Status.UNKNOWN),
            started_at=at or self.at,
            ended_at=_end_time(result, began),
            origin=self.origin,
        )


def _start_time(result: Document) -> datetime | None:
    timing = result.get("timing")
    times = [
        at
        for step in (timing if isinstance(timing, list) else ())
        if isinstance(step, dict) and (at := batch_time(step.get("started_at")))
    ]
    return min(times, default=None)


def _end_time(result: Document, started: datetime | None) -> datetime | None:
    took = result.get("execution_time")
    if started is None or not isinstance(took, (int, float)) or not 0 <= took < 10**8:
        return None
    return started + timedelta(seconds=took)


def _rows(response: Any) -> int | None:
    """Rows affected; an adapter that does not know says -1, nothing, or text."""
    if isinstance(response, dict):
        message = response.get("_message")
        # Snowflake's answer to CREATE TABLE AS is one row that says so.
        if message == "SUCCESS 1":
            return None
        rows = _count(response.get("rows_affected"))
        if rows is not None or "rows_affected" in response:
            return rows
        response = message
    match = _ROWS.fullmatch(response.strip()) if isinstance(response, str) else None
    return _count(int(match["rows"][:19])) if match else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None


def _error(node_id: str, result: Document) -> str | None:
    batches = result.get("batch_results")
    if isinstance(batches, dict):
        good, bad = (batches.get(key) or () for key in ("successful", "failed"))
        if bad and isinstance(bad, list):
            return f"{len(bad):,} of {len(good) + len(bad):,} batches failed"
    sql, relation = (result.get(key) or "" for key in ("compiled_code", "relation_name"))
    message = result.get("message")
    if not isinstance(message, str) or not message.strip():
        return None
    return redact_message(message, str(sql), str(relation), node_id)


def _newest_row(value: Any) -> datetime | None:
    """The time of a source's newest row; of a source without rows dbt says the year 1."""
    at = batch_time(value)
    return at if at and at.year > 1 else None


def _criteria(criteria: Any) -> str:
    """`warn after 12 hours, error after 1 day`; a filter is SQL and is not shown."""
    limits = []
    for key in ("warn_after", "error_after"):
        limit = criteria.get(key) if isinstance(criteria, dict) else None
        if not isinstance(limit, dict) or limit.get("period") not in ("minute", "hour", "day"):
            continue
        if (count := _count(limit.get("count"))) is not None:
            unit = limit["period"] if count == 1 else f"{limit['period']}s"
            limits.append(f"{key.partition('_')[0]} after {count:,} {unit}")
    return ", ".join(limits)


def _identifier(value: Any) -> str:
    """An invocation's id, which may become part of a name."""
    return value if isinstance(value, str) and re.fullmatch(r"[\w.:-]{1,80}", value) else ""
