"""The files with code that differ between a base and now, and which tasks may use them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from pathlib import Path

from dbt_graft.collectors.python_code.code_cache import syntax_digest
from dbt_graft.collectors.python_code.script import ReadFile
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.task_codes import checkout_of
from dbt_graft.graft.questions.review.git import commit_of, git, nearest, top_of

_CODE = re.compile(r".*\.(?:py|ipynb|sql|hql|j2|sh|ya?ml|json|toml|ini|cfg)")
_NO_CODE = re.compile(
    r"(?:test_.*|.*_test|conftest)\.py|(?:dbt_project|packages|dependencies|graft)\.yml"
)
_WORD = re.compile(rb"[\w.\x80-\xff-]+")
_MOST_PARTS = 4
_TESTS = frozenset({"test", "tests"})
# Those of dbt's own files, which are compared as models.
_OF_DBT = re.compile(r"(?:models|macros|seeds|snapshots|analys[ei]s|tests)/.*")


def changed_code(
    config: Config, base: str, base_folder: Path, read_base: ReadFile, read_now: ReadFile
) -> list[str]:
    """The files with code that differ, as paths from the folder of graft.yml.

    Args:
        base: A folder, or a revision of git.
        base_folder: What stands for the folder of graft.yml there.
    """
    folder = config.folder.resolve()
    if Path(base).is_dir():
        top = checkout_of(folder)
        inside = os.path.relpath(folder, top)
        base_top = Path(os.path.normpath(base_folder / os.path.relpath(top, folder)))
        paths = {*_below(top, base_top), *_below(base_top, top)}
    else:
        top = top_of(folder) or folder
        inside = os.path.relpath(folder, top)
        paths = {*_git_changes(top, commit_of(base, nearest(folder)))}
    files = (Path(os.path.relpath(path, inside)).as_posix() for path in sorted(paths))
    listed = [file for file in files if _has_code(config, file)]
    return [file for file in listed if _digest(file, read_base) != _digest(file, read_now)]


def naming_files(
    files: Iterable[str], others: Collection[str], read_file: ReadFile
) -> dict[str, list[str]]:
    """For each file those of the others that it names, by their last part or as a module."""
    return {
        file: [other for other in others if not _names(other).isdisjoint(mentioned)]
        for file in files
        for mentioned in (_mentioned_names(read_file(file) or b""),)
    }


def _names(file: str) -> set[bytes]:
    """`config.json` of `conf/my config.json`; `helper.py`, `jobs.helper` of `jobs/helper.py`."""
    path = Path(file)
    names = [path.name]
    if path.suffix == ".py" and path.parent.name:
        names.append(f"{path.parent.name}.{path.stem}")
    words = (_WORD.findall(name.encode("utf-8", "surrogateescape")) for name in names)
    return {of_name[-1] for of_name in words if of_name}


def _mentioned_names(content: bytes) -> set[bytes]:
    """All that stands between dots in the words of a file: `a.b`, `b.c` and `a.b.c` of `a.b.c`."""
    names: set[bytes] = set()
    for word in {*_WORD.findall(content)}:
        parts = word.split(b".")
        for start, end in combinations(range(len(parts) + 1), 2):
            if end - start <= _MOST_PARTS:
                names.add(b".".join(parts[start:end]))
    return names


def _digest(file: str, read_file: ReadFile) -> str:
    return syntax_digest({file: read_file(file)})


def _has_code(config: Config, file: str) -> bool:
    """Whether a file may hold code of tasks."""
    path = Path(file)
    parts = [part for part in path.parts if part != ".."]
    if not _CODE.fullmatch(path.name) or _NO_CODE.fullmatch(path.name):
        return False
    in_project = os.path.relpath(config.path(file), config.project_dir)
    return (
        dbt_folders.is_own(Path(*parts), Path())
        and _TESTS.isdisjoint(parts)
        and not _OF_DBT.fullmatch(in_project)
    )


def _below(top: Path, without: Path) -> Iterator[str]:
    """The files below a folder but not below another one, as paths from it."""
    for folder, folders, names in os.walk(top):
        own = [name for name in folders if dbt_folders.is_own(top / name, top)]
        folders[:] = [name for name in own if Path(folder, name) != without]
        inside = os.path.relpath(folder, top)
        yield from (os.path.normpath(f"{inside}/{name}") for name in names)


def _git_changes(top: Path, commit: str) -> Iterator[str]:
    """The files that git has otherwise than at a commit, or does not have."""
    for command in (
        ("diff", "--name-only", "--no-renames", "-z", commit),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    ):
        listed = git(top, *command) or b""
        yield from filter(None, listed.decode("utf-8", "surrogateescape").split("\0"))
