"""EXPECTED.yml hangs together: it was written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.graph import Graph


@pytest.fixture(scope="module")
def reads(complete: dict[str, Any]) -> dict[str, set[str]]:
    """The datasets that every task takes data from, dbt's own among them."""
    return {
        **{name: set(task["reads"]) for name, task in complete["tasks"].items()},
        **{name: sources for name, sources in _by_task(complete, "from").items() if "." in name},
    }


@pytest.fixture(scope="module")
def writes(complete: dict[str, Any]) -> dict[str, set[str]]:
    """The datasets that every task puts data into, dbt's own among them."""
    return {
        **{name: set(task["writes"]) for name, task in complete["tasks"].items()},
        **{name: targets for name, targets in _by_task(complete, "to").items() if "." in name},
        # A seed comes from the repository: no edge leads to it.
        "seed.shop.product_categories": {"spark/analytics.product_categories"},
    }


def _by_task(complete: dict[str, Any], end: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for edge in complete["edges"]:
        found.setdefault(edge["by"], set()).add(edge[end])
    return found


def test_names_are_datasets(complete: dict[str, Any]) -> None:
    assert [name for name in complete["datasets"] if str(parse_dataset_id(name)) != name] == []


def test_every_dataset_is_used_and_every_used_one_has_a_role(
    complete: dict[str, Any], reads: dict[str, set[str]], writes: dict[str, set[str]]
) -> None:
    used = set().union(*reads.values(), *writes.values())
    assert used == complete["datasets"].keys()


def test_edges_agree_with_what_tasks_read_and_write(
    complete: dict[str, Any], reads: dict[str, set[str]], writes: dict[str, set[str]]
) -> None:
    wrong = [
        edge
        for edge in complete["edges"]
        if edge["from"] not in reads[edge["by"]] or edge["to"] not in writes[edge["by"]]
    ]
    assert wrong == []


def test_roles_follow_from_who_writes(
    complete: dict[str, Any], writes: dict[str, set[str]]
) -> None:
    by_tasks = {name for task in complete["tasks"] for name in writes[task]}
    roles = complete["datasets"]
    assert by_tasks == {name for name, role in roles.items() if role in {"promoted", "added"}}


def test_levels_follow_from_who_reads_what_others_write(
    complete: dict[str, Any], reads: dict[str, set[str]], writes: dict[str, set[str]]
) -> None:
    edges = [
        (writer, reader)
        for writer, targets in writes.items()
        for reader, sources in reads.items()
        if targets & sources
    ]
    assert Graph(edges, writes).levels() == complete["levels"]
