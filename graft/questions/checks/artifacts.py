"""The check `artifacts`: what `graft inject` would do to dbt's, and a team may not want."""

from __future__ import annotations

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.rule import SECOND_WRITER
from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.graft.project.published import last_tasks, lost_lineage
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.injector.report_text import report_sections
from dbt_graft.injector.unwanted import unwanted_changes


def check_artifacts(checked: CheckedProject) -> Answer:
    """The changes, and those of them that are not accepted; nothing is written."""
    grafted, accept = checked.grafted, checked.config.check.accept
    if grafted is None:
        raise NothingToCheckError("dbt has written no artifacts", remedy="run `dbt docs generate`")
    now = task_metadata(grafted.lineage)
    # The check `rules` finds second writers, of what dbt does not know, too.
    unwanted = [
        finding
        for finding in unwanted_changes(grafted.report, accept)
        if finding.code != SECOND_WRITER.code
    ]
    return Answer(
        "changes of dbt's artifacts",
        tables=[
            Table(
                section.title[:1].lower() + section.title[1:],
                (),
                [(line,) for line in section.lines],
            )
            for section in report_sections(grafted.report)
        ],
        findings=[*unwanted, *lost_lineage(last_tasks(checked.config), now, accept)],
        data=grafted.report.to_json(),
    )
