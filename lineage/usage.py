"""How tasks use datasets, over all of their runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Evidence, Status


@dataclass(frozen=True, slots=True)
class Usage:
    """How a task uses a dataset, over all of its runs.

    Attributes:
        operations: What its statements do there, sorted.
        statements: How many statements, over all runs.
        rows: Rows of the last run that tells; None where none does.
        bytes: Bytes of the last run that tells; None where none does.
        failed: Every attempt failed, so no data moved.
        procedures: The stored procedures whose statements did it, or did some of it, sorted.
    """

    task: str
    dataset: DatasetId
    direction: Direction
    operations: tuple[Operation, ...] = ()
    shapes: tuple[str, ...] = ()
    statements: int = 0
    rows: int | None = None
    bytes: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    evidence: Evidence = Evidence.OBSERVED
    failed: bool = False
    procedures: tuple[str, ...] = ()

    @property
    def brings_data(self) -> bool:
        """Any of its operations puts data into the dataset."""
        return any(operation.brings_data for operation in self.operations)


def usages(accesses: Iterable[Access]) -> list[Usage]:
    """How each task uses each dataset, sorted by task, dataset and direction."""
    groups: dict[tuple[str, DatasetId, Direction], list[Access]] = defaultdict(list)
    for access in accesses:
        groups[access.task, access.dataset, access.direction].append(access)
    return [_usage(groups[key]) for key in sorted(groups)]


def _usage(group: list[Access]) -> Usage:
    done = [access for access in group if access.status is not Status.FAILED]
    times = [access.last_at for access in group if access.last_at]
    firsts = [access.first_at for access in group if access.first_at]
    ranks = list(Evidence)
    return Usage(
        task=group[0].task,
        dataset=group[0].dataset,
        direction=group[0].direction,
        operations=tuple(sorted({access.operation for access in done or group})),
        shapes=tuple(sorted({access.shape_id for access in done or group})),
        statements=sum(access.statements for access in group),
        rows=_of_last_run(done, lambda access: access.rows),
        bytes=_of_last_run(done, lambda access: access.bytes),
        first_at=min(firsts, default=None),
        last_at=max(times, default=None),
        evidence=min((access.evidence for access in group), key=ranks.index),
        failed=not done,
        procedures=tuple(sorted({access.procedure for access in group if access.procedure})),
    )


def _of_last_run(done: list[Access], count: Callable[[Access], int | None]) -> int | None:
    """The sum over the last run that tells a count."""
    told = [(access, number) for access in done if (number := count(access)) is not None]
    if not told:
        return None
    newest = max((a for a, _ in told), key=lambda a: a.last_at.timestamp() if a.last_at else 0.0)
    return sum(number for access, number in told if access.run_id == newest.run_id)
