"""The code of tasks in a review: what it does now, and in the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from dbt_graft.analysis.review.task_code import ReachedColumn, code_reviews
from dbt_graft.collectors.python_code.code_cache import CodeCache
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.task_codes import TaskCodes
from dbt_graft.graft.questions.review.files import BaseFiles
from dbt_graft.graft.questions.review.git import commit_reader
from dbt_graft.graft.questions.review.names import ReviewNames
from dbt_graft.graft.questions.review.tasks_reviewed import TasksReviewed
from dbt_graft.lineage.building.task_code import records_of_code, written_datasets
from dbt_graft.lineage.code import TaskCode
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ANY_COLUMN, Records

_ReadFile = Callable[[str], bytes | None]


def compare_code(config: Config, names: ReviewNames, base: str, files: BaseFiles) -> TasksReviewed:
    """The tasks whose code does other things than in the base.

    Args:
        base: A folder, or a revision of git.
        files: Those of a folder.
    """
    codes = TaskCodes(config)
    if not codes.files:
        return TasksReviewed()
    is_folder = Path(base).is_dir()
    read_file = _read_beside(files) if is_folder else commit_reader(config.folder, base)
    if read_file is None or (is_folder and not files.is_known):
        return TasksReviewed(
            notices=("the code of tasks is not compared: the base has no files of it",)
        )
    earlier = CodeCache(None, read_file)
    now = codes.codes()
    then = {
        name: earlier.code(file, name)
        for name, file in codes.files.items()
        if read_file(file) is not None
    }
    changed = {name for name in now if name not in then or now[name].syntax != then[name].syntax}
    if not changed:
        return TasksReviewed()
    store = names.records(config.path(config.store))
    infos = config.task_infos

    def lineage_of(version: Mapping[str, TaskCode]) -> Lineage:
        chosen = {name: code for name, code in version.items() if name in changed}
        return names.lineage(records_of_code(store, chosen), infos)

    reached = {
        name: _reached_columns(codes, names, name, read_file, store)
        for name in changed & then.keys()
    }
    nodes = code_reviews(
        {name: code for name, code in then.items() if name in changed},
        {name: now[name] for name in changed},
        lineage_of(then),
        lineage_of(now),
        infos,
        reached,
    )
    paths = {name: str(Path(config.path(codes.files[name]))) for name in changed}
    return TasksReviewed(nodes, files=paths)


def _reached_columns(
    codes: TaskCodes, names: ReviewNames, task: str, read_file: _ReadFile, store: Records
) -> set[ReachedColumn]:
    """The columns and rows that another expression in a script changes; none if it is not clear."""
    file = codes.files[task]
    old = read_file(file) or b""
    # Only the script may be another: what its modules do now is what they did.
    mixed = CodeCache(None, lambda path: old if path == file else codes.read_file(path))
    if mixed.code(file, task).syntax != CodeCache(None, read_file).code(file, task).syntax:
        return set()
    # Importing it takes longer than a review in which no script has changed.
    from dbt_graft.collectors.python_code.probe import changed_outputs

    edges = changed_outputs(old, file, codes.read_file, task)
    datasets = written_datasets(store, task, codes.codes()[task])
    if any(edge.to_table not in datasets for edge in edges):
        return set()
    return {
        (names.rename(datasets[edge.to_table]), edge.to_column.replace(ANY_COLUMN, ""))
        for edge in edges
    }


def _read_beside(files: BaseFiles) -> _ReadFile:
    def read_file(file: str) -> bytes | None:
        path = files.path(file)
        try:
            return Path(path).read_bytes() if path else None
        except OSError:
            return None

    return read_file
