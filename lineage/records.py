"""What collectors hand over: the rows of the lineage store as frozen dataclasses.

One class a table of the store; a field has the column's name, except that a dataset's
`namespace` and `name` columns are one `DatasetId`. Times are aware and in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from lineage.dataset import DatasetId, Kind


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
    """What parsing got out of a shape; PARTIAL means tables that are not certain."""

    PARSED = "parsed"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Access:
    """A run read or wrote a dataset with statements of one shape.

    Attributes:
        operation: What the statement does, as SQL names it: SELECT, INSERT, MERGE,
            CREATE TABLE AS…
        statements: How many statements (or Spark executions) of this shape did it.
        rows: Rows read or written over all of them; None where the log does not tell.
    """

    task: str
    run_id: str
    dataset: DatasetId
    kind: Kind
    direction: Direction
    operation: str
    shape_id: str
    statements: int = 1
    rows: int | None = None
    bytes: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    status: Status = Status.OK
    evidence: Evidence = Evidence.OBSERVED
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a task; `error` has its literals taken out."""

    run_id: str
    task: str
    engine: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    status: Status = Status.UNKNOWN
    error: str | None = None
    application_id: str | None = None
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


@dataclass(frozen=True, slots=True)
class Reject:
    """A piece of a log that could not be used: where it is and why; the excerpt is redacted."""

    origin: str
    position: str
    reason: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """What no log knows of a task and its team wrote in `graft.yml`."""

    description: str = ""
    owner: str = ""
    repo: str = ""
    path: str = ""
    runbook: str = ""
    schedule: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Records:
    """Everything committed to a lineage store, later batches of one origin replacing earlier."""

    accesses: tuple[Access, ...] = ()
    runs: tuple[Run, ...] = ()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    datasets: tuple[Dataset, ...] = ()
    rejects: tuple[Reject, ...] = ()
