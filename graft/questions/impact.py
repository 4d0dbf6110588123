"""The impact of a proposed change, by the index of the project or as of a past time."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.analysis.dates.reached_dates import reached_dates
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.analysis.impact.answer import Impact, ProposedChange, impact
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.impact.data_ages import DataAges
from dbt_graft.analysis.impact.reached_dates import ReachedDates
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.current_index import load_impact_index
from dbt_graft.graft.project.view import Moment
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.graphs.column_path import ColumnId


def impact_of_change(
    config: Config, name: str, kind: ChangeType, past: Moment | None
) -> tuple[Impact, DataAges]:
    """The impact of a change of a dataset or a column, and the ages of data.

    Raises:
        GraftError: There is none of this name, or several; or the project cannot be read.
    """
    index = load_impact_index(config, past)
    match = index.names.find(name)
    dataset, column = match if isinstance(match, ColumnId) else (index.names.dataset(name), "")
    ages = DataAges(index.history, past.at if past else datetime.now(UTC))
    return impact(index.graph, ProposedChange(dataset, kind, column), index.around), ages


def dates_of_change(config: Config, change: ProposedChange, dates: Dates) -> ReachedDates:
    """The dates of each dataset downstream that these dates of the one that changes went into.

    Raises:
        GraftError: Nothing was collected yet.
    """
    # Without dates an answer needs none of it.
    from dbt_graft.graft.project.asked_lineage import AskedLineage
    from dbt_graft.graft.project.dated_lineage import dated_lineage

    dataset = change.dataset
    dated = dated_lineage(AskedLineage(config), lambda history: tasks_of_taint(history, [dataset]))
    return reached_dates(dated.history, dataset, dates, change.kind)
