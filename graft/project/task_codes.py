"""The code of the project's tasks: their scripts in the checkout, followed once a content."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.python_code.code_cache import CodeCache
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.code import UNKNOWN_PART, CodeMatch, TaskCode

if TYPE_CHECKING:
    from dbt_graft.collectors.python_code.script import ReadFile

_CACHE = "code_cache.json"


class TaskCodes:
    """The scripts of tasks.

    A task's script is what `code` in graft.yml names, or `path` where that is a file below the
    checkout; those below `collect: - python` are of the tasks that are called like them, or of the
    tasks of Airflow in them, where one file alone has a task of that id.
    Only files of the checkout are read: the repository that holds graft.yml, or its folder.

    Args:
        folder: What stands for the folder of graft.yml in another version.
        read_file: Reads that version's files.
    """

    def __init__(
        self, config: Config, folder: Path | None = None, read_file: ReadFile | None = None
    ) -> None:
        self._config = config
        self._folder = (folder or config.folder).resolve()
        self._top = checkout_of(self._folder)
        # Of each script all that it may import is looked for, several times over.
        self.read_file: ReadFile = cache(read_file or self._read_here)
        path = Path(config.path(config.artifacts)) / _CACHE if read_file is None else None
        self.cache = CodeCache(path, self.read_file)

    @cached_property
    def files(self) -> dict[str, str]:
        """Task -> its script, as a path from the folder of graft.yml."""
        files: dict[str, str] = {}
        files_by_id: dict[str, set[str]] = defaultdict(set)
        for entry in self._config.python_code:
            pattern = re.compile(entry.task)
            for path in self._scripts(entry.path):
                file = self._relative(path)
                ids = self.cache.airflow_tasks(file)
                for task_id in ids:
                    files_by_id[task_id].add(file)
                if (match := pattern.fullmatch(path.stem)) and not ids:
                    files[match["task"]] = file
        for task_id, with_id in files_by_id.items():
            if len(with_id) == 1:
                files[task_id] = min(with_id)
        for name, task in self._config.tasks.items():
            text = task.code or task.path
            if task.code or (text.endswith(".py") and "://" not in text and self._is_here(text)):
                files[name] = self._relative(self._path(text))
        return dict(sorted(files.items()))

    def digests(self) -> Iterator[str]:
        """A line for each task that changes with its code."""
        for name, file in self.files.items():
            yield f"{name} {file} {self.cache.digest(file)}"

    def codes(self) -> dict[str, TaskCode]:
        """The code of each task."""
        return {name: self.cache.code(file, name) for name, file in self.files.items()}

    def codes_here(self) -> dict[str, TaskCode]:
        """The code of each task whose script is here, other tasks of Airflow too."""
        codes = {**self.other_codes(), **self.codes()}
        return {name: code for name, code in codes.items() if self.read_file(code.file) is not None}

    def has_task(self, file: str, name: str) -> bool:
        """Whether a script is here, and has the task if it has tasks of Airflow."""
        return self.read_file(file) is not None and self.cache.has_task(file, name)

    def other_codes(self) -> dict[str, TaskCode]:
        """The tasks of Airflow that are not seen to write, or of which several files have the id.

        They have the names of their files before their ids.
        """
        codes = {}
        for entry in self._config.python_code:
            for file in map(self._relative, self._scripts(entry.path)):
                if file in self.files.values() and not self.cache.airflow_tasks(file):
                    continue  # all of it is the code of a task
                for task_id in self.cache.all_airflow_tasks(file):
                    if self.files.get(task_id) != file:
                        name = f"{Path(file).stem}.{task_id}".replace(UNKNOWN_PART, "…")
                        codes[name] = self.cache.code(file, name)
        return codes

    def write(self) -> None:
        """Keep what was followed for the next build."""
        self.cache.write()

    def _is_here(self, text: str) -> bool:
        try:
            return self.read_file(self._relative(self._path(text))) is not None
        except (OSError, ValueError):
            return False  # a path of somewhere else

    def _path(self, written: str) -> Path:
        """The path of an entry of graft.yml, in this version."""
        inside = os.path.relpath(self._config.path(written), self._config.folder.resolve())
        return Path(os.path.normpath(self._folder / inside))

    def _scripts(self, written: str) -> Iterable[Path]:
        path = self._path(written)
        if has_magic(path.as_posix()):
            return sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        if not path.is_dir():
            return [path]
        # An environment beside the scripts has ten thousand of others.
        return [file for file in sorted(path.rglob("*.py")) if dbt_folders.is_own(file, path)]

    def _relative(self, path: Path) -> str:
        return Path(os.path.relpath(path, self._folder)).as_posix()

    def _read_here(self, file: str) -> bytes | None:
        """The content of a file of the checkout; None for any other."""
        try:
            path = (self._folder / file).resolve()
            if path.is_relative_to(self._top) and path.is_file():
                return path.read_bytes()
        except (OSError, ValueError):
            pass
        return None


def explained_text(matches: Iterable[CodeMatch]) -> str:
    """`14 of 16 columns`, of those that no log explains; empty where there are none."""
    listed = list(matches)
    explained = sum(match.verified for match in listed)
    written = explained + sum(match.unexplained for match in listed)
    if not written:
        return ""
    return f"{explained:,} of {count(written, 'column')}"


def checkout_of(folder: Path) -> Path:
    """The repository that holds a folder; itself where there is none."""
    return next(
        (parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder
    )
