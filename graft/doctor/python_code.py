"""The Python code of tasks: for how many it is known, and how much of their columns it explains."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count, first_findings
from dbt_graft.graft.project.config import FILE_NAME
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.task_codes import explained_text
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.records import EdgeType

_CODE = "PYTHON_CODE"
_PAGE = "docs/python-code.md"


def python_code(project: Project) -> Iterator[Finding]:
    """The columns that the code of tasks explains, and the lines that could not be followed.

    Nothing where no task carries data in its memory: logs know all columns then.
    """
    lineage = project.lineage()
    matches = lineage.codes
    edges = project.records().column_edges
    # A date that a DELETE compares is no data that it carries.
    sends = (e.task for e in edges if e.from_dataset == MEMORY and e.type is EdgeType.DIRECT)
    senders = lineage.tasks.keys() & set(sends)
    if not matches and not senders:
        return
    problem = f"the code of {count(len(matches), 'task')} is known"
    if senders:
        carry = "carries" if len(senders) == 1 else "carry"
        known = f"the code of {len(senders & matches.keys()):,} is known"
        problem = f"{count(len(senders), 'task')} {carry} data in memory; {known}"
    if explained := explained_text(matches.values()):
        problem += f", and explains {explained}"
    remedy = ""
    if missing := sorted(senders - matches.keys()):
        remedy = f"name the script of {missing[0]} as `code` below `tasks`: {_PAGE}"
    yield Finding(_CODE, Severity.NOTE, FILE_NAME, problem, remedy)
    gaps = [
        Finding(_CODE, Severity.NOTE, name, gap.reason, f"see {_PAGE}", place=str(gap.place))
        for name, match in matches.items()
        for gap in match.code.gaps
    ]
    yield from first_findings(gaps, FILE_NAME, "lines of code that could not be followed")
