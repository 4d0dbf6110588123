"""Data of the views of `graft query`."""

from __future__ import annotations

from functools import cache

from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.past import Moment
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, CheckOptions
from dbt_graft.lineage.model import Lineage


def view_data(config: Config, past: Moment | None = None) -> ViewData:
    """The data of views; what costs much is made when a query names it."""
    checked = CheckedProject(config, CheckOptions(past=past))

    @cache
    def read_runs() -> Lineage:
        described, _ = checked.project.described_graft(checked.view, lambda all_: all_.tasks.keys())
        return described.lineage

    return ViewData(checked.described, read_runs)
