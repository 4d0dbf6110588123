"""The command `graft review replay`: a limit tried on past commits."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.review.replay import replay_answer
from dbt_graft.analysis.review.report import SCALE
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.graft.project.dbt_command import dbt_command
from dbt_graft.graft.questions.review.replay import replay_commits


@click.command(
    epilog="\b\nExamples:\n"
    "  graft review replay --last 30 --fail-on rows\n"
    "  graft review replay --compile --last 10",
)
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@answers(scale=(), rows=1000)
@click.option(
    "--last", type=click.IntRange(1, 1000), default=30, show_default=True, help="Commits."
)
@click.option(
    "--compile",
    "compiling",
    is_flag=True,
    help="Compile each commit with dbt, in a git worktree that is removed again: for projects "
    "that commit no manifests.",
)
@click.option("--fail-on", "limit", type=click.Choice(SCALE), help="The limit to try.")
def replay(
    folder: Path | None,
    config_path: Path | None,
    *,
    last: int,
    compiling: bool,
    limit: str | None,
) -> Answer:
    """Try a limit on the last commits of a folder's manifest.

    FOLDER is where manifests are committed; by default dbt's target folder. With --compile it is
    that of the dbt project. Nothing fails.
    """
    config = load_config(config_path)
    folder = folder or (config.project_dir if compiling else config.target_dir)
    compiler = dbt_command(config) if compiling else ()
    commits = replay_commits(folder.resolve(), last, compiler=compiler)
    return replay_answer(folder.name, commits, limit or config.review.fail_on or "")
