"""Collect: new logs of all sources into the lineage store."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.engines.local import LocalEngine
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.engines.session import missing_for_spark, session
from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.source import (
    LogSource,
    changed_settings,
    is_below,
    settings_below,
    settings_of,
    to_read_again,
)
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.retention import purge_if_due
from dbt_graft.collectors.store.without_pandas import leave_pandas_out
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.declared import task_infos
from dbt_graft.graft.project.lineage_index import remove_lineage_index
from dbt_graft.graft.project.output_folder import check_writable
from dbt_graft.graft.project.outputs import output_of
from dbt_graft.graft.project.progress import Progress, ProgressStep
from dbt_graft.graft.project.sources import sources
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Reject

_log = logging.getLogger(__name__)
# Fewer bytes of logs are read before Spark has started: docs/how-it-works.md.
_LOCAL_IS_FASTER = 1_000_000_000


@frozen
class CollectResult:
    """The result of a collect.

    Attributes:
        new_logs: The number of logs that were read now.
        unreadable: Sources of `graft.yml`, and logs, that could not be read.
        other_clients: Name -> events in these logs of clients of SQL Server that are no task.
    """

    new_logs: int = 0
    unreadable: tuple[Reject, ...] = ()
    other_clients: Mapping[str, int] = field(default_factory=dict)


def collect(config: Config, progress: Progress, *, again: str | None = None) -> CollectResult:
    """Read new logs into the lineage store. An engine is started only if some of them need it.

    Args:
        again: Read all logs of this source again, of all sources if it is empty. What a source no
            longer shows stays in the store.

    Raises:
        GraftError: None of the sources can be read, there is no source `again`, a file of declared
            lineage is not valid, or Spark or the store cannot be used.
    """
    leave_pandas_out()
    task_infos(config)  # Reading logs may take an hour; an invalid file is reported before.
    store_path = config.path(config.store)
    # The way back from a damaged store is to read everything again.
    damaged = store.damages(store_path) if again == "" else {}
    for fault in (fault for faults in damaged.values() for fault in faults):
        progress.warn(
            f"{store_path}: {fault}; its lineage is read again, as far as its logs are there"
        )
    before = store.StoredPositions(store_path, tuple(damaged))
    listed = list(sources(config, tuple(damaged)))
    others = store.other_settings(store_path, settings_below(listed), damaged)
    changed = changed_settings(others, listed)
    asked_for = _labels_again(listed, again)
    asked: set[str] = set()

    def is_to_read_again(origin: str) -> bool:
        asked.add(origin)
        return origin in changed or any(is_below(origin, label) for label in asked_for)

    positions = to_read_again(before, is_to_read_again)
    left_out: list[Finding] = []
    with progress.step("collect", "looking for new logs") as step:
        fresh, empty, faults = _list_new(listed, positions, asked, left_out.append)
        if faults and len(faults) == len(config.collect):
            raise _all_unreadable(faults)
        for unread in faults:
            progress.warn(str(unread))
        unreadable = tuple(Reject(error.place, "", error.problem) for error in faults)
        unreadable += tuple(_warn_of(left_out, progress.warn))
        step.result = _listed_text(len(fresh), len(listed))
        if unreadable:
            step.result += f", {len(unreadable)} cannot be read"
    _warn_of_no_logs(config, empty, before, progress.warn)
    if not fresh:
        return CollectResult(unreadable=unreadable)
    _check_store(store_path)
    with progress.step("collect", "reading new logs") as step:
        new = _NewLogs(
            fresh, positions, before, tuple(damaged), partial(settings_of, sources=listed)
        )
        committed, pending, other_clients, size = _read(config, new, step, progress.warn)
        origins, events = (committed.origins, committed.events) if committed else (0, 0)
        step.result = f"{count(origins, 'new log')}, {count(events, 'event')}"
        step.result += engine_note(config, size)
    for reject in pending:
        progress.warn(
            f"{one_line(reject.origin)}: {reject.reason}\n  the next collect reads it again"
        )
    return CollectResult(origins, (*unreadable, *pending), other_clients)


def _list_new(
    listed: Sequence[LogSource], positions: store.Positions, asked: set[str], report: Report
) -> tuple[list[LogSource], list[LogSource], list[GraftError]]:
    """The sources with new logs, those that list no log, and errors of those that cannot be read.

    Args:
        asked: Gets the logs for whose positions a source asks.
    """
    fresh, empty, faults = list[LogSource](), list[LogSource](), list[GraftError]()
    for source in listed:
        asked.clear()
        try:
            if source.new_logs(positions, report):
                fresh.append(source)
            elif not asked:
                empty.append(source)
        except GraftError as error:
            _log.debug("a source cannot be read", exc_info=True)
            faults.append(error)
    return fresh, empty, faults


def _listed_text(fresh: int, listed: int) -> str:
    if not listed:
        return "`collect` in graft.yml names no log: docs/logs.md"
    verb = "has" if 1 in (fresh, listed) else "have"
    return f"{fresh} of {count(listed, 'source')} {verb} new logs"


def _warn_of_no_logs(
    config: Config,
    empty: Sequence[LogSource],
    before: store.StoredPositions,
    warn: Callable[[str], None],
) -> None:
    """Name the entries that list no log and never gave any; logs may be deleted once read."""
    named = {entry.label for entry in config.collect}
    for source in empty:
        if source.label in named and not any(is_below(origin, source.label) for origin in before):
            warn(
                f"{one_line(source.label)}: there are no logs of this kind here\n"
                "  enable logging, or correct `path` in graft.yml: docs/logs.md"
            )


def _check_store(store_path: str) -> None:
    """Refuse a folder that cannot be written, before logs are read for an hour."""
    if "://" not in store_path:
        check_writable(Path(store_path), "store")


def _warn_of(left_out: Sequence[Finding], warn: Callable[[str], None]) -> Iterator[Reject]:
    """Print a warning for each folder, file and link that is not listed; rejects of lost logs."""
    for finding in dict.fromkeys(left_out):
        remedy = f"\n  {finding.remedy}" if finding.remedy else ""
        warn(f"{one_line(finding.subject)}: {finding.problem}{remedy}")
        if finding.severity is not Severity.NOTE:
            yield Reject(finding.subject, "", finding.problem)


@frozen
class _NewLogs:
    """The sources with new logs, and what the store had when they were listed.

    Attributes:
        known, before: Its positions, with those of logs that are to be read again, and without.
        settings: Returns the settings of an origin.
    """

    sources: Sequence[LogSource]
    positions: store.Positions
    before: store.Positions
    damaged: tuple[str, ...]
    settings: Callable[[str], str]


def _read(
    config: Config, new: _NewLogs, step: ProgressStep, warn: Callable[[str], None]
) -> tuple[store.CommittedBatch | None, list[Reject], Counter[str], int]:
    """Read logs into the store.

    Returns:
        The batch, the logs that could not be read, events of other clients, and the logs' bytes.
    """
    store_path = config.path(config.store)
    pending, other_clients = list[Reject](), Counter[str]()
    needs_engine = any(source.collect for source in new.sources)
    with _engine(config) if needs_engine else nullcontext() as engine:
        reading = step.measure = Reading(engine)

        def parts() -> Iterator[store.Collected]:
            for source in new.sources:
                for part in source.parts(engine, new.positions, reading):
                    pending.extend(part.pending)
                    other_clients.update(part.other_clients)
                    yield part

        committed = store.commit(
            *(store_path, parts(), new.before), give_up=new.damaged, settings=new.settings
        )
        if any(source.read for source in new.sources):
            store.fold_results(store_path, new.settings)
        if committed:
            _fold(config, store_path, engine, warn)
            _purge(config, store_path, warn)
            if committed.closed:
                warn(_closed_text(committed.closed))
    return committed, pending, other_clients, reading.size


def _fold(
    config: Config, store_path: str, engine: Engine | None, warn: Callable[[str], None]
) -> None:
    """Fold what there is in the store; a build is slower without it, and no less right."""
    from dbt_graft.collectors.store.fold.spark import folding_on

    span = config.keep.spans.get("runs")
    before = datetime.now(UTC) - span if span else None
    try:
        if isinstance(engine, SparkEngine):
            spark = engine.session
            store.fold_store(store_path, before=before, on_spark=folding_on(spark, before=before))
        elif not (config.reads_on_spark and store.needs_spark(store_path)):
            store.fold_store(store_path, before=before)
        else:
            with _spark(config, much_work=True) as spark:
                on_spark = folding_on(spark.session, before=before)
                store.fold_store(store_path, before=before, on_spark=on_spark)
    except Exception as error:
        _log.debug("the store was not folded", exc_info=True)
        warn(
            f"{store_path}: the runs in it were not folded ({error}); the next collect tries again"
        )


def _purge(config: Config, store_path: str, warn: Callable[[str], None]) -> None:
    """Purge the store by the rules of `keep`, if it is due."""
    try:
        if purge_if_due(store_path, config.keep.spans, datetime.now(UTC)):
            remove_lineage_index(config)
    except Exception as error:
        _log.debug("the store was not purged", exc_info=True)
        warn(f"{store_path}: was not purged ({error}); graft store purge tries again")


def _closed_text(origins: Sequence[str]) -> str:
    others = f" and {len(origins) - 1:,} more logs" if len(origins) > 1 else ""
    return (
        f"{origins[0]}{others}: read again, which changes nothing: a purge has folded the runs for "
        "good (`keep` in graft.yml)"
    )


def _engine(config: Config) -> AbstractContextManager[Engine]:
    return _spark(config) if config.reads_on_spark else nullcontext(LocalEngine())


def engine_note(config: Config, size: int) -> str:
    """A note on the engine where graft.yml names none: Spark is missing, or takes its time.

    Args:
        size: The bytes of the logs that were read.
    """
    if config.engine or config.spark or not size:
        return ""
    if config.reads_on_spark:
        return "; faster with `engine: local` in graft.yml" if size < _LOCAL_IS_FASTER else ""
    missing = missing_for_spark()
    return f"; read without Spark, as there is no {missing}: enough for some GB of logs a night"


@contextmanager
def _spark(config: Config, *, much_work: bool = False) -> Iterator[SparkEngine]:
    """Spark, with its log among the artifacts."""
    output_of(config, "artifacts").claim()
    log = Path(config.path(config.artifacts)) / "spark.log"
    with session(config.spark, log, much_work=much_work) as spark:
        yield SparkEngine(spark)


def _labels_again(listed: Sequence[LogSource], again: str | None) -> list[str]:
    labels = [source.label for source in listed]
    if again and again not in labels:
        raise GraftError(
            f"there is no source {again!r}",
            place="--again",
            remedy=f"name one of {', '.join(labels)}",
        )
    return labels if again == "" else [again] if again else []


def _all_unreadable(faults: Sequence[GraftError]) -> GraftError:
    if len(faults) == 1:
        return faults[0]
    reasons = "\n".join(f"  {fault}".replace("\n", "\n  ") for fault in faults)
    return GraftError(f"no source of `collect` in graft.yml can be read\n{reasons}")
