"""The command `graft build`: collect, inject and site."""

from __future__ import annotations

import click

from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.graft.commands.shared_options import takes_as_of, takes_engine, takes_turns
from dbt_graft.graft.commands.step import allow_empty_option, full_option, prints_summary
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.damaged_store import is_damage
from dbt_graft.graft.project.dbt_command import generate_dbt_docs
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.steps import collecting
from dbt_graft.graft.steps import inject as pipeline
from dbt_graft.graft.steps.collecting import CollectResult
from dbt_graft.graft.steps.sites import publish_sites
from dbt_graft.graft.steps.summary import Summary
from dbt_graft.injector.artifacts import check_manifest


@click.command(epilog="\b\nExample: graft build --dbt --strict")
@click.option(
    "--dbt", "run_dbt", is_flag=True, help="Run the project's dbt first: `dbt docs generate`."
)
@full_option
@allow_empty_option
@prints_summary
@takes_as_of("site.out")
@takes_engine
@takes_turns()
def build(
    config: Config,
    progress: Progress,
    *,
    run_dbt: bool,
    full: bool,
    allow_empty: bool,
    past: Moment | None,
) -> Summary:
    """Run collect, inject and site."""
    if run_dbt:
        generate_dbt_docs(config, progress)
    check_manifest(config.target_dir)  # Reading logs may take an hour: this is known before.
    collected = _collect_logs(config, progress)
    grafted = pipeline.graft(
        *(config, progress, collected.unreadable),
        allow_empty=allow_empty,
        past=past,
    )
    published = publish_sites(config, progress, grafted, full=full, past=past)
    return pipeline.summary(config, grafted, collected, published)


def _collect_logs(config: Config, progress: Progress) -> CollectResult:
    """New logs, collected; none of them into a damaged store, of which the rest is published."""
    try:
        return collecting.collect(config, progress)
    except StoreError as error:
        if not is_damage(error):
            raise
        progress.warn(f"nothing was collected: {error}")
        return CollectResult()
