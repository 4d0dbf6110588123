"""Files of a project in the base of a review: at a revision of git, or in its folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

from dbt_graft.graft.project.config import FILE_NAME, Config
from dbt_graft.graft.project.dbt_folders import PROJECT_FILE
from dbt_graft.graft.questions.review.git import commit_of, git, nearest, top_of
from dbt_graft.lineage.errors import GraftError


class BaseFiles:
    """The files of the base.

    Args:
        folder: What stands for the folder of graft.yml there; None where nothing does.
    """

    def __init__(self, config: Config, folder: Path | None) -> None:
        self._config, self._folder = config, folder

    @property
    def folder(self) -> Path | None:
        """The folder that stands for that of graft.yml."""
        return self._folder

    @property
    def is_known(self) -> bool:
        """Whether the base has files at all, so that one that is missing is not there."""
        return self._folder is not None

    def path(self, written: str) -> str | None:
        """The path in the base of a path or pattern of graft.yml; None where there are no files."""
        if self._folder is None or "://" in written:
            return None
        inside = os.path.relpath(self._config.path(written), self._config.folder)
        return str(Path(os.path.normpath(self._folder / inside)))

    def here(self, path: Path) -> Path:
        """The path that a file of the base has in the working tree; its own of another file."""
        if self._folder is None or path.is_relative_to(self._config.folder):
            return path
        return Path(os.path.normpath(self._config.folder / os.path.relpath(path, self._folder)))

    def shown(self, text: str) -> str:
        """A message about files of the base, without the folder in which they are read."""
        return text.replace(f"{self._folder}/", "")


@contextmanager
def base_files(base: str, config: Config, patterns: list[str]) -> Iterator[BaseFiles]:
    """The files of a base, at a revision in a folder that is removed again.

    Args:
        base: A folder with a manifest.json, or a revision.
        patterns: The paths and patterns of graft.yml that are asked for.
    """
    folder = Path(base)
    if folder.is_dir():
        yield BaseFiles(config, _find_beside(folder.resolve(), config))
        return
    with tempfile.TemporaryDirectory(prefix="graft-review-") as scratch:
        yield BaseFiles(config, _extract_files(base, config, patterns, Path(scratch)))


def _find_beside(target: Path, config: Config) -> Path | None:
    """The folder that is to the base's target folder as that of graft.yml is to the project's."""
    inside = os.path.relpath(config.folder, config.target_dir)
    folder = Path(os.path.normpath(target / inside))
    if folder == config.folder or not folder.is_dir():
        return None
    project = os.path.relpath(config.project_dir, config.folder)
    marks = (folder / FILE_NAME, folder / project / PROJECT_FILE)
    return folder if any(mark.is_file() for mark in marks) else None


def _extract_files(base: str, config: Config, patterns: list[str], scratch: Path) -> Path | None:
    """Write the files of a revision below a folder, as they are below the repository's."""
    top = top_of(config.folder)
    if top is None:
        return None
    commit = commit_of(base, nearest(config.folder))
    for pattern in patterns:
        path = Path(config.path(pattern))
        if not path.is_relative_to(top):
            continue
        inside = path.relative_to(top)
        fixed = Path(*takewhile(lambda part: "*" not in part, inside.parts))
        listed = git(top, "ls-tree", "-r", "-z", "--name-only", commit, "--", str(fixed)) or b""
        for name in filter(None, listed.decode("utf-8", "replace").split("\0")):
            if not name.casefold().endswith((".yml", ".yaml", ".json", ".py", ".ipynb")):
                continue
            content = git(top, "show", f"{commit}:{name}")
            target = scratch / name
            if content is not None and target.resolve().is_relative_to(scratch.resolve()):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
    if not config.folder.is_relative_to(top):
        raise GraftError("graft.yml is not in the repository", place=str(config.folder))
    return scratch / config.folder.relative_to(top)
