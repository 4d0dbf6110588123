"""The last commits of a dbt project, each compared with the one before."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.replay import ReviewedCommit
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.dbt_command import run_dbt
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.questions.review.base import artifacts_at
from dbt_graft.graft.questions.review.git import git, nearest, revisions, top_of
from dbt_graft.graft.questions.review.models import compare_artifacts
from dbt_graft.injector import artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.errors import GraftError

_PACKAGES = "dbt_packages"
_OPTIONS = ("--no-introspect", "--no-populate-cache")
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
_STAMP = re.compile(r"^\d\d:\d\d:\d\d(?:\.\d+)?\s+")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST = 160
_TERMINATED = 128 + signal.SIGTERM
# A commit, its date, and its artifacts; or why it has none.
Version = tuple[str, str, Artifacts | GraftError]


def _compile_commits(
    project: Path, last: int, progress: Progress, dbt: Sequence[str]
) -> Iterator[tuple[str, str, Artifacts | GraftError]]:
    """The last commits that touched a dbt project, oldest first: commit, date, artifacts.

    What does not compile comes with the reason instead. Packages are those of the working tree.

    Args:
        dbt: The command of the project's own dbt.

    Raises:
        GraftError: The project is not in a git repository, or has too few commits.
    """
    commits = list(revisions(project, last))
    if len(commits) < 2:
        raise GraftError(
            f"git has {len(commits)} commit(s) of it: two are needed",
            place=str(project),
            remedy="name the folder of the dbt project; a shallow clone has no history: fetch it",
        )
    with _worktree(project) as (workspace, inside):
        here = workspace / "tree" / inside
        for number, (commit, date) in enumerate(commits, 1):
            with progress.step("compile", f"{commit} {date}, {number} of {len(commits)}") as step:
                try:
                    _check_out(workspace / "tree", commit)
                    _share_packages(project, here)
                    outcome: Artifacts | GraftError = _compile(here, workspace, dbt)
                    step.result = f"{commit} {date}, {number} of {len(commits)}"
                except GraftError as error:
                    outcome = error
                    step.result = f"{commit} {date}, {number} of {len(commits)}: left out"
            yield commit, date, outcome


@contextmanager
def _worktree(project: Path) -> Iterator[tuple[Path, Path]]:
    """A folder with a worktree `tree`, and the project's path in it; gone however this ends."""
    top = top_of(project) or nearest(project)
    with _terminable(), tempfile.TemporaryDirectory(prefix="graft-replay-") as name:
        workspace = Path(name).resolve()
        add = ("worktree", "add", "--detach", "--no-checkout", str(workspace / "tree"), "HEAD")
        try:
            if git(top, *_NO_HOOKS, *add) is None:
                raise GraftError(
                    "git can make no worktree of it",
                    place=str(top),
                    remedy="try `git worktree add --detach ../tree HEAD`",
                )
            yield workspace, project.resolve().relative_to(top)
        finally:
            git(top, "worktree", "remove", "--force", str(workspace / "tree"))
            shutil.rmtree(workspace / "tree", ignore_errors=True)
            git(top, "worktree", "prune")


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM, by which CI ends a job, end it as Ctrl-C does: what is open is closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_out(tree: Path, commit: str) -> None:
    if git(tree, *_NO_HOOKS, "checkout", "--detach", "--force", "--quiet", commit) is None:
        raise GraftError("git cannot check it out")


def _share_packages(project: Path, here: Path) -> None:
    packages = project / _PACKAGES
    if packages.is_dir() and here.is_dir() and not os.path.lexists(here / _PACKAGES):
        (here / _PACKAGES).symlink_to(packages.resolve(), target_is_directory=True)


def _compile(here: Path, workspace: Path, dbt: Sequence[str]) -> Artifacts:
    """The artifacts of the project in a folder.

    Raises:
        GraftError: dbt does not compile it; with dbt's last words.
    """
    if not (here / dbt_folders.PROJECT_FILE).is_file():
        raise GraftError(f"there is no {dbt_folders.PROJECT_FILE}")
    target = workspace / "target"
    (target / "manifest.json").unlink(missing_ok=True)
    command = [*dbt, "--no-use-colors", "compile", *_OPTIONS, "--project-dir", str(here)]
    command += ["--target-path", str(target), "--log-path", str(workspace / "logs")]
    done = run_dbt(command, here)
    if done.returncode:
        raise GraftError(f"dbt does not compile it: {_reason(done.stdout, done.stderr)}")
    return artifacts.read(target)


def _reason(output: str, errors: str) -> str:
    """The last words of dbt, from its `Encountered an error` on."""
    lines = [_STAMP.sub("", _COLORS.sub("", line)).strip() for line in output.splitlines()]
    lines = [line for line in lines if line] or [
        line for line in errors.splitlines() if line.strip()
    ]
    at = [number for number, line in enumerate(lines) if line.startswith("Encountered an error")]
    last_words = lines[at[-1] + 1 :] if at else lines[-2:]
    text = " ".join(" ".join(last_words).split()) or "it says nothing"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


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
    compiled = _compile_commits(folder, last, Progress(), compiler)
    commits = list(_compare(compiled if compiler else _committed(folder, last)))
    if all(commit.problem for commit in commits):
        alike: dict[str, list[str]] = {}
        for commit in commits:
            alike.setdefault(commit.problem, []).append(commit.commit)
        reasons = "; ".join(f"{join_names(names)}: {reason}" for reason, names in alike.items())
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
