"""What collectors hand over: the rows of the lineage store as frozen dataclasses.

One class a table of the store; a field has the column's name, except that a dataset's
`namespace` and `name` columns are one `DatasetId`. Times are aware and in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation


class Direction(StrEnum):
    """Whether a run took data from a dataset or put data there."""

    READ = "read"
    WRITE = "write"


class Evidence(StrEnum):
    """How we know: from a log, from people's YAML, or from a rule; strongest first."""

    OBSERVED = "observed"
    DECLARED = "declared"
    INFERRED = "inferred"


class Status(StrEnum):
    """How a run or an access ended; UNKNOWN where the log breaks off before its end."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """What parsing got out of a shape; PARTIAL means tables not certain, or columns missing."""

    PARSED = "parsed"
    PARTIAL = "partial"
    FAILED = "failed"


class EdgeType(StrEnum):
    """Whether a column's values go into another's, or decide on them."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class Subtype(StrEnum):
    """How a column has a part in another, in OpenLineage's words."""

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
        """The first three pass values on, the others decide."""
        direct = (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)
        return EdgeType.DIRECT if self in direct else EdgeType.INDIRECT


# Stands for a dataset's columns where an edge means all of them, or where they are not known.
ANY_COLUMN = "*"


@dataclass(frozen=True, slots=True)
class Access:
    """A run read or wrote a dataset with statements of one shape.

    Attributes:
        statements: How many statements (or Spark executions) of this shape did it.
        rows: Rows read or written over all of them; None where the log does not tell.
        files: Files read or written, likewise.
        partitions: Partitions of a table read, or written where the rows decide on them.
        procedure: The stored procedure inside which they ran: `Shop.dbo.load_orders`.
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


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a task; `error` has its literals taken out.

    Attributes:
        engine_version: Of the engine that ran it: `4.0.1`.
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
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A statement with its literals taken out, and how parsing it went."""

    shape_id: str
    dialect: str
    text: str
    parser: str
    outcome: Outcome
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnEdge:
    """A column has a part in another, by statements of one shape.

    Attributes:
        to_column, from_column: `*` where the whole dataset is meant (an INDIRECT edge to `*`
            decides on rows) or where columns are not known (a DIRECT one).
        masking: The value cannot be told from the result.
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
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as a log or a schema shows it; `type` is the platform's own word or empty."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is known of a place beside who uses it."""

    id: DatasetId
    kind: Kind = Kind.TABLE
    columns: tuple[Column, ...] = ()
    symlinks: tuple[DatasetId, ...] = ()
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    dropped_at: datetime | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Reject:
    """A piece of a log that could not be used: where it is and why; the excerpt is redacted."""

    origin: str
    position: str
    reason: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """What no log knows of a task and its team wrote down.

    Attributes:
        path: Its script.
        type: Of a task that only reads: `dashboard`, `notebook`, `analysis`, `ml`, `application`.
        url: Where people find what it makes.
        maturity: `high`, `medium` or `low`.
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


@dataclass(frozen=True, slots=True)
class Records:
    """Everything committed to a lineage store, later batches of one origin replacing earlier."""

    accesses: tuple[Access, ...] = ()
    runs: tuple[Run, ...] = ()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    datasets: tuple[Dataset, ...] = ()
    rejects: tuple[Reject, ...] = ()
    column_edges: tuple[ColumnEdge, ...] = ()
