"""The command `graft collect`: logs into the lineage store."""

from __future__ import annotations

import click

from dbt_graft.collectors.store.door import noise, read
from dbt_graft.graft.commands.shared_options import takes_engine, takes_turns
from dbt_graft.graft.commands.step import prints_summary
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.sources import unnamed_rejects, unnamed_text
from dbt_graft.graft.steps import collecting
from dbt_graft.graft.steps.summary import Summary
from dbt_graft.lineage.gaps import gaps


@click.command(epilog="\b\nExample: graft collect --json")
@click.option(
    "--again",
    is_flag=False,
    flag_value="",
    metavar="[SOURCE]",
    help="Read all logs again, or those of SOURCE: a path or URL below `collect`. The lineage of "
    "logs that are gone stays.",
)
@prints_summary
@takes_engine
@takes_turns("artifacts")
def collect(config: Config, progress: Progress, *, again: str | None) -> Summary:
    """Read new logs into the lineage store."""
    collected = collecting.collect(config, progress, again=again)
    store_folder = config.path(config.store)
    records = read(store_folder)
    unnamed = unnamed_rejects(config, records)
    if unnamed:
        progress.warn(unnamed_text(unnamed))
    left_out = {*unnamed}
    rejects = [reject for reject in records.rejects if reject not in left_out]
    return Summary(
        store=store_folder,
        new_logs=collected.new_logs,
        rejects=tuple(dict.fromkeys((*rejects, *collected.unreadable))),
        unnamed=len(unnamed),
        unread=collected.unreadable,
        noise=noise(store_folder),
        other_clients=collected.other_clients,
        gaps=gaps(records.shapes.values()),
    )
