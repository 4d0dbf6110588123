"""The part of the collector that runs on workers: parts of files -> their records.

The events of a run stand close together, mostly. So a worker holds the newest runs, up to some
megabytes, and makes a fragment of the oldest when it needs room: memory does not grow with a log.
"""

from __future__ import annotations

import gc
import logging
import re
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from dbt_graft.collectors.engines.engine import Batches
from dbt_graft.collectors.engines.reading import ReadCounter
from dbt_graft.collectors.openlineage.catalogue import (
    Catalogue,
    FacetTexts,
    dataset_metadata,
    task_metadata,
)
from dbt_graft.collectors.openlineage.event import Event, EventKind, NotAnEventError, read_event
from dbt_graft.collectors.openlineage.facets import count_unused_facets, text
from dbt_graft.collectors.openlineage.files import has_head, read_head
from dbt_graft.collectors.openlineage.fragment import Fragment, fragment
from dbt_graft.collectors.openlineage.jobs import Job, defined_view, job_of
from dbt_graft.collectors.openlineage.lines import Line, Range, lines
from dbt_graft.collectors.schema import Flat, batch, record
from dbt_graft.collectors.statement import access_records, column_edge_records
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.building.metadata import dataset_newness, task_newness
from dbt_graft.lineage.dates.date_columns import NO_RULES, DateColumns
from dbt_graft.lineage.errors import exception_reason
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    DatasetMetadata,
    NodeResult,
    Reject,
    Run,
    Shape,
    TaskMetadata,
)

_logger = logging.getLogger(__name__)

# What a worker holds of runs, by the size of their lines; parsed, they take about ten times that.
_HELD = 8 << 20
_MOST_RUNS = 5_000
# A worker emits a batch when it has so many records.
_RECORDS = 10_000
_MOST_REJECTS = 1_000
_MOST_DATASETS = 20_000
_REMEMBERED = 200_000

# Why a part is not read, and read by the next collect.
REPLACED = "another file took its place while it was read"


@frozen
class FilePart:
    """A part of a file as workers get it.

    Attributes:
        file: The origin of the file.
        first: The start of what is new in the file, over all its parts.
        head: As that of the `NewPart`.
    """

    url: str
    file: str
    origin: str
    start: int
    end: int
    size: int
    first: int
    head: str = ""


@frozen
class PartResult:
    """Records in a part of a file; several for a large one.

    Attributes:
        reached: The byte up to which the file was read; 0 in all but the last result of a part.
        head: The first bytes of the file, in the result with `reached`.
        unread: Why the file could not be read; empty where it could.
        waits: Its last line is not complete: the reject of that has an origin of its own.
        of_dbt: Some records have the origin of dbt's part.
    """

    origin: str
    records: Flat[LogRecords]
    node_results: tuple[NodeResult, ...] = ()
    task_metadata: tuple[TaskMetadata, ...] = ()
    dataset_metadata: tuple[DatasetMetadata, ...] = ()
    reached: int = 0
    events: int = 0
    head: str = ""
    unread: str = ""
    waits: bool = False
    of_dbt: bool = False


def read_parts(
    task: str, columns: DateColumns, counter: ReadCounter, timezone: str, batches: Batches
) -> Batches:
    """Batches of `FilePart` -> batches of `PartResult`."""
    rule = re.compile(task) if task else None
    # Events have no cycles, and to look for some among those held takes a fifth of the time.
    gc.disable()
    try:
        for listed in (row for each in batches for row in each.to_pylist()):
            part = record(FilePart, listed)
            for result in read_part(part, rule, columns, timezone):
                yield safe_batch(result)
            counter.add(int(part.start == part.first), part.end - part.start)
    finally:
        gc.enable()


def safe_batch(result: PartResult) -> pa.RecordBatch:
    """A result as a batch; of one with a value that no column can hold, a reject."""
    try:
        return batch(PartResult, [result])
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = f"the events cannot be stored ({exception_reason(error, _logger)})"
        rejects = LogRecords(rejects=(Reject(result.origin, "", reason),))
        lost = replace(
            result, records=rejects, node_results=(), task_metadata=(), dataset_metadata=()
        )
        return batch(PartResult, [lost])


def read_part(
    part: FilePart,
    rule: re.Pattern[str] | None = None,
    columns: DateColumns = NO_RULES,
    timezone: str = "",
) -> Iterator[PartResult]:
    """The records in a part of a file; a file that breaks the reader costs itself only."""
    reader = _PartReader(part, rule, columns, timezone)
    head, reached, unread = b"", part.start, ""
    try:
        head = read_head(part.url)
        if not has_head(head, part.head):
            unread = REPLACED
        span = Range(part.url, part.start, part.end, part.size, part.first)
        for line in () if unread else lines(span, head):
            reached = max(reached, line.end)
            reader.add(line)
            if reader.size >= _RECORDS:
                yield reader.take_result()
    except OSError as error:
        unread = f"the file cannot be read ({system_reason(error)})"
    except Exception as error:
        # What was read before stays.
        reason = f"the file cannot be read on ({exception_reason(error, _logger)})"
        reader.reject(f"byte {reached}", reason)
    reader.finish()
    yield replace(
        reader.take_result(),
        reached=reached,
        events=reader.events,
        head=head.hex(),
        unread=unread,
        waits=reader.waits,
        of_dbt=reader.of_dbt,
    )


@dataclass(slots=True)
class _Held:
    """The events of a run that were not made a fragment yet."""

    job: Job
    events: list[Event] = field(default_factory=list)
    size: int = 0


class _PartReader:
    def __init__(
        self, part: FilePart, rule: re.Pattern[str] | None, columns: DateColumns, timezone: str
    ) -> None:
        self.origin = part.origin
        self.events = 0
        self.waits = self.of_dbt = self._is_over = False
        self._file = part.file
        self._rule = rule
        self._columns = columns
        self._timezone = timezone
        self._held: dict[tuple[str, str, str], _Held] = {}
        self._held_size = 0
        self._catalogue = Catalogue(part.origin)
        self._dataset_texts = FacetTexts(dataset_newness)
        self._task_texts = FacetTexts(task_newness)
        self._accesses: list[Access] = []
        self._runs: list[Run] = []
        self._shapes: dict[str, Shape] = {}
        self._edges: list[ColumnEdge] = []
        # By their hashes: of each shape and edge one record is enough.
        self._emitted: set[int] = set()
        self._results: list[NodeResult] = []
        self._rejects: list[Reject] = []
        self._rejected = 0
        self._unread: Counter[str] = Counter()

    @property
    def size(self) -> int:
        """The number of records to be taken."""
        return len(self._accesses) + len(self._runs) + len(self._edges)

    def add(self, line: Line) -> None:
        """Take a line."""
        self.events += 1
        if line.problem:
            reason = line.problem
            if line.unfinished:
                self.events -= 1
                reason += "; it is read again when the file has grown"
            self.waits = line.unfinished and line.end > 0
            self.reject(line.position, reason, f"{self._file}@{line.end}" if self.waits else "")
            return
        try:
            event = read_event(line.value)
            self._add_event(event, line.size)
        except NotAnEventError as error:
            self.reject(line.position, str(error))
        except Exception as error:  # an event that breaks the reader costs that event only
            self.reject(line.position, f"cannot be used ({exception_reason(error, _logger)})")

    def _add_event(self, event: Event, size: int) -> None:
        count_unused_facets(event, self._unread)
        self._catalogue.add(event)
        for described in dataset_metadata(event, self.origin):
            self._dataset_texts.add(described.dataset, described)
        view = defined_view(event) if event.kind is EventKind.DATASET else None
        if view:
            # What nobody runs is declared, as by a job.
            event = event._replace(kind=EventKind.JOB, job=view.name)
        elif event.kind is EventKind.DATASET:
            return
        # A producer may use one run id for the runs of several jobs.
        key = (event.run_id, event.namespace, event.job)
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = _Held(view or job_of(event, self._rule))
        elif text(event.job_facets, "dbt_node", "unique_id") not in ("", held.job.node_id):
            # Of a run, one event may say which node of dbt it is; the rest is in all of them.
            held.job = job_of(event, self._rule)
        for metadata in task_metadata(event, held.job, self.origin):
            self._task_texts.add(metadata.task, metadata)
        held.events.append(event)
        held.size += size
        self._held_size += size
        while self._held_size > _HELD or len(self._held) > _MOST_RUNS:
            oldest = next(iter(self._held))
            self._fragment(self._held.pop(oldest))

    def _fragment(self, held: _Held) -> None:
        self._held_size -= held.size
        try:
            part = fragment(held.job, held.events, self.origin, self._columns, self._timezone)
        except Exception as error:  # a run that breaks the reader costs that run only
            reason = f"cannot be used ({exception_reason(error, _logger)})"
            self.reject(f"run {held.events[0].run_id}", reason)
            return
        self._take(part)

    def _take(self, part: Fragment) -> None:
        self._accesses += access_records(part.statements)
        self._runs += part.runs
        self._results += part.results
        self._shapes |= {shape.shape_id: shape for shape in part.shapes if self._is_new(shape)}
        for statement in part.statements:
            run, same = statement.run, (statement.shape_id, statement.evidence, statement.edges)
            if statement.edges and self._is_new((run.task, run.origin, *same)):
                self._edges += filter(self._is_new, column_edge_records([statement]))
        self.of_dbt |= any(run.origin != self.origin for run in part.runs)

    def _is_new(self, record: Hashable) -> bool:
        digest = hash(record)
        if digest in self._emitted:
            return False
        if len(self._emitted) >= _REMEMBERED:
            self._emitted.clear()
        self._emitted.add(digest)
        return True

    def reject(self, position: str, reason: str, origin: str = "") -> None:
        """Count what could not be used; the first ones are listed."""
        self._rejected += 1
        if self._rejected <= _MOST_REJECTS:
            self._rejects.append(Reject(origin or self.origin, position, reason))

    def finish(self) -> None:
        """Make fragments of all that is held."""
        self._is_over = True
        for key in list(self._held):
            self._fragment(self._held.pop(key))
        omitted = self._rejected - _MOST_REJECTS
        if omitted > 0:
            self._rejects.append(Reject(self.origin, "", f"{omitted:,} more events like these"))
        if self._unread:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(self._unread.items()))
            _logger.debug("%s: facets that are not used: %s", self.origin, counts)

    def take_result(self) -> PartResult:
        """The records since the last call."""
        texts = len(self._task_texts) + len(self._dataset_texts)
        is_full = self._is_over or texts > _MOST_DATASETS
        result = PartResult(
            self.origin,
            LogRecords(
                accesses=tuple(self._accesses),
                runs=tuple(self._runs),
                shapes=tuple(self._shapes.values()),
                datasets=tuple(self._catalogue.take_datasets())
                if self._is_over or len(self._catalogue) > _MOST_DATASETS
                else (),
                column_edges=tuple(self._edges),
                rejects=tuple(self._rejects),
            ),
            node_results=tuple(self._results),
            task_metadata=tuple(self._task_texts.take_metadata()) if is_full else (),
            dataset_metadata=tuple(self._dataset_texts.take_metadata()) if is_full else (),
        )
        self._accesses, self._runs, self._results, self._rejects = [], [], [], []
        self._shapes, self._edges = {}, []
        return result
