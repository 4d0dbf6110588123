"""Records: the rows of the lineage store as frozen dataclasses.

One class per table; fields are named like columns, except that the `namespace` and `name` columns
of a dataset are one `DatasetId`. Times are aware and in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation


class Direction(StrEnum):
    """Direction of an access."""

    READ = "read"
    WRITE = "write"


class Evidence(StrEnum):
    """Evidence of an access or a column edge, strongest first.

    OBSERVED: a log. CODE: the code of a task; of a column edge a log shows both ends, of an access
    none does. DECLARED: YAML or dbt; a column edge of code that no run was seen to do. INFERRED: a
    rule.
    """

    OBSERVED = "observed"
    CODE = "code"
    DECLARED = "declared"
    INFERRED = "inferred"

    @property
    def is_of_runs(self) -> bool:
        """Whether an access of it is one that a run was seen to do."""
        return self in (Evidence.OBSERVED, Evidence.INFERRED)


class Status(StrEnum):
    """Status of a run or an access; UNKNOWN if the log ends before it does."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """Outcome of parsing a shape; PARTIAL: tables may be missing, or columns are not resolved."""

    PARSED = "parsed"
    PARTIAL = "partial"
    FAILED = "failed"


class EdgeType(StrEnum):
    """Type of a column edge: values go into the output column, or decide on it."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class Subtype(StrEnum):
    """Subtype of a column edge, as in OpenLineage."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    FILTER = "FILTER"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"

    @property
    def type(self) -> EdgeType:
        """DIRECT for the first three, INDIRECT for the others."""
        return EdgeType.DIRECT if self in _DIRECT else EdgeType.INDIRECT

    @property
    def is_of_one_value(self) -> bool:
        """Whether it decides on a value and not on rows."""
        return self in (Subtype.CONDITIONAL, Subtype.WINDOW)


class Masking(StrEnum):
    """The operation that hides a value, those that leave less of it last.

    HASH: the same value has the same hash, so it can be recognised and guessed. ENCRYPT: who has
    the key has the value. TOKENIZE: a token stands for it. MASK: parts of it are blotted out.
    """

    NONE = ""
    HASH = "HASH"
    ENCRYPT = "ENCRYPT"
    TOKENIZE = "TOKENIZE"
    MASK = "MASK"

    @property
    def word(self) -> str:
        """The word for what it does: `hashed`; `masked` where nothing tells the operation."""
        return _MASKED[self]

    @property
    def leaves_less(self) -> bool:
        """Whether a sensitive value is less so behind it: not behind a hash, or what may be one."""
        return self not in (Masking.NONE, Masking.HASH)

    def then(self, later: Masking) -> Masking:
        """The operation that hides a value behind two of them: the one that leaves less."""
        return max(self, later, key=_MASKINGS.__getitem__) if self and later else self or later


_MASKINGS = {masking: rank for rank, masking in enumerate(Masking)}
_MASKED = {
    Masking.NONE: "masked",
    Masking.HASH: "hashed",
    Masking.ENCRYPT: "encrypted",
    Masking.TOKENIZE: "tokenized",
    Masking.MASK: "masked",
}
_DIRECT = frozenset({Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION})

# Stands for a dataset's columns where an edge means all of them, or where they are not known.
ANY_COLUMN = "*"
# The type of a computed column, and the end of that of an identity column.
COMPUTED, IDENTITY = "computed", " identity"
# The reasons of a statement whose edges have ordinals.
MATCHED_BY_NAME = "the target's columns are matched by name"
OPEN_STAR = "* of a table whose columns are not known"


@frozen
class Access:
    """A run read or wrote a dataset with statements of one shape.

    Attributes:
        statements: The number of statements (or Spark executions) of this shape.
        rows: Rows read or written by all of them; None if the log does not report it.
        files: Files read or written, likewise.
        partitions: Partitions of a table read, or written where the rows decide on them.
        procedure: The stored procedure that ran them: `Shop.dbo.load_orders`.
        periods: The dates of data that were read or written, sorted, without overlaps; empty where
            nothing tells them.
        positions: Places in sources that count otherwise than by dates.
    """

    task: str
    run_id: str
    dataset: DatasetId
    kind: Kind
    direction: Direction
    operation: Operation
    shape_id: str
    statements: int = 1
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    partitions: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    status: Status = Status.OK
    evidence: Evidence = Evidence.OBSERVED
    origin: str = ""
    procedure: str | None = None
    periods: tuple[Period, ...] = ()
    positions: tuple[DataPosition, ...] = ()


@frozen
class Run:
    """One execution of a task; `error` has its literals taken out.

    Runs of an orchestrator (of a DAG, of a task of it) are runs too: their parents are others, and
    runs of engines have them as parents.

    Attributes:
        engine_version: The version of the engine: `4.0.1`.
        parent_run_id: The run of the orchestrator that started it.
        job: Its job as OpenLineage names it: namespace, `/`, name.
        url: Its log or page in the orchestrator.
        attempt: The number of the try, from 1 on.
        nominal_start, nominal_end: The data interval that it was scheduled for.
        timezone: The zone of the days in that interval, `Europe/Berlin`; or the offset of the clock
            in its events, `+02:00`. None for UTC.
        gaps: The shapes of its statements of which no dataset is known, sorted: they have no access
            that would say whose they are.
    """

    run_id: str
    task: str
    engine: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    status: Status = Status.UNKNOWN
    error: str | None = None
    application_id: str | None = None
    engine_version: str | None = None
    code_version: str | None = None
    parent_run_id: str | None = None
    job: str | None = None
    url: str | None = None
    attempt: int | None = None
    nominal_start: datetime | None = None
    nominal_end: datetime | None = None
    timezone: str | None = None
    origin: str = ""
    gaps: tuple[str, ...] = ()


@frozen
class Shape:
    """A statement without its literals, and the outcome of parsing it."""

    shape_id: str
    dialect: str
    text: str
    parser: str
    outcome: Outcome
    reason: str | None = None


@frozen
class ColumnEdge:
    """An input column of an output column, in statements of one shape.

    In the store one of the datasets may be a task's memory (`lineage.memory.MEMORY`).

    Attributes:
        to_column, from_column: `*` for all columns: an INDIRECT edge to `*` decides on rows, a
            DIRECT one stands for unknown columns.
        masking: The value cannot be derived from the result.
        masked_by: The operation that hides it; NONE where nothing tells it.
        ordinal: The place of `to_column` in a target whose columns the statement does not name,
            `2/5` for the second of five, `*` where each goes to its own place; the names of both
            ends are then those of the query, a guess.
        place: The file and line of the code that makes it, `tasks/load_orders.py:41`; empty where
            no code says it, as in the store.
        without: The columns that `*` leaves out, as code says it.
    """

    task: str
    to_dataset: DatasetId
    to_column: str
    from_dataset: DatasetId
    from_column: str
    type: EdgeType
    subtype: Subtype
    masking: bool
    shape_id: str
    # All logs of a task repeat its edges.
    origin: str = field(default="", compare=False)
    evidence: Evidence = Evidence.OBSERVED
    masked_by: Masking = Masking.NONE
    ordinal: str = ""
    place: str = field(default="", metadata={"stored": False})
    without: tuple[str, ...] = field(default=(), metadata={"stored": False})


@frozen
class Column:
    """A column; `type` is that of the platform, or empty."""

    name: str
    type: str = ""

    @property
    def is_generated(self) -> bool:
        """Whether SQL Server fills it itself: an INSERT without a list passes it over."""
        return self.type == COMPUTED or self.type.endswith(IDENTITY)


@frozen
class Dataset:
    """A dataset and its columns.

    Attributes:
        has_all_columns: It has no columns but these: what else is named of it was there before. In
            the store: a statement or an event of its log named them all.
    """

    id: DatasetId
    kind: Kind = Kind.TABLE
    columns: tuple[Column, ...] = ()
    symlinks: tuple[DatasetId, ...] = ()
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    dropped_at: datetime | None = None
    origin: str = ""
    has_all_columns: bool = False


@frozen
class Reject:
    """A part of a log that could not be used, and why; the excerpt is redacted.

    Attributes:
        task: The task of which it is; empty where it may be of any in the log.
    """

    origin: str
    position: str
    reason: str
    excerpt: str = ""
    task: str = ""


@frozen
class NodeResult:
    """The result of a dbt node in one invocation of dbt: a build, a test, a freshness check.

    Attributes:
        node_id: dbt's unique_id.
        command: The command of dbt: `run`, `build`, `test`, `source freshness`; empty if not known.
        word: dbt's own status: `success`, `warn`, `skipped`…
        started_at: The start of the invocation where dbt did not get to the node.
        rows: Rows affected, where the adapter reports them.
        failures: The number of rows that failed a test.
        error: dbt's message, with its literals taken out.
        max_loaded_at: The newest row of a source, by its freshness check.
        criteria: The limits of a freshness check: `warn after 12 hours, error after 1 day`.
        periods: The dates that it wrote, of a model that dbt builds in batches by event time.
    """

    node_id: str
    invocation_id: str
    command: str = ""
    word: str = ""
    status: Status = Status.UNKNOWN
    started_at: datetime | None = None
    ended_at: datetime | None = None
    rows: int | None = None
    failures: int | None = None
    error: str | None = None
    max_loaded_at: datetime | None = None
    criteria: str = ""
    origin: str = ""
    periods: tuple[Period, ...] = ()

    @property
    def is_verdict(self) -> bool:
        """Whether it is good or bad: dbt got to the node, and a check of data could run."""
        return self.status is not Status.UNKNOWN and not self.could_not_run

    @property
    def could_not_run(self) -> bool:
        """Whether it is a test or a freshness check that failed itself: it says nothing of data."""
        is_test = self.node_id.startswith(("test.", "unit_test."))
        return self.word == "runtime error" or (is_test and self.word == "error")


@frozen
class TaskInfo:
    """Metadata of a task from graft.yml or declared lineage.

    Attributes:
        rerun: How to run it again: a command, or the URL of its page in the scheduler.
        path: The path of its script.
        type: Exposure type of a task that only reads: `dashboard`, `notebook`, `analysis`, `ml`,
            `application`.
        url: The URL of its result.
        maturity: `high`, `medium` or `low`.
        criticality, freshness_slo, deadline: See `lineage.describe.Consumer`.
    """

    description: str = ""
    owner: str = ""
    repo: str = ""
    path: str = ""
    runbook: str = ""
    schedule: str = ""
    tags: tuple[str, ...] = ()
    type: str = ""
    url: str = ""
    maturity: str = ""
    rerun: str = ""
    criticality: str = ""
    freshness_slo: str = ""
    deadline: str = ""


@frozen
class TaskMetadata:
    """Metadata of a task in a facet of an event; see `TaskInfo`.

    Attributes:
        at: The time of the event: of each facet the newest counts, with all that it leaves empty.
        facet: The name of the facet. Where it is not known, an empty field says nothing.
    """

    task: str
    at: datetime
    description: str = ""
    owner: str = ""
    schedule: str = ""
    tags: tuple[str, ...] = ()
    origin: str = ""
    facet: str = ""


@frozen
class ColumnMetadata:
    """A column in an event's metadata of a dataset."""

    name: str
    description: str = ""
    tags: tuple[str, ...] = ()


@frozen
class DatasetMetadata:
    """Metadata of a dataset in a facet of an event, or in the newest of its facets together.

    Attributes:
        at: The time of the event: of each facet the newest counts, with all that it leaves empty.
        columns: Those with a description or tags.
        facet: The name of the facet. Where it is not known, an empty field says nothing.
    """

    dataset: DatasetId
    at: datetime
    description: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()
    columns: tuple[ColumnMetadata, ...] = ()
    origin: str = ""
    facet: str = ""


@frozen
class RunRepeats:
    """A run that was folded: so many others of its task did the same, and are no records any more.

    Attributes:
        runs: 0 where another run stands for them.
    """

    task: str
    run_id: str
    runs: int = 0


@frozen
class UsageRepeats:
    """The statements of runs that are no records any more."""

    task: str
    dataset: DatasetId
    direction: Direction
    engine: str
    statements: int


@frozen
class Records:
    """All records of a lineage store; later batches replace earlier ones of the same origin.

    Attributes:
        node_results: dbt's, the newest of each node; only where they were asked for.
        run_repeats, usage_repeats: What is known of runs that `lineage.fold` left out.
    """

    accesses: tuple[Access, ...] = ()
    runs: tuple[Run, ...] = ()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    datasets: tuple[Dataset, ...] = ()
    rejects: tuple[Reject, ...] = ()
    column_edges: Sequence[ColumnEdge] = ()
    node_results: tuple[NodeResult, ...] = ()
    task_metadata: tuple[TaskMetadata, ...] = ()
    dataset_metadata: tuple[DatasetMetadata, ...] = ()
    run_repeats: tuple[RunRepeats, ...] = ()
    usage_repeats: tuple[UsageRepeats, ...] = ()
