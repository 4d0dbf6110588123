"""The graph on which changes, labels and faults go downstream, of a project's lineage."""

from __future__ import annotations

from datetime import datetime

from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.gaps import followed_shapes, open_tasks


def impact_graph(config: Config, described: DescribedLineage) -> ImpactGraph:
    """The graph of the lineage; edges are stale as `graft.yml` says."""
    lineage = described.lineage
    newest = newest_of(flow.last_at for flow in lineage.flows)
    stale_before: datetime | None = newest - config.impact.stale_span if newest else None
    followed = followed_shapes(lineage.shapes.values())
    return ImpactGraph(
        *(lineage.column_edges, lineage.flows, lineage.datasets.values(), stale_before, followed),
        *(lineage.definitions, lineage.column_uses, lineage.known_reads),
    )


def surroundings(described: DescribedLineage) -> Surroundings:
    """Descriptions, consumers, the owners of tasks, and those of which not all is known."""
    tasks = described.lineage.tasks.values()
    owners = {task.name: task.info.owner for task in tasks if task.info.owner}
    unknown = tuple(open_tasks(described.lineage))
    return Surroundings(described.descriptions, described.consumers, owners, unknown)
