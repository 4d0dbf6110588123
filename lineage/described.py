"""The lineage with what people wrote of it, which every question is asked of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import or_

from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.model import Lineage


@dataclass(frozen=True)
class DescribedLineage:
    """The lineage with what dbt and YAML say of it."""

    lineage: Lineage
    descriptions: Mapping[DatasetId, Description] = field(default_factory=dict)
    consumers: Sequence[Consumer] = ()

    @cached_property
    def column_graph(self) -> ColumnGraph:
        """Its columns, down to those who read them."""
        edges, datasets = self.lineage.column_edges, self.lineage.datasets.values()
        return ColumnGraph(edges, datasets, self.consumers)

    def columns_around(self, dataset: DatasetId) -> ColumnGraph:
        """The columns that those of a dataset come from and feed: far fewer than all.

        Of the dataset's own columns it answers as `column_graph` does, where datasets beyond are
        not asked for.
        """
        edges = ColumnEdges.of(self.lineage.column_edges)
        around = _keys_around(edges, dataset)
        sides = (edges.numbers(end, lambda other: other.key in around) for end in _ENDS)
        touching = edges.select([*map(or_, *sides)])
        datasets = (facts for facts in self.lineage.datasets.values() if facts.id.key in around)
        return ColumnGraph(touching, datasets, self.consumers)


def task_consumer(lineage: Lineage, name: str, node_id: str) -> Consumer:
    """A task that only reads as a consumer."""
    task = lineage.tasks[name]
    return Consumer(
        node_id=node_id,
        name=task.name,
        kind=task.info.type or "task",
        reads=tuple(task.reads),
        text=task.info.description,
        owner=task.info.owner,
        url=task.info.url,
        tags=task.info.tags,
        criticality=task.info.criticality,
        freshness_slo=task.info.freshness_slo,
        deadline=task.info.deadline,
        columns=lineage.columns_read(name),
        known_reads=tuple(read for read in task.reads if lineage.knows_reads(name, read)),
    )


_Key = tuple[str, str]
_ENDS = ("from_dataset", "to_dataset")


def _keys_around(edges: ColumnEdges, dataset: DatasetId) -> set[_Key]:
    """The keys of a dataset, of all that feed it, and of all that it feeds."""
    feeds, fed_by = defaultdict[_Key, set[_Key]](set), defaultdict[_Key, set[_Key]](set)
    for source, target in {*zip(*map(edges.keys, _ENDS), strict=True)}:
        feeds[source].add(target)
        fed_by[target].add(source)
    around: set[_Key] = set()
    for neighbours in (feeds, fed_by):
        reached, waiting = {dataset.key}, [dataset.key]
        while waiting:
            ahead = neighbours.get(waiting.pop(), set()) - reached
            reached |= ahead
            waiting += ahead
        around |= reached
    return around
