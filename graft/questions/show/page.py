"""The page of a table, a column, a task, a dashboard or a run, as an answer."""

from __future__ import annotations

from dbt_graft.analysis.answer import Answer
from dbt_graft.graft.project.names import Named, RunName
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
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
    project: Project,
    thing: Named | RunName,
    sections: Sections,
    way: Way,
    view: LineageView,
) -> Answer:
    """The page of a thing."""
    steps = Steps(project.described(view), way)
    match thing:
        case DatasetId():
            return table_answer(project, thing, sections, steps, view)
        case ColumnId():
            return column_answer(steps, thing)
        case RunName():
            return run_answer(project, thing, view)
        case Task():
            return task_answer(project, thing, steps, view, with_why=sections.why)
    return reader_answer(thing)


def paths(project: Project, names: tuple[str, str], way: Way, view: LineageView) -> Answer:
    """The paths between two columns.

    Raises:
        GraftError: There is no such column, or several.
    """
    steps = Steps(project.described(view), way)
    ends = []
    for name in names:
        end = project.find(name, view)
        if not isinstance(end, ColumnId):
            raise GraftError("it is no column", place=name, remedy="name a column of a table")
        ends.append(end)
    return paths_answer(steps, *ends)
