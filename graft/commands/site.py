"""The command `graft site`: the site without new logs."""

from __future__ import annotations

import click

from dbt_graft.graft.commands.shared_options import takes_as_of, takes_turns
from dbt_graft.graft.commands.step import allow_empty_option, full_option, prints_summary
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps import inject as pipeline
from dbt_graft.graft.steps.sites import publish_sites
from dbt_graft.graft.steps.summary import Summary


@click.command(epilog="\b\nExample: graft site && graft serve")
@full_option
@allow_empty_option
@prints_summary
@takes_as_of("site.out")
@takes_turns()
def site(
    config: Config, progress: Progress, *, full: bool, allow_empty: bool, past: Moment | None
) -> Summary:
    """Build the site from the store and dbt's artifacts, without reading logs."""
    grafted = pipeline.graft(config, progress, allow_empty=allow_empty, past=past)
    published = publish_sites(config, progress, grafted, full=full, past=past)
    return pipeline.summary(config, grafted, site=published)
