"""The check `artifacts`: what `graft inject` would do to dbt's, and a team may not want."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.analysis.rule import SECOND_WRITER, UNKNOWN_DATASET
from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.graft.project.published import last_tasks, lost_lineage
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.injector.report_text import report_sections
from dbt_graft.injector.unwanted import unwanted_changes


def check_artifacts(checked: CheckedProject) -> Answer:
    """The changes, and those of them that are not accepted; none is made."""
    report, accept = checked.asked.facts.report, checked.config.check.accept
    if report is None:
        raise NothingToCheckError("dbt has written no artifacts", remedy="run `dbt docs generate`")
    now = task_metadata(checked.described.lineage)
    unwanted = list(unwanted_changes(report, accept))
    unknown = [finding.subject for finding in unwanted if finding.code == UNKNOWN_DATASET.code]
    # The check `rules` finds second writers, of what dbt does not know, too.
    left = [f for f in unwanted if f.code not in (SECOND_WRITER.code, UNKNOWN_DATASET.code)]
    return Answer(
        "changes of dbt's artifacts",
        tables=[
            Table(
                section.title[:1].lower() + section.title[1:],
                (),
                [(line,) for line in section.lines],
            )
            for section in report_sections(report)
        ],
        findings=[
            *left,
            *_unknown_datasets(unknown),
            *lost_lineage(last_tasks(checked.config), now, accept),
        ],
        data=report.to_json(),
    )


def _unknown_datasets(names: Sequence[str]) -> Iterator[Finding]:
    """One finding for all: what dbt does not know is usual, and the graft adds it."""
    if names:
        known = "and dbt does not know it" if len(names) == 1 else "and dbt knows none of them"
        yield UNKNOWN_DATASET.finding(
            count(len(names), "dataset"),
            f"tasks use {join_names(names, 3)}, {known}",
            "nothing, if they are none of dbt's: the graft adds them; a table that dbt has under "
            "another name needs a rule below `names` in graft.yml; `check: {accept: […]}` takes "
            "out what you have looked at",
        )
