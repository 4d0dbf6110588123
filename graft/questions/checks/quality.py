"""The check `quality`: who reads data whose tests failed, or that is late."""

from __future__ import annotations

from functools import lru_cache

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.quality.carriers import has_data_of
from dbt_graft.analysis.quality.deadlines import forecasts
from dbt_graft.analysis.quality.downstream import faults_downstream
from dbt_graft.analysis.quality.faults import checks_not_run, count_tests, quality_faults
from dbt_graft.analysis.quality.history import short_histories, write_history
from dbt_graft.analysis.quality.report import Quality, quality_answer
from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.graft.project.view import LineageView, Moment
from dbt_graft.graft.questions.checks.checked_project import CheckedProject
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage


def check_quality(checked: CheckedProject) -> Answer:
    """The faults, what they reach, and the forecasts of deadlines at a moment."""
    return quality_answer(project_quality(checked))


@lru_cache(maxsize=1)
def project_quality(checked: CheckedProject) -> Quality:
    """The faults, what they reach, and the forecasts, as the answer has them; made once."""
    at = checked.options.at or checked.now
    described = _described(checked)
    lineage, descriptions = described.lineage, described.descriptions
    history = write_history(lineage, descriptions)
    faults = quality_faults(lineage, descriptions)
    graph = impact_graph(checked.config, described)
    writers: dict[DatasetId, list[str]] = {}
    for dataset, names in lineage.writer_names().items():
        writers[dataset] = list(names)
    for definition in lineage.definitions.values():
        writers.setdefault(definition.dataset, [definition.name])
    return Quality(
        at,
        faults,
        [
            check
            for _, description in sorted(descriptions.items())
            for check in checks_not_run(lineage, description)
        ],
        faults_downstream(graph, faults, has_data_of(lineage, history)),
        described.consumers,
        forecasts(history, described.consumers, at),
        count_tests(lineage, descriptions),
        writers,
        history,
    )


def _described(checked: CheckedProject) -> DescribedLineage:
    """The lineage as it stood at the moment, with runs enough for its forecasts."""
    at, now = checked.options.at or checked.now, checked.now
    if at < now:
        return checked.project.described(LineageView(Moment(at, f"{time_text(at)} UTC")))
    described = checked.described
    tasks = short_histories(described.lineage, described.consumers, now)
    if tasks and not checked.options.past:
        # The newest 30 runs of an hourly task are of a day.
        return checked.asked.with_runs(lambda _: tasks)
    return described
