"""The changes of a graft that a team forbids in graft.yml."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.published import TaskMetadata, last_published, lost_lineage
from dbt_graft.injector.forbidden import Violation, violations
from dbt_graft.injector.report import Grafted


def find_forbidden(config: Config, grafted: Grafted) -> list[Violation]:
    """The changes of a graft that `check.forbid` names, those that are accepted left out."""
    section = config.check
    lost = lost_lineage(last_tasks(config), task_metadata(grafted.lineage))
    return violations(grafted.report, section.forbid, section.accept, lost)


def last_tasks(config: Config) -> TaskMetadata:
    """The tasks of the last build; none where there was no build."""
    folders = (config.path(config.site.out), config.path(config.artifacts))
    return last_published(*map(Path, folders))
