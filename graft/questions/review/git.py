"""Revisions of git, and files as they were committed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from dbt_graft.lineage.errors import GraftError


def commit_of(revision: str, folder: Path) -> str:
    """The commit that a revision names.

    Raises:
        GraftError: It names none.
    """
    if revision.startswith("-"):
        raise GraftError("is neither a folder nor a revision of git", place=revision)
    output = git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if output is None:
        raise GraftError(
            "is neither a folder nor a revision of git",
            place=revision,
            remedy="name a folder with the base's manifest.json, or a commit that git has here "
            "(in CI: fetch it first, `git fetch origin main`)",
        )
    return output.decode().strip()


def revisions(folder: Path, last: int, file: str = "") -> Iterator[tuple[str, str]]:
    """The last commits that changed a folder, oldest first: commit, its date.

    Of a merge only the merge itself counts: that is the change of a pull request.

    Args:
        file: Only of this file in it.

    Raises:
        GraftError: The folder is not in a git repository.
    """
    count = f"-{last + 1}"
    command = ("log", "--first-parent", "--format=%h %cs", count, "--", str(folder / file))
    listed = git(nearest(folder), *command)
    if listed is None:
        raise GraftError(
            "git has no history of it",
            place=str(folder),
            remedy="name a folder of a git repository",
        )
    for line in reversed(listed.decode().split("\n")):
        commit, _, date = line.partition(" ")
        if commit:
            yield commit, date


def nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(ancestor for ancestor in (folder, *folder.parents) if ancestor.is_dir())


def top_of(folder: Path) -> Path | None:
    """The folder of the repository that a folder is in; None outside of one."""
    root = git(nearest(folder), "rev-parse", "--show-toplevel")
    return Path(root.decode().rstrip("\n")).resolve() if root is not None else None


def commit_reader(folder: Path, revision: str) -> Callable[[str], bytes | None] | None:
    """Reads files of a commit by their paths from a folder; None outside of a repository.

    Raises:
        GraftError: The revision names no commit.
    """
    top = top_of(folder)
    if top is None:
        return None
    commit = commit_of(revision, nearest(folder))
    listed = git(top, "ls-tree", "-r", "-z", "--name-only", commit) or b""
    names = {*listed.decode("utf-8", "surrogateescape").split("\0")}

    def read_file(file: str) -> bytes | None:
        path = Path(os.path.normpath(folder.resolve() / file))
        if not path.is_relative_to(top) or (name := path.relative_to(top).as_posix()) not in names:
            return None  # most names that are asked for are those of libraries
        return git(top, "show", f"{commit}:{name}")

    return read_file


def git(folder: Path, *arguments: str) -> bytes | None:
    """The output of git; None where it fails.

    Raises:
        GraftError: There is no git.
    """
    program = shutil.which("git")
    if program is None:
        raise GraftError("git is not installed", remedy="install it, or name a folder")
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None
