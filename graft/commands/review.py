"""The command `graft review`: what a change of the project does, against a base."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.review.report import SCALE, review_answer
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.graft.commands.lazy import LazyGroup
from dbt_graft.graft.commands.values import PastTime
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.review.places import review_places
from dbt_graft.graft.questions.review.project import review_project
from dbt_graft.injector import artifacts

REVIEWS = {
    "Commands": {
        "replay": ("review_replay", "Try a limit on the last commits of a folder's manifest."),
    }
}


@click.group(
    cls=LazyGroup,
    lazy=REVIEWS,
    invoke_without_command=True,
    epilog="\b\nExamples:\n"
    "  graft review --base ../base/target\n"
    "  graft review --base origin/main --format markdown\n"
    "  graft review --base origin/main --format github --fail-on breaking\n"
    "  graft review --base ../base/target --base-store ../base/.graft/store\n"
    "  graft review replay --last 30",
)
@answers(scale=SCALE, rows=40)
@click.option(
    "--base",
    metavar="DIR|REF",
    help="A folder with the base's manifest.json, and its catalog.json or index/, or a revision of "
    "git at which dbt's target folder is committed.",
)
@click.option(
    "--base-store",
    metavar="DIR",
    help="The lineage store of the base build: tasks are compared by the runs that it lacks.",
)
@click.option(
    "--since",
    type=PastTime(),
    metavar="TIME",
    help="Tasks are compared by their runs since then: 2026-10-01T06:00, 2d.  [default: when the "
    "base's manifest was made]",
)
@click.pass_context
def review(
    context: click.Context,
    config_path: Path | None,
    *,
    base: str | None,
    base_store: str | None,
    since: Moment | None,
) -> tuple[Answer, str | None] | None:
    """Show what a change of the project does, against a base.

    Per model, by the syntax tree of its compiled SQL: columns removed, renamed, retyped or with
    another expression; other filters, joins and grain. Per task the same, by what it ran since the
    base and by how it is declared; and what data contracts promise. Then the impact of all of it on
    tables, tasks, tests and dashboards. What cannot be compared is UNKNOWN, with the reason.
    """
    if context.invoked_subcommand:
        return None
    if not base:
        raise click.UsageError("--base is missing: name a folder or a revision of git")
    if base_store and since:
        raise click.UsageError("--since is for one store: leave out --base-store")
    config = load_config(config_path)
    new = artifacts.read(config.target_dir)
    changes = review_project(config, new, base, base_store, since)
    return review_answer(changes, review_places(config, new)), config.review.fail_on
