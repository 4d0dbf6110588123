"""Bad runs one after another, and the first of them: that failed, or that tests found bad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import NodeResult, Run, Status


@frozen
class BadStreak:
    """Runs that were bad one after another, up to one.

    Attributes:
        run: The first.
        runs: Their number, of those that are listed, both ends included.
    """

    run: Run
    runs: int


def first_bad_run(
    lineage: Lineage, task: Task, run: Run, failed_tests: Iterable[str]
) -> BadStreak | None:
    """The first bad run of those that end with a run; None where nothing shows that this is bad.

    Args:
        failed_tests: The ids of tests that failed after the run.
    """
    until = [other for other in _oldest_first(task) if other.engine == run.engine]
    until = until[
        : next((at for at, other in enumerate(until, 1) if other.run_id == run.run_id), 0)
    ]
    if not until:
        return None
    begins = [_failed_since(until)] if run.status is Status.FAILED else []
    begins += (
        _tested_bad_since(lineage.dbt.node_results.get(test, ()), until) for test in failed_tests
    )
    if not begins:
        return None
    first = min(begins)
    return BadStreak(until[first], len(until) - first)


def _oldest_first(task: Task) -> list[Run]:
    dated = [(run.started_at, run.run_id, run) for run in task.runs if run.started_at]
    return [run for *_, run in sorted(dated, key=lambda row: row[:2])]


def _failed_since(runs: Sequence[Run]) -> int:
    """The place of the first of the failed runs at the end."""
    good = (at for at in range(len(runs) - 1, -1, -1) if runs[at].status is not Status.FAILED)
    return next(good, -1) + 1


def _tested_bad_since(results: Sequence[NodeResult], runs: Sequence[Run]) -> int:
    """The place of the first run after the last result that was good before these runs end.

    Of a test that was never good it is the run before its first result.
    """
    last = runs[-1].ended_at or runs[-1].started_at
    before = [at for at, is_good in _verdicts(results) if is_good and last and at < last]
    bad = [at for at, is_good in _verdicts(results) if not is_good]
    tested_at = max(before, default=None)
    for index, run in enumerate(runs):
        ended = run.ended_at or run.started_at
        if tested_at is not None and ended and ended > tested_at:
            return index
    if tested_at is None and bad:
        written = [at for at, run in enumerate(runs) if (run.ended_at or min(bad)) <= min(bad)]
        return written[-1] if written else 0
    return len(runs) - 1


def _verdicts(results: Iterable[NodeResult]) -> Iterator[tuple[datetime, bool]]:
    for result in results:
        if result.started_at and result.is_verdict:
            yield result.started_at, result.status is Status.OK
