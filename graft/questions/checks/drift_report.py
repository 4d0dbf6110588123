"""All drift of a project: of tasks, of models, of columns and of the order of DAGs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dbt_graft.analysis.checks.column_drift import ColumnDrift
from dbt_graft.analysis.checks.drift import ENOUGH, DriftEdge, DriftStatus, drift
from dbt_graft.analysis.checks.model_drift import model_drift
from dbt_graft.exporters.dag_factory.check.compare import OrderFinding
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.questions.checks.column_drift import find_drifted_columns
from dbt_graft.graft.questions.checks.dag_check import dag_findings, read_dags, relative_to_cwd
from dbt_graft.lineage.described import DescribedLineage

_DRIFT = (DriftStatus.PHANTOM, DriftStatus.UNDECLARED)


@dataclass(frozen=True, slots=True)
class DriftReport:
    """People's and dbt's account of the lineage, against what logs show.

    Attributes:
        edges: Of tasks of which anything is declared, and of dbt's models.
        columns: Columns on which dbt's catalog and YAML do not agree with the logs.
        orders: Places where DAGs run tasks in another order than lineage demands.
        dags: The number of DAGs that were compared; None if nobody named any.
        unreadable: Files of DAGs that could not be read, with the reason.
    """

    edges: Sequence[DriftEdge]
    columns: Sequence[ColumnDrift] = ()
    orders: Sequence[OrderFinding] = ()
    dags: int | None = None
    unreadable: Sequence[tuple[str, str]] = ()

    @property
    def has_drifted(self) -> bool:
        """Whether anything is not as it is declared; warnings about DAGs do not count."""
        return bool(
            self.columns
            or any(edge.status in _DRIFT for edge in self.edges)
            or any(order.fault.is_error for order in self.orders)
        )


def drift_report(
    config: Config,
    described: DescribedLineage,
    runs: int = ENOUGH,
    since: datetime | None = None,
    dags: Sequence[Path] = (),
) -> DriftReport:
    """All drift.

    Args:
        runs, since: As in `lineage.drift.drift`.
        dags: Files and folders of DAGs; without them those of `check: {dags: …}` in graft.yml.

    Raises:
        GraftError: There is no DAG at these places, or a file cannot be read.
    """
    lineage = described.lineage
    edges = [*drift(lineage, runs, since), *model_drift(lineage, runs, since)]
    columns = find_drifted_columns(config, lineage)
    places = dags or [relative_to_cwd(Path(config.path(path))) for path in config.check.dags]
    if not places:
        return DriftReport(edges, columns)
    settings = config.airflow.settings(config.site.url)
    scan = read_dags(places, settings)
    order = demanded_order(lineage, described.descriptions)
    orders = dag_findings(order, settings, config.airflow.known_as, scan, places)
    unreadable = sorted(scan.unreadable.items())
    return DriftReport(edges, columns, orders, len(scan.dags), unreadable)
