"""The impact of a proposed change, by the index of the project or as of a past time."""

from __future__ import annotations

from dbt_graft.analysis.dates.taint_bounds import taint_bounds
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.analysis.impact.answer import Impact, ProposedChange, impact
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.current_index import load_impact_index
from dbt_graft.graft.project.impact_index import ImpactIndex
from dbt_graft.graft.project.named_datasets import close_to
from dbt_graft.graft.project.past import Moment
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.errors import GraftError

_SHOWN = 8


def impact_of_change(config: Config, name: str, kind: ChangeType, past: Moment | None) -> Impact:
    """The impact of a change of a dataset or a column.

    Raises:
        GraftError: There is none of this name, or several; or the project cannot be read.
    """
    index = load_impact_index(config, past)
    dataset, column = _find_named(index, name)
    return impact(index.graph, ProposedChange(dataset, kind, column), index.around)


def reached_dates(config: Config, dataset: DatasetId, dates: Dates) -> dict[DatasetId, Dates]:
    """The dates of each dataset downstream that these dates of a dataset decide on.

    They come from the partition mapping of each edge; along one without a mapping all dates count.

    Raises:
        GraftError: Nothing was collected yet.
    """
    # Without dates an answer needs none of it.
    from dbt_graft.graft.project.dated_lineage import dated_lineage

    dated = dated_lineage(config, lambda history: tasks_of_taint(history, [dataset]))
    return taint_bounds(dated.history, {dataset: dates})


def _find_named(index: ImpactIndex, name: str) -> tuple[DatasetId, str]:
    """The dataset that a person names, and its column; a dataset wins over a column."""
    graph = index.graph
    matches: list[tuple[DatasetId, str]] = [(dataset, "") for dataset in index.search.named(name)]
    at = name.rfind(".")
    while at > 0 and not matches:
        for dataset in index.search.named(name[:at]):
            number = graph.find_dataset(dataset)
            column = graph.find_column(number, name[at + 1 :]) if number is not None else None
            if column is not None:
                matches.append((dataset, graph.column_names[column]))
        at = name.rfind(".", 0, at)
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(
            f"{dataset}.{column}" if column else str(dataset) for dataset, column in matches
        )
        raise GraftError(
            f"{len(matches)} have this name", place=name, remedy=f"write one of: {shown}"
        )
    table, _, last = name.rpartition(".")
    tables = index.search.named(table) if table else []
    if tables:
        number = graph.find_dataset(tables[0])
        columns = graph.columns(number) if number is not None else []
        raise GraftError(
            f"{tables[0]} is not known to have a column {last}",
            place=name,
            remedy=f"its columns: {', '.join(columns[:_SHOWN]) or 'none is known'}",
        )
    close = close_to(name, index.search.all())
    raise GraftError(
        "there is no such table or column in the lineage",
        place=name,
        remedy=f"did you mean {', '.join(close)}?" if close else "write TABLE or TABLE.COLUMN",
    )
