"""dbt's results for a dataset: its runs, its tests with their last result, a source's freshness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import chain

from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.run_history import RunHistory, results_history
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import NodeTest
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import NodeResult, Status

_CLOCK_SKEW = timedelta(minutes=2)
# dbt's words for a source without new rows.
_STALE = ("warn", "error")
_OUTCOME = {
    "pass": "passed",
    "success": "passed",
    "fail": "failed",
    "warn": "warning",
    "skipped": "skipped",
}


@frozen
class ShownTest:
    """A dbt test, and its last result; None where none is known.

    Attributes:
        result: The newest that dbt did not skip.
        before: The last that is good or bad, where the newest is neither.
    """

    test: NodeTest
    result: NodeResult | None
    before: NodeResult | None = None

    @property
    def could_not_run(self) -> bool:
        """Whether dbt could not run it: it says nothing of the data."""
        return self.result is not None and self.result.could_not_run

    @property
    def failed(self) -> bool:
        """Whether it failed when it last could run."""
        verdict = self.before if self.could_not_run else self.result
        return verdict is not None and verdict.status is Status.FAILED

    @property
    def error(self) -> str | None:
        """The error, if it could not be run."""
        return self.result.error if self.result else None

    @property
    def look(self) -> str:
        """The kind of its status: `ok`, `warn`, `failed` or `unknown`."""
        if self.result is None:
            return Status.UNKNOWN
        if self.could_not_run and not self.failed:
            return "warn"
        return "warn" if self.result.word == "warn" else self.result.status

    @property
    def words(self) -> str:
        """The outcome for people: `passed`, `failed: 4 rows`."""
        if self.result is None:
            return "not run yet"
        if self.could_not_run:
            before = _OUTCOME.get(self.before.word, self.before.word) if self.before else ""
            return f"could not run, {before} before" if before else "could not run"
        outcome = _OUTCOME.get(self.result.word, self.result.word or "unknown")
        failures = self.result.failures if outcome != "passed" else None
        return f"{outcome}: {count(failures, 'row')}" if failures else outcome


@frozen
class NodeResults:
    """dbt's results for a dataset.

    Attributes:
        runs: The last runs of its model, seed or snapshot, newest first.
        last_build: The newest run that built it.
        checks: The last freshness checks of its source, newest first.
        column_tests: The name of a listed column, folded -> the tests that are on it.
        other_tests: The tests of the whole table, and of columns that are not listed.
    """

    runs: Sequence[NodeResult]
    last_build: NodeResult | None
    checks: Sequence[NodeResult]
    column_tests: Mapping[str, Sequence[ShownTest]]
    other_tests: Sequence[ShownTest]

    @property
    def history(self) -> RunHistory:
        """The runs as pages show them."""
        return results_history(self.runs)

    @property
    def last_run(self) -> NodeResult | None:
        """Its newest run that dbt did not skip."""
        return next((run for run in self.runs if run.is_verdict), None)

    @property
    def last_run_failed(self) -> bool:
        """Whether that failed."""
        return self.last_run is not None and self.last_run.status is Status.FAILED

    @property
    def failed_tests(self) -> list[ShownTest]:
        """The tests that failed when they were last run."""
        return [test for test in self._tests if test.failed]

    @property
    def tests_not_run(self) -> list[ShownTest]:
        """The tests that could not run the last time."""
        return [test for test in self._tests if test.could_not_run]

    @property
    def _tests(self) -> Iterator[ShownTest]:
        yield from self.other_tests
        yield from chain.from_iterable(self.column_tests.values())

    @property
    def check_not_run(self) -> NodeResult | None:
        """The newest freshness check of its source, if it could not be made."""
        return self.checks[0] if self.checks and self.checks[0].could_not_run else None

    @property
    def is_stale(self) -> bool:
        """Whether its source had no new rows for longer than it should, when last checked."""
        return self.last_check is not None and self.last_check.word in _STALE

    @property
    def last_check(self) -> NodeResult | None:
        """The newest freshness check that could be made."""
        return next((check for check in self.checks if check.is_verdict), None)


def node_results(index: Index, dataset: DatasetId, columns: Iterable[str] = ()) -> NodeResults:
    """dbt's results for a dataset; empty where dbt does not know it.

    Args:
        columns: The names of its columns that its page lists.
    """
    results = index.results(dataset)
    runs = [result for result in results if not result.node_id.startswith("source.")]
    listed = {column.casefold() for column in columns}
    column_tests: dict[str, list[ShownTest]] = defaultdict(list)
    other_tests: list[ShownTest] = []
    for test in index.tests_of(dataset):
        dbt = index.lineage.dbt
        last = (dbt.last_try(test.node_id), *dbt.node_results.get(test.node_id, ()))
        column = test.column.casefold()
        tests = column_tests[column] if column in listed else other_tests
        result = next(filter(None, last), None)
        verdict = dbt.last_verdict(test.node_id)
        tests.append(ShownTest(test, result, None if verdict is result else verdict))
    return NodeResults(
        runs=runs,
        last_build=index.last_build(dataset),
        checks=[result for result in results if result.node_id.startswith("source.")],
        column_tests=column_tests,
        other_tests=other_tests,
    )


@lru_cache(maxsize=1)
def all_results(index: Index) -> Mapping[DatasetId, NodeResults]:
    """dbt's results for all datasets of a site, with all tests apart from columns."""
    return {dataset: node_results(index, dataset) for dataset in index.datasets}


def loaded_ago(check: NodeResult) -> str:
    """The age of a source's newest row when it was checked: `3 hours old`; empty if not known.

    Local times that are taken for UTC are `2 hours ahead`, and fresh for longer than they should.
    """
    if check.max_loaded_at is None or check.started_at is None:
        return ""
    age = check.started_at - check.max_loaded_at
    return f"{_age(-age)} ahead" if age < -_CLOCK_SKEW else f"{_age(max(age, timedelta()))} old"


def _age(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    longer = [span for span in (("day", 86_400), ("hour", 3_600)) if seconds >= 2 * span[1]]
    unit, length = longer[0] if longer else ("minute", 60)
    return count(seconds // length, unit)
