"""The state of a table: bad data of incidents, faults, and checks that could not run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.analysis.quality.faults import checks_not_run, faults_of
from dbt_graft.analysis.quality.words import fault_text, not_run_text
from dbt_graft.catalog.dates_panel import taint_notes
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage


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
    for fault in faults_of(lineage, dataset, description):
        yield fault.kind, fault_text(fault, now)
    for check in checks_not_run(lineage, description) if description else ():
        yield "not_run", f"{not_run_text(check, now)}: whether its data is good is not known"
