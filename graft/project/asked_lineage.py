"""The lineage of a project as a question about single things asks it: by its index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from dbt_graft.graft.project.collected import note_dbt_alone
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.index_files import LINEAGE_FILE, IndexFiles
from dbt_graft.graft.project.lineage_index import GraftFacts, LineageIndex, stored_part
from dbt_graft.graft.project.names import Named, Names, RunName, lineage_names
from dbt_graft.graft.project.view import NOW, LineageView
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage

if TYPE_CHECKING:
    from dbt_graft.graft.project.project import Project


class AskedLineage:
    """The lineage that a view of a project shows, with the records that show it."""

    def __init__(self, config: Config, view: LineageView = NOW) -> None:
        self.config, self.view = config, view

    @cached_property
    def index(self) -> LineageIndex:
        """The lineage and its records: those of the file, if it is of now; else it is written.

        Raises:
            GraftError: Nothing was collected yet, or the project cannot be read.
        """
        if index := stored_part(LineageIndex, self._sections):
            if not index.collected:
                note_dbt_alone(self.config)
            return index
        # Importing it takes longer than reading a file.
        from dbt_graft.graft.project.built_indexes import build_index

        return build_index(self.project, self.view, self._files)

    @cached_property
    def facts(self) -> GraftFacts:
        """The facts of the graft that checks ask for; its errors are those of the index."""
        return stored_part(GraftFacts, self._sections) or self.project.graft_facts(self.view)

    @cached_property
    def _files(self) -> IndexFiles | None:
        return IndexFiles(self.config) if self.view == NOW else None

    @cached_property
    def _sections(self) -> Mapping[str, memoryview]:
        return (self._files.read(LINEAGE_FILE) if self._files else None) or {}

    @cached_property
    def project(self) -> Project:
        """The project itself, for what its index does not have."""
        # Importing it takes longer than all that is asked of an index.
        from dbt_graft.graft.project.project import Project

        return Project(self.config)

    @property
    def described(self) -> DescribedLineage:
        """The lineage with dbt's part and YAML."""
        return self.index.described

    @cached_property
    def _names(self) -> Names:
        return lineage_names(self.described, self.index.names)

    def with_runs(self, runs_of: Callable[[Lineage], Collection[str]]) -> DescribedLineage:
        """The lineage with all runs of some tasks."""
        # A past state is read with all runs.
        folded = () if self.view.past else self.index.folded
        if not folded or folded.isdisjoint(runs_of(self.described.lineage)):
            return self.described
        return self.project.described_graft(self.view, runs_of)[0]

    def find(self, name: str, task: str | None = None) -> Named | RunName:
        """The dataset, column, task, dashboard or run that a name means.

        Args:
            task: The task of a run: needed where several have it, and for the `last`.

        Raises:
            GraftError: There is none, or several are meant.
        """
        if task is not None:
            return RunName(name, task)
        if not self._names.matches(name) and self.tasks_of_run(name):
            return RunName(name)
        return self._names.find(name)

    def find_dataset(self, name: str) -> DatasetId:
        """The dataset that a name means.

        Raises:
            GraftError: There is none, several are meant, or it is something else.
        """
        return self._names.dataset(name)

    def tasks_of_run(self, run_id: str) -> set[str]:
        """The tasks with runs of an id, or below one of them."""
        records = self.index.records
        tasks = {access.task for access in records.accesses if access.run_id == run_id}
        tasks |= {
            run.task
            for run in records.runs
            if run_id in (run.run_id, run.parent_run_id, run.application_id)
        }
        if tasks:
            return tasks
        # What is folded has no ids of its runs; the store has them.
        from dbt_graft.collectors.store.selected import tasks_of_runs

        return tasks_of_runs(self.config.path(self.config.store), [run_id])
