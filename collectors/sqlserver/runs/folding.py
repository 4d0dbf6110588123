"""Parts of logs -> segments: on the executors for files, in this process for what is polled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dbt_graft.collectors.sqlserver.event import Chunk, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.readers import read_split
from dbt_graft.collectors.sqlserver.runs.captured import TaskEvent, event_filter, task_events
from dbt_graft.collectors.sqlserver.runs.fold import Fold
from dbt_graft.collectors.sqlserver.runs.noise import noise
from dbt_graft.collectors.sqlserver.runs.segment import SegmentKind, batch, counted, damaged, row

# Events that are put in order and folded at a time.
_WINDOW = 20_000
# Damaged places of one part that are told one by one.
_MOST_DAMAGES = 1_000

# 2200, in units of 100 ns since 1970.
_LATEST = 7_258_118_400 * 10_000_000

Batches = Iterator[pa.RecordBatch]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RunRules:
    """How events become runs.

    Attributes:
        task: A regular expression with a group `task`, and maybe `run`, that is looked for in
            the application's name; applications without it are not ours.
        noise: Regular expressions for texts to leave out, beside those that are always left out.
        idle_seconds: A session that said nothing for so long has done its work; what comes next
            is another run.
    """

    task: str = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"
    noise: Sequence[str] = ()
    idle_seconds: int = 3600


def fold_splits(rules: RunRules) -> Callable[[Batches], Batches]:
    """Rows of `PARTS` -> rows of `SEGMENTS`."""

    def run(batches: Batches) -> Batches:
        events = event_filter(re.compile(rules.task))
        for parts in batches:
            for given in parts.to_pylist():
                part = FileSplit(**given)
                yield from fold_chunks(part.origin, read_split(part, events), rules)

    return run


def fold_chunks(origin: str, chunks: Iterable[Chunk], rules: RunRules) -> Batches:
    """The events of one part of a log -> rows of `SEGMENTS`."""
    captured = task_events(re.compile(rules.task))
    extra = [re.compile(pattern, re.IGNORECASE) for pattern in rules.noise]
    fold = Fold(lambda text: noise(text, extra), rules.idle_seconds)
    window: list[TaskEvent] = []
    seen = damages = untimely = 0
    for chunk in chunks:
        timely = [event for event in chunk.events if 0 <= event.at < _LATEST]
        untimely += len(chunk.events) - len(timely)
        window += filter(None, map(captured, timely))
        seen += chunk.seen
        told = chunk.damages[: max(0, _MOST_DAMAGES - damages)]
        damages += len(chunk.damages)
        if told:
            yield batch([damaged(origin, damage) for damage in told])
        if len(window) >= _WINDOW:
            yield _folded(origin, fold, window)
            window = []
    yield _folded(origin, fold, window)
    last = [counted(origin, SegmentKind.SEEN, seen), counted(origin, SegmentKind.NOISE, fold.noise)]
    if fold.silent:
        silent = f"{fold.silent:,} events show no statement: the session does not collect it"
        last.append(damaged(origin, LogDamage("here and there", silent)))
    if untimely:
        years = f"{untimely:,} events have a time before 1970 or after 2199"
        last.append(damaged(origin, LogDamage("here and there", years)))
    if damages > _MOST_DAMAGES:
        more = f"{damages - _MOST_DAMAGES:,} more places could not be read either"
        last.append(damaged(origin, LogDamage("behind these", more)))
    yield batch(last)


def _folded(origin: str, fold: Fold, window: list[TaskEvent]) -> pa.RecordBatch:
    fold.add(window)
    return batch([row(origin, segment) for segment in fold.segments()])
