"""Declared lineage in a review: how tasks are declared now, and in the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from dbt_graft.analysis.review.tasks import TaskSurroundings, declared_reviews
from dbt_graft.collectors.declared.facts import declared_files
from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.questions.review.files import BaseFiles
from dbt_graft.graft.questions.review.names import ReviewNames, writers_of
from dbt_graft.graft.questions.review.tasks_reviewed import TasksReviewed
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Evidence, Records, TaskInfo


def compare_declarations(
    config: Config,
    names: ReviewNames,
    base: BaseFiles,
    base_store: str | None,
    described: Callable[[], DescribedLineage],
) -> TasksReviewed:
    """The tasks that are declared otherwise than in the base.

    Without files of the base, what the store has declared stands for them.

    Args:
        described: Gives the lineage of now.

    Raises:
        GraftError: A file of declared lineage is not valid.
    """
    paths = [entry.declared.path for entry in config.collect if entry.declared]
    if not paths:
        return TasksReviewed()
    notices: list[str] = []
    now, then = _Declared(), _Declared()
    store_folder = base_store or config.path(config.store)
    for path in paths:
        now.add(config.path(path), path)
        if base.is_known:
            try:
                then.add(base.path(path) or "", path)
            except GraftError as error:
                text = base.shown(str(error))
                notices.append(f"declared lineage {path} is not compared: in the base {text}")
                now.drop(path)
        elif collected_at(store_folder) is None:
            notices.append(f"declared lineage {path} is not compared: the base has none")
            now.drop(path)
        else:
            then.records[path] = _select_declared(names.records(store_folder), path)
    if not base.is_known and then.records:
        then.infos = now.infos  # The store has none.
    before, after = (
        names.lineage(declared.all_records, declared.infos) for declared in (then, now)
    )
    now_described = described()
    lineage = now_described.lineage
    shown = writers_of(lineage, (Evidence.OBSERVED, Evidence.INFERRED))
    datasets = {*before.datasets, *now_described.descriptions}
    datasets |= {
        usage.dataset
        for task in lineage.tasks.values()
        for usage in task.usages
        if usage.evidence.is_of_runs
    }
    around = TaskSurroundings(_merge_writers(writers_of(after), shown), datasets)
    nodes = declared_reviews(before, after, lineage, around)
    gone = {name: str(base.here(Path(path))) for name, path in then.files.items()}
    return TasksReviewed(nodes, tuple(notices), files={**gone, **now.files})


class _Declared:
    """Declared lineage of one version."""

    def __init__(self) -> None:
        self.records: dict[str, Records] = {}
        self.infos: dict[str, TaskInfo] = {}
        self.files: dict[str, str] = {}

    def add(self, path: str, label: str) -> None:
        """Read the files of an entry of graft.yml."""
        self.records[label], files = declared_files(path, label)
        for file in files:
            self.infos = {**file.infos, **self.infos}
            self.files = {**dict.fromkeys(file.infos, str(file.path)), **self.files}

    def drop(self, label: str) -> None:
        """Leave out an entry."""
        self.records.pop(label, None)

    @property
    def all_records(self) -> Records:
        """Those of all entries."""
        entries = self.records.values()
        return Records(
            accesses=tuple(access for records in entries for access in records.accesses),
            column_edges=tuple(edge for records in entries for edge in records.column_edges),
        )


def _select_declared(records: Records, label: str) -> Records:
    """The records of a store that an entry of graft.yml declared."""
    begin = f"declared:{label}#"
    return Records(
        accesses=tuple(access for access in records.accesses if access.origin.startswith(begin)),
        column_edges=tuple(edge for edge in records.column_edges if edge.origin.startswith(begin)),
    )


def _merge_writers(
    first: Mapping[DatasetId, set[str]], second: Mapping[DatasetId, set[str]]
) -> dict[DatasetId, set[str]]:
    return {key: first.get(key, set()) | second.get(key, set()) for key in {*first, *second}}
