"""Checks in events -> the tests of the dbt project that they are."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from dbt_graft.injector.describe import tests_by_node
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.relations import Relations
from dbt_graft.lineage.checks import Check, check_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import NodeTest
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import NodeResult
from dbt_graft.lineage.runs import result_recency

_logger = logging.getLogger(__name__)


def with_checks(lineage: Lineage, manifest: Node, known: Relations) -> Lineage:
    """The lineage with the results of checks as those of dbt's tests.

    An invocation of which dbt itself has the result counts once: dbt's. Checks that are no test of
    the project stay checks; those that name no dataset either are counted in the debug log.
    """
    checks = {node_id: check for node_id in lineage.node_results if (check := check_of(node_id))}
    if not checks:
        return lineage
    tests = _Tests(manifest, known)
    found = {key: one for key, one in lineage.node_results.items() if key not in checks}
    others: Counter[str] = Counter()
    # One that names its dataset comes first.
    for node_id, check in sorted(checks.items(), key=lambda one: (one[1].dataset is None, one[0])):
        results = lineage.node_results[node_id]
        test = tests.of(check)
        if test is None and check.dataset:
            found[node_id] = results
        elif test is None:
            others[check.kind or check.name] += len(results)
        else:
            found[test] = tuple(_joined(found.get(test, ()), results, test))
    if others:
        names = ", ".join(f"{name} {count}" for name, count in sorted(others.items()))
        _logger.debug("checks in events that are no test of the dbt project: %s", names)
    return replace(lineage, node_results=found)


def _joined(
    known: Iterable[NodeResult], checks: Iterable[NodeResult], test: str
) -> Iterator[NodeResult]:
    found = {one.invocation_id: one for one in known}
    for one in checks:
        found.setdefault(one.invocation_id, replace(one, node_id=test))
    yield from sorted(found.values(), key=result_recency, reverse=True)


class _Tests:
    """The tests of a dbt project, by what events have of them."""

    def __init__(self, manifest: Node, known: Relations) -> None:
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
                if node_id in known.datasets:
                    self._by_dataset[known.datasets[node_id]][test.node_id] = test

    def of(self, check: Check) -> str | None:
        """The unique_id of the test; None where none matches, or several do."""
        name = check.name.casefold()
        if check.dataset is None:
            return _only(self._by_name.get(name, ()))
        tests = self._by_dataset.get(check.dataset, {})
        named = _only(key for key in tests if name and self._names[key] == name)
        return named or _only(
            key
            for key, test in tests.items()
            if (test.name.casefold(), test.column.casefold())
            == (check.kind.casefold(), check.column.casefold())
        )


def _only(found: Iterable[str]) -> str | None:
    listed = list(found)
    return listed[0] if len(listed) == 1 else None
