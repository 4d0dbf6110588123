"""Events that are written and read again show the same lineage."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.exporters.openlineage.events import events
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.model import Lineage
from tests.cases import for_each
from tests.catalog.worlds import world
from tests.collectors.openlineage.events import lineage as read_again
from tests.exporters.openlineage.shop import COLLECTED, snapshot


def shown(lineage: Lineage) -> dict[str, set[str]]:
    """The part that both must have: dbt's own comes from its artifacts, not from events."""
    return {
        "tasks": {
            f"{task.name}: {', '.join(map(str, task.reads))} -> {', '.join(map(str, task.writes))}"
            for task in lineage.tasks.values()
            if task.usages
        },
        "flows": {
            f"{flow.task}: {flow.source} -> {flow.target}"
            for flow in lineage.flows
            if flow.task in lineage.tasks
        },
        "datasets": {
            f"{one.dataset}: {', '.join(f'{c.name} {c.type}' for c in known.columns)}"
            for task in lineage.tasks.values()
            for one in task.usages
            if (known := lineage.datasets.get(one.dataset))
        },
        "columns": {
            f"{e.task}: {e.to_dataset}.{e.to_column} < {e.from_dataset}.{e.from_column} "
            f"{e.subtype}{' masked' if e.masking else ''}"
            for e in lineage.column_edges
            if e.task in lineage.tasks
        },
    }


def test_the_shop_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    written = snapshot()
    found = read_again(tmp_path, [one.event for one in events(written)])
    assert shown(found) == shown(written.lineage)
    assert found.rejects == ()


@for_each("seed", range(12))
def test_made_up_lineages_are_the_same_when_they_are_read_again(tmp_path: Path, seed: int) -> None:
    lineage, descriptions, _ = world(seed).lineage()
    written = LineageSnapshot(lineage, COLLECTED, descriptions)
    found = read_again(tmp_path, [one.event for one in events(written)])
    assert shown(found) == shown(lineage)
