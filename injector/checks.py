"""Checks in events -> the tests of the dbt project that they are."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from dbt_graft.injector.describe import tests_by_node
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.relations import Relations
from dbt_graft.lineage.building.checks import Check, check_of
from dbt_graft.lineage.building.runs import result_recency
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import NodeTest
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import NodeResult

_logger = logging.getLogger(__name__)


def with_checks(lineage: Lineage, manifest: Node, relations: Relations) -> Lineage:
    """The lineage with the results of checks as those of dbt's tests.

    An invocation of which dbt itself has the result counts once: dbt's. Checks that are no test of
    the project stay checks; those that name no dataset either are counted in the debug log.
    """
    checks = {
        node_id: check for node_id in lineage.dbt.node_results if (check := check_of(node_id))
    }
    if not checks:
        return lineage
    tests = _Tests(manifest, relations)
    results_by_node = {
        key: node_results
        for key, node_results in lineage.dbt.node_results.items()
        if key not in checks
    }
    others: Counter[str] = Counter()
    # One that names its dataset comes first.
    for node_id, check in sorted(
        checks.items(), key=lambda entry: (entry[1].dataset is None, entry[0])
    ):
        results = lineage.dbt.node_results[node_id]
        test = tests.find(check)
        if test is None and check.dataset:
            results_by_node[node_id] = results
        elif test is None:
            others[check.kind or check.name] += len(results)
        else:
            results_by_node[test] = tuple(
                _merge_results(results_by_node.get(test, ()), results, test)
            )
    if others:
        names = ", ".join(f"{name} {count}" for name, count in sorted(others.items()))
        _logger.debug("checks in events that are no test of the dbt project: %s", names)
    return replace(lineage, dbt=replace(lineage.dbt, node_results=results_by_node))


def _merge_results(
    results: Iterable[NodeResult], checks: Iterable[NodeResult], test: str
) -> Iterator[NodeResult]:
    by_invocation = {result.invocation_id: result for result in results}
    for result in checks:
        by_invocation.setdefault(result.invocation_id, replace(result, node_id=test))
    yield from sorted(by_invocation.values(), key=result_recency, reverse=True)


class _Tests:
    """The tests of a dbt project, by what events have of them."""

    def __init__(self, manifest: Node, relations: Relations) -> None:
        self._names: dict[str, str] = {}
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_dataset: dict[DatasetId, dict[str, NodeTest]] = defaultdict(dict)
        for node_id, tests in tests_by_node(manifest).items():
            for test in tests:
                node = manifest["nodes"].get(test.node_id)
                if node is None:
                    continue
                self._names[test.node_id] = name = str(node.get("name") or "").casefold()
                self._by_name[name].add(test.node_id)
                if node_id in relations.datasets:
                    self._by_dataset[relations.datasets[node_id]][test.node_id] = test

    def find(self, check: Check) -> str | None:
        """The unique_id of the test; None where none matches, or several do."""
        name = check.name.casefold()
        if check.dataset is None:
            return _single(self._by_name.get(name, ()))
        tests = self._by_dataset.get(check.dataset, {})
        test_id = _single(key for key in tests if name and self._names[key] == name)
        return test_id or _single(
            key
            for key, test in tests.items()
            if (test.name.casefold(), test.column.casefold())
            == (check.kind.casefold(), check.column.casefold())
        )


def _single(node_ids: Iterable[str]) -> str | None:
    listed = list(node_ids)
    return listed[0] if len(listed) == 1 else None
