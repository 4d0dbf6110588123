"""The results of the demo's dbt commands, as they are collected."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.dbt.source import results_source
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.records import NodeResult, Status

pytestmark = pytest.mark.demo


@pytest.fixture(scope="module")
def results(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> list[NodeResult]:
    """The results that are kept of each command, by way of a store."""
    place = str(tmp_path_factory.mktemp("results") / "store")
    source = results_source(str(demo / "dbt-runs"), "dbt-runs/")
    assert source.read
    store.commit(place, source.read({}))
    return [*store.read(place, results=True).node_results]


def test_both_builds_are_there_and_docs_generate_built_nothing(results: list[NodeResult]) -> None:
    assert {result.command for result in results} == {"build"}
    assert len({result.invocation_id for result in results}) == 2


def test_every_model_was_built_once_and_every_test_passed(results: list[NodeResult]) -> None:
    found = {result.node_id: (result.word, result.status) for result in results}
    assert len(found) == len(results)
    models = {node: result for node, result in found.items() if node.startswith("model.")}
    tests = {node: result for node, result in found.items() if node.startswith("test.")}
    assert len(models) == 10
    assert set(models.values()) == {("success", Status.OK)}
    assert len(tests) >= 40
    assert set(tests.values()) == {("pass", Status.OK)}
