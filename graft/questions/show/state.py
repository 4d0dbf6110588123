"""The state of a table: bad data of incidents, faults, and checks that could not run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.quality.carriers import has_data_of
from dbt_graft.analysis.quality.downstream import faults_downstream, nearest
from dbt_graft.analysis.quality.faults import QualityFault, checks_not_run, quality_faults
from dbt_graft.analysis.quality.history import write_history
from dbt_graft.analysis.quality.words import fault_text, not_run_text
from dbt_graft.catalog.dates_panel import taint_notes
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.gaps import followed_shapes

_MOST = 6  # faults upstream, as on a page


def table_state(
    described: DescribedLineage, dataset: DatasetId, now: datetime
) -> Iterator[tuple[str, str]]:
    """The kind and words of all that is wrong with a table, as its page says."""
    lineage, description = described.lineage, described.descriptions.get(dataset)
    for note in taint_notes(taints_now(AccessHistory(lineage)).by_dataset.get(dataset, ())):
        begin = "" if note.dataset == dataset else f", from {note.dataset}"
        incident = f" (incident {note.number}{begin})"
        if note.dates:
            yield "tainted", f"bad data for {note.dates}{incident}"
        if note.doubtful:
            yield "tainted", f"may be bad for {note.doubtful}{incident}"
    for fault in quality_faults(lineage, described.descriptions, [dataset]):
        yield fault.kind, fault_text(fault, now)
    for check in checks_not_run(lineage, description) if description else ():
        yield "not_run", f"{not_run_text(check, now)}: whether its data is good is not known"
    for fault in _upstream_faults(described, dataset):
        state = "is old" if fault.kind.leaves_old_data else "may be wrong"
        yield "upstream", f"its data {state}: {fault_text(fault, now)}"


def _upstream_faults(described: DescribedLineage, dataset: DatasetId) -> list[QualityFault]:
    """The nearest faults upstream whose data a table has; of the graph that part is enough."""
    lineage, descriptions = described.lineage, described.descriptions
    upstream = {*lineage.dataset_graph().upstream(dataset)} - {dataset}
    faults = quality_faults(lineage, descriptions, upstream)
    if not faults:
        return []
    around = upstream | {dataset}
    graph = ImpactGraph(
        ColumnEdges.of(lineage.column_edges).where("to_dataset", around.__contains__),
        [flow for flow in lineage.flows if flow.target in around],
        [facts for key, facts in lineage.datasets.items() if key in around],
        followed=followed_shapes(lineage.shapes.values()),
        definitions=lineage.definitions,
        uses=[use for use in lineage.column_uses if use.dataset in around],
        known_reads=lineage.known_reads,
    )
    has_data = has_data_of(lineage, write_history(lineage, descriptions))
    reached = faults_downstream(graph, faults, has_data).get(dataset, ())
    return [upstream_fault.fault for upstream_fault in nearest(reached)[:_MOST]]
