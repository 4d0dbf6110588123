"""Data of the views of `graft query`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from dbt_graft.exporters.data.view_data import ProjectAnswers, ViewData
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.view import LineageView, Moment

if TYPE_CHECKING:
    from dbt_graft.graft.questions.query_answers import CheckedAnswers


def view_data(config: Config, past: Moment | None = None) -> ViewData:
    """The data of views; what costs much is made when a query names it."""
    asked = AskedLineage(config, LineageView(past))

    @cache
    def checked() -> CheckedAnswers:
        # Importing it takes longer than reading the lineage, and few views need it.
        from dbt_graft.graft.questions.query_answers import CheckedAnswers

        return CheckedAnswers(config, past)

    answers = ProjectAnswers(
        runs=cache(lambda: asked.with_runs(lambda lineage: lineage.tasks).lineage),
        findings=lambda: checked().findings(),
        quality=lambda: checked().quality,
        labels=lambda: checked().labels(),
        written_labels=lambda: checked().written_labels(),
        contracts=lambda: checked().contracts,
        promises=lambda: checked().promises(),
        sensitive=config.privacy.sensitive_from,
    )
    return ViewData(asked.described, answers)
