"""Faults of datasets: tests that failed, sources without new rows, writes that failed.

The kinds, and what each does to those who read the data, follow the quality facet of the lineage
platform: incomplete data makes counts wrong, double keys make joins wrong, and so on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from dbt_graft.lineage.building.checks import check_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description, NodeTest
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Status


class FaultKind(StrEnum):
    """The kind of a fault.

    COMPLETENESS: values or rows are missing. UNIQUENESS: keys are double. REFERENTIAL: keys lead
    nowhere. VALIDITY: values are none that they may be. DRIFT: counts or values are unusual. OTHER:
    a test of a team's own. FRESHNESS: a source had no new rows. WRITE: the last write failed.
    """

    COMPLETENESS = "completeness"
    UNIQUENESS = "uniqueness"
    REFERENTIAL = "referential"
    VALIDITY = "validity"
    DRIFT = "drift"
    OTHER = "other"
    FRESHNESS = "freshness"
    WRITE = "write"

    @property
    def leaves_old_data(self) -> bool:
        """Whether what comes from there is old rather than wrong."""
        return self in (FaultKind.FRESHNESS, FaultKind.WRITE)


# Words in the names of tests, of dbt and of its packages, in this order.
_KINDS = (
    (FaultKind.DRIFT, r"anomal|drift|volume|distribution|stdev|quantile"),
    (FaultKind.FRESHNESS, r"fresh|recency|is_updated"),
    (FaultKind.REFERENTIAL, r"relationship|foreign_key|referential|equality|cardinality"),
    (FaultKind.UNIQUENESS, r"unique|duplicate|primary_key"),
    (FaultKind.COMPLETENESS, r"not_null|null|row_?count|at_least_one|sequential|missing|not_empty"),
    (
        FaultKind.VALIDITY,
        r"accepted|expression|expect|range|between|regex|values|valid|type|format",
    ),
)
_OF_NAME = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_STALE = ("warn", "error")


@frozen
class QualityFault:
    """A fault of a dataset that its newest result shows.

    Attributes:
        name: The test; empty of writes and of freshness.
        column: Empty where the fault is the dataset's.
        failed_at: The time of that result.
        rows: The number of rows that failed the test, if it is known.
        newest_at: Of freshness: the time of the newest row, if it is known.
    """

    dataset: DatasetId
    kind: FaultKind
    name: str = ""
    column: str = ""
    failed_at: datetime | None = None
    rows: int | None = None
    newest_at: datetime | None = None


def kind_of_test(name: str) -> FaultKind:
    """The kind of fault that a failed test of this name shows."""
    folded = name.casefold()
    return next((kind for kind, words in _OF_NAME if words.search(folded)), FaultKind.OTHER)


def quality_faults(
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    only: Collection[DatasetId] | None = None,
) -> list[QualityFault]:
    """The faults of all datasets, or only of some, by dataset."""
    checks = checks_by_dataset(lineage)
    datasets = {*lineage.datasets, *descriptions, *checks} if only is None else only
    return list(
        dict.fromkeys(
            fault
            for dataset in sorted(datasets)
            for fault in _faults(lineage, dataset, descriptions.get(dataset), checks)
        )
    )


def _faults(
    lineage: Lineage,
    dataset: DatasetId,
    description: Description | None,
    checks: Mapping[DatasetId, Sequence[NodeTest]],
) -> Iterator[QualityFault]:
    tests = (
        *(description.tests if description else ()),
        *(description.inner_tests if description else ()),
        *checks.get(dataset, ()),
    )
    ids = description.dbt_ids if description else ()
    faults = [
        *_test_faults(lineage, dataset, tests),
        *_result_faults(lineage, dataset, ids),
        *_write_faults(lineage, dataset),
    ]
    # Two nodes of dbt may be one table, and a write may stand in two logs: the newest counts.
    newest = {
        (fault.kind, fault.name, fault.column.casefold()): fault
        for fault in sorted(faults, key=_age)
    }
    yield from (fault for fault in faults if fault in newest.values())


def checks_not_run(lineage: Lineage, description: Description) -> list[QualityFault]:
    """The tests and freshness checks of a dataset that could not run the last time.

    Whether the data is good is not known then, whatever the result before that was.
    """
    tests = [*description.tests, *description.inner_tests]
    nodes = [(test.node_id, test.title, test.column, kind_of_test(test.name)) for test in tests]
    nodes += [(node_id, "", "", FaultKind.FRESHNESS) for node_id in description.dbt_ids]
    checks = [
        QualityFault(description.dataset, kind, name, column, last.started_at)
        for node_id, name, column, kind in nodes
        if (last := lineage.dbt.last_try(node_id)) and last.could_not_run
    ]
    return list(dict.fromkeys(checks))


def tests_of(
    lineage: Lineage, dataset: DatasetId, description: Description | None
) -> Sequence[NodeTest]:
    """dbt's tests of a dataset, and the checks of it in events."""
    return (
        *(description.tests if description else ()),
        *checks_by_dataset(lineage).get(dataset, ()),
    )


def checks_by_dataset(lineage: Lineage) -> Mapping[DatasetId, Sequence[NodeTest]]:
    """The checks in events that are no test of dbt."""
    checks: dict[DatasetId, list[NodeTest]] = defaultdict(list)
    for node_id in lineage.dbt.node_results:
        if (check := check_of(node_id)) and check.dataset:
            test = NodeTest(node_id, check.kind or check.name, check.column)
            checks[check.dataset].append(test)
    return checks


def count_tests(lineage: Lineage, descriptions: Mapping[DatasetId, Description]) -> tuple[int, int]:
    """The number of tests of which a result is known, and that of all tests."""
    checks = {node_id for node_id in lineage.dbt.node_results if check_of(node_id)}
    tests = {
        test.node_id
        for description in descriptions.values()
        for test in (*description.tests, *description.inner_tests)
    } | checks
    return sum(bool(lineage.dbt.last_verdict(test_id)) for test_id in tests), len(tests)


def _age(fault: QualityFault) -> tuple[bool, datetime]:
    return (fault.failed_at is not None, fault.failed_at or datetime.min)


def _test_faults(
    lineage: Lineage, dataset: DatasetId, tests: Iterable[NodeTest]
) -> Iterator[QualityFault]:
    for test in tests:
        newest = lineage.dbt.last_verdict(test.node_id)
        # A unit test runs a model on rows that somebody made up: it says nothing of the data.
        is_of_data = not test.node_id.startswith("unit_test.")
        if is_of_data and newest and newest.status is Status.FAILED:
            yield QualityFault(
                dataset,
                kind_of_test(test.name),
                test.title,
                test.column,
                newest.started_at,
                newest.failures,
            )


def _result_faults(
    lineage: Lineage, dataset: DatasetId, ids: Iterable[str]
) -> Iterator[QualityFault]:
    """Freshness checks of a source, and builds of a model."""
    for node_id in ids:
        newest = lineage.dbt.last_verdict(node_id)
        if newest is None:
            continue
        if node_id.startswith("source."):
            if newest.word in _STALE:
                yield QualityFault(
                    dataset,
                    FaultKind.FRESHNESS,
                    failed_at=newest.started_at,
                    newest_at=newest.max_loaded_at,
                )
        elif newest.status is Status.FAILED:
            yield QualityFault(dataset, FaultKind.WRITE, failed_at=newest.started_at)


def _write_faults(lineage: Lineage, dataset: DatasetId) -> Iterator[QualityFault]:
    if run := lineage.failed_write(dataset):
        yield QualityFault(dataset, FaultKind.WRITE, failed_at=run.started_at)
