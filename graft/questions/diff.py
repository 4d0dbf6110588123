"""The lineage at two times, compared."""

from __future__ import annotations

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.history.diff import differences
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.analysis.history.report import DiffTimes, differences_answer
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView, Moment
from dbt_graft.lineage.building.as_of import as_of
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage


def compare_times(config: Config, before: Moment, now: Moment, rule: GoneRule) -> Answer:
    """The changes of the lineage between two times.

    Raises:
        GraftError: The store has no records.
    """
    project = Project(config)
    records = project.records(LineageView(results=False, every_run=True))
    if not records.accesses:
        raise GraftError(
            "the lineage store is missing or empty",
            place=config.path(config.store),
            remedy="run `graft collect`",
        )

    def lineage_at(time: Moment) -> Lineage:
        return project.build(as_of(records, time.at), infos={})

    changes = differences(lineage_at(before), lineage_at(now), rule)
    return differences_answer(DiffTimes(before.at, now.at, before.text, now.text), rule, changes)
