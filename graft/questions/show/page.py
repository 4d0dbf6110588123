"""The page of a table, a column, a task, a dashboard or a run, as an answer."""

from __future__ import annotations

from dbt_graft.analysis.answer import Answer
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.names import Named, RunName
from dbt_graft.graft.questions.show.columns import column_answer, paths_answer
from dbt_graft.graft.questions.show.runs import run_answer
from dbt_graft.graft.questions.show.tables import Sections, table_answer
from dbt_graft.graft.questions.show.tasks import reader_answer, task_answer
from dbt_graft.graft.questions.show.trees import Steps, Way
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Task


def page(
    asked: AskedLineage,
    thing: Named | RunName,
    sections: Sections,
    way: Way,
) -> Answer:
    """The page of a thing."""
    steps = Steps(asked.described, way)
    match thing:
        case DatasetId():
            return table_answer(asked, thing, sections, steps)
        case ColumnId():
            return column_answer(steps, thing)
        case RunName():
            return run_answer(asked, thing)
        case Task():
            return task_answer(asked, thing, steps, with_why=sections.why)
    return reader_answer(thing)


def paths(asked: AskedLineage, names: tuple[str, str], way: Way) -> Answer:
    """The paths between two columns.

    Raises:
        GraftError: There is no such column, or several.
    """
    steps = Steps(asked.described, way)
    ends = []
    for name in names:
        end = asked.find(name)
        if not isinstance(end, ColumnId):
            raise GraftError("it is not a column", place=name, remedy="name a column of a table")
        ends.append(end)
    return paths_answer(steps, *ends)
