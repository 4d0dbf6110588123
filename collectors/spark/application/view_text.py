"""The SQL of a view that only passes a table on, where the log has nothing but its plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.pass_through import passes_on
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.statement import DatasetAccess
from dbt_graft.lineage.dataset import DatasetId


def view_text(
    segment: PlanSegment, reads: Iterable[DatasetAccess], writes: Sequence[DatasetAccess]
) -> str:
    """`CREATE VIEW raw.v AS SELECT * FROM raw.orders`; empty for any other statement.

    By it `lineage.pass_through` makes the view another name of the table.
    """
    command = next(iter(segment.operator.inside), None) if segment.operator else None
    if segment.role is not CommandRole.VIEW or command is None or not passes_on(command):
        return ""
    tables = {access.dataset for access in reads}
    renames_columns = segment.target is None or segment.target.columns
    if len(tables) != 1 or len(writes) != 1 or renames_columns:
        return ""
    view, table = (_quote_name(dataset) for dataset in (writes[0].dataset, *tables))
    return " ".join(("CREATE VIEW", view, "AS SELECT * FROM", table))


def _quote_name(dataset: DatasetId) -> str:
    parts = [dataset.name] if dataset.is_path else dataset.name.split(".")
    return ".".join(part if part.isidentifier() else f"`{part}`" for part in parts)
