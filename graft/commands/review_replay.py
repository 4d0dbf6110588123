"""The command `graft review replay`: what a policy would have said to the last changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.analysis.review.node_change import ReviewVerdict
from dbt_graft.analysis.review.project import ProjectReview
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.questions.review.base import artifacts_at, revisions
from dbt_graft.graft.questions.review.compile import compile_commits
from dbt_graft.graft.questions.review.models import compare_artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.errors import GraftError

fail_option = click.option(
    "--fail-on",
    type=click.Choice([verdict.name.lower() for verdict in reversed(ReviewVerdict)]),
    help="End with 8 from this verdict on.  [default: never]",
)
# A commit, its date, and its artifacts; or why it has none.
Version = tuple[str, str, Artifacts | GraftError]


@click.command(
    epilog="\b\nExit codes: 0 printed; 1 nothing can be compared; 2 invalid command line or "
    "graft.yml.\n\n\b\nExamples:\n"
    "  graft review replay --last 30 --fail-on rows\n"
    "  graft review replay --compile --last 10",
)
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@config_option
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
@fail_option
def replay(
    folder: Path | None,
    config_path: Path | None,
    last: int,
    fail_on: str | None,
    *,
    compiling: bool,
) -> None:
    """Show what the policy would have said to the last commits of a folder's manifest.

    FOLDER is where manifests are committed; by default dbt's target folder. With --compile it is
    that of the dbt project. Nothing fails.
    """
    config = load_config(config_path)
    limit = ReviewVerdict[fail_on.upper()] if fail_on else config.review.failing
    if compiling:
        project = folder.resolve() if folder else config.project_dir
        _show(compile_commits(project, last, Progress()), limit)
        return
    target = folder.resolve() if folder else config.target_dir
    commits = list(revisions(target, last, "manifest.json"))
    if len(commits) < 2:
        raise GraftError(
            f"git has {len(commits)} version(s) of its manifest.json: two are needed",
            place=str(target),
            remedy="name a folder in which manifests are committed, or use --compile",
        )
    _show(_read_commits(commits, target), limit)


def _read_commits(commits: list[tuple[str, str]], target: Path) -> Iterator[Version]:
    for commit, date in commits:
        try:
            yield commit, date, artifacts_at(commit, target)
        except GraftError as error:
            yield commit, date, error


def _show(versions: Iterator[Version], limit: ReviewVerdict | None) -> None:
    """Print a line for each version but the first, and the count of those that would fail.

    Raises:
        GraftError: Fewer than two versions have artifacts.
    """
    before: Artifacts | None = None
    verdicts: Counter[bool] = Counter()
    left_out = 0
    for commit, date, after in versions:
        if isinstance(after, GraftError):
            left_out += 1
            click.echo(one_line(f"{commit} {date}  left out: {after.problem}"))
            continue
        if before:
            nodes, _ = compare_artifacts(before, after)
            fails = ProjectReview(commit, nodes).fails(limit)
            verdicts[fails] += 1
            counts = Counter(node.verdict for node in nodes)
            text = ", ".join(
                f"{counts[verdict]} {verdict.name}" for verdict in sorted(counts, reverse=True)
            )
            click.echo(f"{commit} {date}  {text or 'no change'}{'  fails' if fails else ''}")
        before = after
    if not verdicts:
        raise GraftError(
            "nothing can be compared: fewer than two versions have artifacts",
            remedy="see the reasons above",
        )
    policy = f"fail_on {limit.name.lower()}" if limit else "no fail_on"
    rest = f", {left_out} left out" if left_out else ""
    total = verdicts.total()
    click.echo(f"{total} changes compared, {verdicts[True]} would fail ({policy}){rest}")
