"""The code of tasks in a review: what it does now, and in the base."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.task_code import ReachedColumn, code_reviews
from dbt_graft.collectors.python_code.code_cache import CodeCache
from dbt_graft.collectors.python_code.script import ReadFile
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.task_codes import TaskCodes, checkout_of
from dbt_graft.graft.questions.review.code_files import changed_code, naming_files
from dbt_graft.graft.questions.review.files import BaseFiles
from dbt_graft.graft.questions.review.git import commit_reader
from dbt_graft.graft.questions.review.names import ReviewNames
from dbt_graft.graft.questions.review.tasks_reviewed import TasksReviewed
from dbt_graft.lineage.building.task_code import records_of_code, written_datasets
from dbt_graft.lineage.code import TaskCode
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ANY_COLUMN, Records


def compare_code(config: Config, names: ReviewNames, base: str, files: BaseFiles) -> TasksReviewed:
    """The tasks whose code does other things than in the base.

    Args:
        base: A folder, or a revision of git.
        files: Those of a folder.
    """
    codes = TaskCodes(config)
    if not (codes.files or config.python_code):
        return TasksReviewed()
    is_folder = Path(base).is_dir()
    read_file = _read_beside(files) if is_folder else commit_reader(config.folder, base)
    if read_file is None or files.folder is None:
        return TasksReviewed(
            notices=("the code of tasks is not compared: the base has no files of it",)
        )
    earlier = TaskCodes(config, files.folder, read_file)
    now, then = _versions(codes, earlier)
    changed = {
        name
        for name in now.keys() | then.keys()
        if name not in now or name not in then or now[name].syntax != then[name].syntax
    }
    differing = changed_code(config, base, files.folder, earlier.read_file, codes.read_file)
    used: dict[str, set[str]] = defaultdict(set)
    for version, of_version in ((codes, now), (earlier, then)):
        for name, code in of_version.items():
            used[name].update(version.cache.files(code))
    unread = set(differing).difference(*used.values())
    named = naming_files({*chain(*used.values())} if unread else (), unread, codes.read_file)
    naming = {(name, other) for name in now for file in used[name] for other in named.get(file, ())}
    notices = _notices(unread.difference(file for _, file in naming))
    chosen = changed | {name for name, _ in naming}
    if not chosen:
        return TasksReviewed(notices=notices)
    store = names.records(config.path(config.store))
    infos = config.task_infos

    def lineage_of(version: Mapping[str, TaskCode]) -> Lineage:
        of_version = {name: code for name, code in version.items() if name in chosen}
        return names.lineage(records_of_code(store, of_version), infos)

    files_of = {
        name: [file for file in differing if file in used[name] or (name, file) in naming]
        for name in chosen
    }
    reached = {
        name: _reached_columns(codes, earlier, names, name, files_of[name], store)
        for name in changed & then.keys() & now.keys() & codes.files.keys()
    }
    nodes = code_reviews(
        {name: code for name, code in then.items() if name in chosen},
        {name: code for name, code in now.items() if name in chosen},
        lineage_of(then),
        lineage_of(now),
        infos,
        reached,
        files_of,
    )
    paths = {name: str(Path(config.path((now.get(name) or then[name]).file))) for name in chosen}
    return TasksReviewed(nodes, notices, files=paths)


def _versions(
    codes: TaskCodes, earlier: TaskCodes
) -> tuple[dict[str, TaskCode], dict[str, TaskCode]]:
    """The code of tasks now and in the base, of those whose script is there.

    A task that one of them finds is looked up in the other, where it may not be seen to write.
    """
    now, then = codes.codes_here(), earlier.codes_here()
    for first, second, version in ((now, then, earlier), (then, now, codes)):
        for name, code in first.items():
            if name not in second and version.has_task(code.file, name):
                second[name] = version.cache.code(code.file, name)
    return now, then


def _notices(unread: Iterable[str]) -> tuple[str, ...]:
    """A note on changed files that are no task's; none without them."""
    if not (listed := sorted(unread)):
        return ()
    names = join_names(listed, 3)
    verb = "is" if len(listed) == 1 else "are"
    return (f"{names} changed and {verb} of no task: what that does to data is not known",)


def _reached_columns(
    codes: TaskCodes,
    earlier: TaskCodes,
    names: ReviewNames,
    task: str,
    files: Sequence[str],
    store: Records,
) -> set[ReachedColumn]:
    """The columns and rows that another expression in a file changes; none if it is not clear.

    Args:
        files: Those of the task that changed.
    """
    if len(files) != 1 or not files[0].endswith((".py", ".ipynb")):
        return set()
    script, file = codes.files[task], files[0]
    old = earlier.read_file(file) or b""
    # Only this file may be another: what the others do now is what they did.
    mixed = CodeCache(None, lambda path: old if path == file else codes.read_file(path))
    if mixed.code(script, task).syntax != earlier.cache.code(script, task).syntax:
        return set()
    # Importing it takes longer than a review in which no script has changed.
    from dbt_graft.collectors.python_code.probe import changed_outputs

    edges = changed_outputs(old, file, codes.read_file, task, script)
    datasets = written_datasets(store, task, codes.cache.code(script, task))
    if any(edge.to_table not in datasets for edge in edges):
        return set()
    return {
        (names.rename(datasets[edge.to_table]), edge.to_column.replace(ANY_COLUMN, ""))
        for edge in edges
    }


def _read_beside(files: BaseFiles) -> ReadFile:
    top = checkout_of(files.folder) if files.folder else None

    def read_file(file: str) -> bytes | None:
        path = files.path(file)
        try:
            is_inside = path and top and Path(path).resolve().is_relative_to(top)
            return Path(path).read_bytes() if path and is_inside else None
        except (OSError, ValueError):
            return None

    return read_file
