"""The last commits of a dbt project, each compared with the one before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dbt_graft.analysis.review.replay import ReviewedCommit
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.questions.review.base import artifacts_at, revisions
from dbt_graft.graft.questions.review.compile import compile_commits
from dbt_graft.graft.questions.review.models import compare_artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.errors import GraftError

# A commit, its date, and its artifacts; or why it has none.
Version = tuple[str, str, Artifacts | GraftError]


def replay_commits(
    folder: Path, last: int, *, compiler: Sequence[str] = ()
) -> list[ReviewedCommit]:
    """The last commits, oldest first, without the first that has artifacts.

    Args:
        folder: Where manifests are committed; the dbt project if they are to be compiled.
        compiler: The command of dbt, if they are.

    Raises:
        GraftError: Fewer than two versions have artifacts.
    """
    compiled = compile_commits(folder, last, Progress(), compiler)
    commits = list(_compare(compiled if compiler else _committed(folder, last)))
    if all(commit.problem for commit in commits):
        reasons = "; ".join(f"{commit.commit}: {commit.problem}" for commit in commits)
        raise GraftError(
            "nothing can be compared: fewer than two versions have artifacts",
            place=str(folder),
            remedy=f"see why: {reasons}" if reasons else "name another folder",
        )
    return commits


def _committed(target: Path, last: int) -> Iterator[Version]:
    commits = list(revisions(target, last, "manifest.json"))
    if len(commits) < 2:
        raise GraftError(
            f"git has {len(commits)} version(s) of its manifest.json: two are needed",
            place=str(target),
            remedy="name a folder in which manifests are committed, or use --compile",
        )
    for commit, date in commits:
        try:
            yield commit, date, artifacts_at(commit, target)
        except GraftError as error:
            yield commit, date, error


def _compare(versions: Iterable[Version]) -> Iterator[ReviewedCommit]:
    before: Artifacts | None = None
    for commit, date, after in versions:
        if isinstance(after, GraftError):
            yield ReviewedCommit(commit, date, problem=after.problem)
            continue
        if before:
            yield ReviewedCommit(commit, date, compare_artifacts(before, after)[0])
        before = after
