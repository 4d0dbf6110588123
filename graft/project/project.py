"""A project: its records, its lineage and its graft, read in one way for all commands.

Nothing else in this room reads records of the store or builds a lineage of them, so that one
graft.yml gives one graph, whichever command asks, with dbt's artifacts and without.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.collectors.store.read import read
from dbt_graft.collectors.store.selected import read_selected
from dbt_graft.collectors.store.taints import recorded_taints
from dbt_graft.graft.project.collected import check_collected
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.damaged_store import read_rest
from dbt_graft.graft.project.dbt_folders import PROJECT_FILE
from dbt_graft.graft.project.dbt_relations import (
    dbt_names,
    dbt_platform,
    dbt_relations,
    find_dbt_file,
)
from dbt_graft.graft.project.declared import read_declared, task_infos
from dbt_graft.graft.project.lineage_index import GraftFacts, LineageIndex
from dbt_graft.graft.project.names import all_names, lineage_names
from dbt_graft.graft.project.past import past_records
from dbt_graft.graft.project.task_codes import TaskCodes
from dbt_graft.graft.project.view import NOW, LineageView
from dbt_graft.injector import artifacts as dbt_artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.dbt_lineage import dbt_columns
from dbt_graft.injector.manifest import projects
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.platform import Platform
from dbt_graft.injector.relations import Relations, ShortNames, short_names
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.building.build import build, join_records
from dbt_graft.lineage.building.task_code import with_task_code
from dbt_graft.lineage.code import TaskCode
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage, task_consumer
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.garbage import without_garbage_collection
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Column, Dataset, Records, Reject, TaskInfo
from dbt_graft.lineage.settings import LineageSettings

if TYPE_CHECKING:
    from dbt_graft.collectors.dbt.column_cache import ColumnCache
    from dbt_graft.collectors.dbt.columns import ModelCount
    from dbt_graft.graft.project.column_texts import ColumnTexts


@frozen
class DbtPart:
    """dbt's artifacts, and how their relations are called.

    Attributes:
        relations: The relations of the manifest, as datasets.
        short_names: Names in logs that lack a part of a relation's name.
    """

    artifacts: Artifacts
    platform: Platform
    relations: Relations
    short_names: ShortNames


class Project:
    """A project as its graft.yml describes it.

    Args:
        warn: Called with a message about a file that is left out.
        tolerant: Do without damaged batches of the store, which `damaged` names. `unnamed` are the
            rejects that were left out as no entry of `collect` names their logs.
        artifacts: dbt's artifacts, where they are others than those of the target folder.
        unreadable: Logs that the last collect could not read.
    """

    def __init__(
        self,
        config: Config,
        *,
        warn: Callable[[str], None] = lambda _message: None,
        tolerant: bool = False,
        artifacts: Artifacts | None = None,
        unreadable: Sequence[Reject] = (),
    ) -> None:
        self.config = config
        self.damaged: tuple[Reject, ...] = ()
        self.unnamed: tuple[Reject, ...] = ()
        self.task_codes = TaskCodes(config)
        self._warn, self._tolerant, self._unreadable = warn, tolerant, unreadable
        self._artifacts = artifacts
        self._records: dict[LineageView, Records] = {}
        self._lineages: dict[LineageView, Lineage] = {}
        self._grafted: dict[LineageView, Grafted] = {}
        self._described: dict[LineageView, tuple[DescribedLineage, Grafted | None]] = {}

    @cached_property
    def column_cache(self) -> ColumnCache:
        """The known columns of dbt's models, in a file."""
        from dbt_graft.collectors.dbt.column_cache import ColumnCache

        return ColumnCache(self._artifacts_folder / "column_cache.json")

    @cached_property
    def column_texts(self) -> ColumnTexts:
        """Their JSON in the grafted manifest, in a file."""
        from dbt_graft.graft.project.column_texts import ColumnTexts

        return ColumnTexts(self._artifacts_folder / "column_texts.json")

    @property
    def _artifacts_folder(self) -> Path:
        return Path(self.config.path(self.config.artifacts))

    @cached_property
    def dbt(self) -> DbtPart | None:
        """dbt's part; None where dbt has written no artifacts yet.

        Raises:
            GraftError: They are damaged.
        """
        config, artifacts = self.config, self._artifacts
        if artifacts is None:
            if not (config.target_dir / "manifest.json").exists():
                return None
            with without_garbage_collection(), no_deep_values(config):
                artifacts = dbt_artifacts.read(config.target_dir)
        platform, relations = (
            dbt_platform(config, artifacts.adapter),
            dbt_relations(config, artifacts),
        )
        names = short_names(artifacts.manifest, relations, platform)
        return DbtPart(artifacts, platform, relations, names)

    @cached_property
    def rename(self) -> Rename:
        """The name of a dataset of the logs by the rules of graft.yml, in dbt's spelling."""
        if self.dbt is None:
            return self.config.name_rules
        return dbt_names(self.config, self.dbt.short_names)

    @cached_property
    def settings(self) -> LineageSettings:
        """The settings of graft.yml for the lineage.

        Raises:
            GraftError: A file of declared lineage is not valid.
        """
        return self._settings(task_infos(self.config), self.task_codes.codes())

    def _settings(
        self, infos: Mapping[str, TaskInfo], codes: Mapping[str, TaskCode]
    ) -> LineageSettings:
        config, section = self.config, self.config.lineage
        one_name = config.one_name
        if self.dbt:
            one_name = replace(one_name, apart=self.dbt.short_names.spelled)
        return LineageSettings(
            infos=infos,
            failed=section.failed,
            infer_columns=section.infer_columns,
            projects=self._dbt_projects(),
            one_name=one_name,
            dates=read_declared(config).dates,
            ignore=section.ignore_tasks,
            codes=codes,
        )

    def _dbt_projects(self) -> Collection[str] | None:
        """Our own dbt projects; None where there is one whose manifest dbt has not written yet."""
        if self.dbt:
            return projects(self.dbt.artifacts.manifest)
        config = self.config
        is_meant = config.dbt.target_dir or (config.project_dir / PROJECT_FILE).exists()
        return None if is_meant else ()

    def records(self, view: LineageView = NOW) -> Records:
        """The records of the store, under the names of the logs.

        Raises:
            StoreError: The store is damaged, and must be whole; or it cannot be read at all.
            GraftError: It has nothing as old as the view.
        """
        if view not in self._records:
            store_folder, past = self.config.path(self.config.store), view.past
            read_store = partial(
                read,
                store_folder,
                results=view.results,
                results_until=past.at if past else None,
                folded=not (view.every_run or past),
                newest=view.results,
                rename=None if view.every_run else self.rename,
            )
            if self._tolerant:
                records, self.damaged = read_rest(
                    store_folder, lambda without: read_store(without=without)
                )
            else:
                records = read_store()
            records = past_records(store_folder, records, past)
            self._records[view] = self._with_rejects(records)
        return self._records[view]

    def joined_records(self, view: LineageView = NOW) -> Records:
        """The records of the store, with each run of events once, as the lineage has it."""
        return join_records(self.records(view), self.settings.projects)

    def lineage(self, view: LineageView = NOW) -> Lineage:
        """The lineage of the logs."""
        if view not in self._lineages:
            self._lineages[view] = self.build(self.records(view))
        return self._lineages[view]

    def build(
        self,
        records: Records,
        rename: Rename | None = None,
        infos: Mapping[str, TaskInfo] | None = None,
    ) -> Lineage:
        """The lineage of other records, by the settings of this project.

        Args:
            rename: The name of a dataset of the logs; by default the project's.
            infos: What people wrote of tasks; by default in this project. With others the code of
                today is left out: that of those records may be another.
        """
        settings = self.settings if infos is None else self._settings(infos, {})
        return build(records, rename or self.rename, settings)

    def grafted(
        self,
        view: LineageView = NOW,
        *,
        inspect: bool = False,
        count: ModelCount | None = None,
    ) -> Grafted:
        """The lineage grafted onto dbt's artifacts, with labels and contracts.

        Args:
            inspect: Report what was wrong with dbt's artifacts before.
            count: Counts the models whose SQL is read.

        Raises:
            GraftError: There are no artifacts, or they are damaged.
        """
        # Importing them takes as long as reading a store, and not all who read one graft.
        from dbt_graft.collectors.dbt.columns import ModelCount
        from dbt_graft.collectors.dbt.columns import dbt_columns as model_columns
        from dbt_graft.graft.project.contracts import add_contracts
        from dbt_graft.graft.project.dbt_labels import with_dbt_labels
        from dbt_graft.injector.graft import graft

        config = self.config
        with without_garbage_collection(), no_deep_values(config):
            # Without any, reading them says which file is missing.
            dbt = self.dbt or self._missing()
            read_models, relations = dbt.artifacts, dbt.relations
            columns = model_columns(
                *(read_models.manifest, read_models.catalog, relations.datasets),
                *(self.column_cache, count or ModelCount()),
                partial(find_dbt_file, config, relations),
            )
            options = self._options(dbt, inspect=inspect)
            grafted = graft(
                *(read_models, self.lineage(view), options, relations, columns, self.column_texts)
            )
            grafted = with_dbt_labels(config, read_models, grafted)
        self._grafted[view] = add_contracts(grafted, config, self._warn)
        return self._grafted[view]

    def described(self, view: LineageView = NOW) -> DescribedLineage:
        """The lineage with dbt's part and YAML; of the logs alone, or of dbt alone, if need be.

        Raises:
            GraftError: Nothing was collected yet, and there are no artifacts.
        """
        return self.described_graft(view)[0]

    def described_graft(
        self,
        view: LineageView = NOW,
        runs_of: Callable[[Lineage], Collection[str]] | None = None,
    ) -> tuple[DescribedLineage, Grafted | None]:
        """As `described`, and the graft that it is from; None without artifacts.

        Args:
            runs_of: The tasks of a lineage whose runs are all needed.
        """
        if view not in self._described:
            self._described[view] = self._describe(view)
        described, grafted = self._described[view]
        # A past state is read with all runs.
        if runs_of and not view.past and (tasks := runs_of(described.lineage)):
            lineage = described.lineage.with_runs(self._lineage_of(tasks, view))
            described = replace(described, lineage=lineage)
        return described, grafted

    def lineage_index(self, view: LineageView = NOW) -> LineageIndex:
        """The lineage for questions about single things."""
        described, records = self.described(view), self.records(view)
        folded = {repeats.task for repeats in records.run_repeats}
        folded |= {repeats.task for repeats in records.usage_repeats}
        joined = join_records(records, self.settings.projects)
        shown = with_task_code(joined, self.settings.codes)[0]
        return LineageIndex(
            described,
            # Most of the rest are edges and columns, which the lineage has.
            replace(shown, column_edges=(), datasets=()),
            self.log_names(view),
            self.dbt.short_names if self.dbt else None,
            frozenset(folded),
            collected_at(self.config.path(self.config.store)) is not None,
        )

    def graft_facts(self, view: LineageView = NOW) -> GraftFacts:
        """The facts of the graft that checks ask for, beside its lineage."""
        grafted = self.described_graft(view)[1]
        if self.dbt is None or grafted is None:
            return GraftFacts(None, None, ())
        columns = dbt_columns(self.dbt.artifacts, self.dbt.relations)
        logged = (_rename_dataset(dataset, self.rename) for dataset in self.records(view).datasets)
        return GraftFacts(grafted.report, columns, tuple(logged))

    def log_names(self, view: LineageView = NOW) -> dict[DatasetId, DatasetId]:
        """Each name of a dataset, in logs too -> the dataset; of temporary tables as well."""
        logged = dict.fromkeys(access.dataset for access in self.records(view).accesses)
        return all_names(self.described(view).lineage, logged, self.rename)

    def find_dataset(self, name: str, view: LineageView = NOW) -> DatasetId:
        """The dataset that a name means.

        Raises:
            GraftError: There is none, several are meant, or it is something else.
        """
        return lineage_names(self.described(view), self.log_names(view)).dataset(name)

    def _describe(self, view: LineageView) -> tuple[DescribedLineage, Grafted | None]:
        check_collected(self.config, view.past)
        taints = recorded_taints(self.config.path(self.config.store))
        if self.dbt:
            grafted = self._grafted.get(view) or self.grafted(view)
            lineage = grafted.lineage
            lineage = replace(
                lineage,
                # Made once: whoever asks for a field of them would make them again.
                column_edges=ColumnEdges.of(lineage.column_edges),
                history=replace(lineage.history, taints=taints),
            )
            return replace(grafted.described, lineage=lineage), grafted
        from dbt_graft.graft.project.contracts import matched_contracts, read_contracts

        lineage = self.lineage(view)
        matches = matched_contracts(read_contracts(self.config).contracts, lineage)
        columns = matches.partitions()
        history = replace(lineage.history, partition_columns=columns, taints=taints)
        lineage = replace(lineage, history=history)
        readers = [
            task_consumer(lineage, task.name, f"task:{task.name}")
            for task in sorted(lineage.tasks.values(), key=lambda task: task.name)
            if task.only_reads
        ]
        consumers = (*readers, *matches.consumers(lineage.tasks))
        return DescribedLineage(lineage, {}, consumers), None

    def _lineage_of(self, tasks: Collection[str], view: LineageView) -> Lineage:
        """The lineage with all runs of some tasks."""
        store_folder = self.config.path(self.config.store)
        with without_garbage_collection():
            records = read_selected(store_folder, tasks, results=view.results, rename=self.rename)
            return self.build(self._with_rejects(records))

    def _with_rejects(self, records: Records) -> Records:
        """Records with what could not be read, without the rejects of logs that nothing names."""
        if records.rejects:
            # Importing it takes longer than reading a file.
            from dbt_graft.graft.project.sources import unnamed_rejects

            self.unnamed = unnamed_rejects(self.config, records)
        left_out = {*self.unnamed}
        named = [reject for reject in records.rejects if reject not in left_out]
        rejects = (*named, *self._unreadable, *self.damaged)
        return replace(records, rejects=tuple(dict.fromkeys(rejects)))

    def write_caches(self) -> None:
        """Keep what was parsed for the next build."""
        self.column_cache.write()
        self.column_texts.write()
        self.task_codes.write()

    def _missing(self) -> DbtPart:
        dbt_artifacts.read(self.config.target_dir)
        raise GraftError("there are no artifacts of dbt", place=str(self.config.target_dir))

    def _options(self, dbt: DbtPart, *, inspect: bool) -> GraftOptions:
        # A bracket would end the link in Markdown.
        site = self.config.site.url.replace("(", "%28").replace(")", "%29").rstrip("/")
        return GraftOptions(
            dbt.platform.namespace,
            f"{site}/" if site else "",
            tags=self.config.dbt.tags,
            inspect=inspect,
            code=self.config.published_code(self._warn),
        )


def _rename_dataset(dataset: Dataset, rename: Rename) -> Dataset:
    """A dataset under its name of today; types of another platform are not dbt's."""
    name = rename(dataset.id)
    if name.namespace == dataset.id.namespace:
        return replace(dataset, id=name)
    return replace(dataset, id=name, columns=tuple(Column(c.name) for c in dataset.columns))


@contextmanager
def no_deep_values(config: Config) -> Iterator[None]:
    """Refuse artifacts with values that are nested too deeply, while they are read or written."""
    try:
        yield
    except RecursionError as error:
        place = str(config.target_dir)
        raise GraftError("a value in an artifact is nested too deeply", place=place) from error
