"""The Python code of tasks: for how many it is known, and how much of their columns it explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count, first_findings
from dbt_graft.graft.project.config import FILE_NAME
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.task_codes import explained_text
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnEdge, EdgeType

_CODE = "PYTHON_CODE"
_PAGE = "docs/python-code.md"


def python_code(project: Project) -> Iterator[Finding]:
    """The columns that the code of tasks explains, and the lines that could not be followed.

    Nothing where logs know all columns.
    """
    lineage = project.lineage()
    matches = lineage.codes
    writers = _writers_of_columns(lineage, project.records().column_edges)
    if not matches and not writers:
        return
    problem = f"the code of {count(len(matches), 'task')} is known"
    if writers:
        write = "writes" if len(writers) == 1 else "write"
        problem = f"{count(len(writers), 'task')} {write} columns that no log explains; "
        problem += f"the code of {len(writers & matches.keys()):,} is known"
    if explained := explained_text(matches.values()):
        problem += f", and explains {explained}"
    remedy = ""
    if missing := sorted(writers - matches.keys()):
        remedy = f"name the script of {missing[0]} as `code` below `tasks`: {_PAGE}"
    yield Finding(_CODE, Severity.NOTE, FILE_NAME, problem, remedy)
    gaps = [
        Finding(_CODE, Severity.NOTE, name, gap.reason, f"see {_PAGE}", place=str(gap.place))
        for name, match in matches.items()
        for gap in match.code.gaps
    ]
    yield from first_findings(gaps, FILE_NAME, "lines of code that could not be followed")


def _writers_of_columns(lineage: Lineage, of_logs: Iterable[ColumnEdge]) -> set[str]:
    """The tasks that write from their memory, or of whose writes no log shows the columns."""
    # A date that a DELETE compares is no data that it carries.
    direct = (edge for edge in of_logs if edge.type is EdgeType.DIRECT)
    writers = {edge.task for edge in direct if edge.from_dataset == MEMORY}
    shown = {(edge.task, edge.to_dataset) for edge in lineage.column_edges if not edge.place}
    writers |= {
        flow.task
        for flow in lineage.flows
        if flow.definition is None and (flow.task, flow.target) not in shown
    }
    return {name for name in writers if name in lineage.tasks and lineage.tasks[name].runs}
