"""Tasks in a review: what they ran since the base, and how they are declared now and there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.collectors import store
from dbt_graft.collectors.declared.source import declared_files
from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.graft.config import Config
from dbt_graft.graft.dbt_relations import dbt_platform, dbt_relations
from dbt_graft.graft.past import Moment
from dbt_graft.graft.pipeline import renames
from dbt_graft.graft.review_files import BaseFiles
from dbt_graft.graft.sources import task_infos
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.manifest import projects
from dbt_graft.injector.matching import short_names
from dbt_graft.lineage.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.foreign_models import with_foreign_models
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Evidence, Records, TaskInfo
from dbt_graft.lineage.review.node_change import NodeReview
from dbt_graft.lineage.review.task_runs import runs_beyond, runs_since
from dbt_graft.lineage.review.tasks import TaskSurroundings, declared_reviews, run_reviews


@dataclass(frozen=True, slots=True)
class TasksReviewed:
    """The tasks that changed, and what could not be compared.

    Attributes:
        files: Declared task -> its file, of this version or else of the base.
    """

    nodes: tuple[NodeReview, ...] = ()
    notices: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def base_moment(old: Artifacts) -> Moment | None:
    """When the base was built, by its manifest."""
    made = (old.manifest.get("metadata") or {}).get("generated_at")
    try:
        at = datetime.fromisoformat(str(made))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return Moment(at.astimezone(UTC), f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC")


def reviewed_runs(
    config: Config,
    new: Artifacts,
    since: Moment | None,
    base_store: str | None,
    described: DescribedLineage | None,
) -> TasksReviewed:
    """The tasks whose runs since the base do other things than before.

    Args:
        since: When the base was built; None where nobody knows.
        base_store: The store of the base build; None where it is the same store.
        described: The lineage of now; None without a store.

    Raises:
        GraftError: A store cannot be read.
    """
    if described is None:
        return TasksReviewed()
    names = _Names(config, new)
    records = names.records(config.path(config.store))
    if base_store is not None:
        if store.collected_at(base_store) is None:
            raise GraftError("is no lineage store", place=base_store, remedy="name a folder")
        found, when = runs_beyond(records, names.records(base_store)), "the base's store"
    elif since is None:
        problem = "the base's manifest has no time: tasks' statements are not compared"
        return TasksReviewed(notices=(f"{problem}; name one with --since",))
    else:
        found, when = runs_since(records, since.at), since.text
    if found.is_empty:
        has_tasks = any(one.evidence is Evidence.OBSERVED for one in records.accesses)
        text = f"no task has run since {when}: their statements are not compared"
        return TasksReviewed(notices=(text,) if has_tasks else ())
    infos = task_infos(config)
    before, after = (names.lineage(one, infos) for one in (found.before, found.since))
    around = TaskSurroundings(
        _writers(described.lineage), {names.rename(one) for one in found.known}
    )
    return TasksReviewed(run_reviews(before, after, around))


def reviewed_declarations(
    config: Config,
    new: Artifacts,
    base: BaseFiles,
    base_store: str | None,
    described: DescribedLineage | None,
) -> TasksReviewed:
    """The tasks that are declared otherwise than in the base.

    Without files of the base, what the store has declared stands for them.

    Raises:
        GraftError: A file of declared lineage is not valid.
    """
    paths = [one.declared.path for one in config.collect if one.declared]
    if not paths:
        return TasksReviewed()
    names, notices = _Names(config, new), []
    now, then = _Declared(), _Declared()
    place = base_store or config.path(config.store)
    for path in paths:
        now.add(config.path(path), path)
        if base.is_known:
            try:
                then.add(base.path(path) or "", path)
            except GraftError as error:
                text = base.shown(str(error))
                notices.append(f"declared lineage {path} is not compared: in the base {text}")
                now.drop(path)
        elif store.collected_at(place) is None:
            notices.append(f"declared lineage {path} is not compared: the base has none")
            now.drop(path)
        else:
            then.records[path] = _stored(names.records(place), path)
    if not base.is_known and then.records:
        then.infos = now.infos  # The store has none.
    before, after = (names.lineage(one.all_records, one.infos) for one in (then, now))
    lineage = described.lineage if described else Lineage()
    shown = _writers(lineage, (Evidence.OBSERVED, Evidence.INFERRED))
    known = {*before.datasets, *(described.descriptions if described else ())}
    known |= {
        one.dataset
        for task in lineage.tasks.values()
        for one in task.usages
        if one.evidence is not Evidence.DECLARED
    }
    around = TaskSurroundings(_both(_writers(after), shown), known)
    nodes = declared_reviews(before, after, lineage, around)
    gone = {name: str(base.here(Path(path))) for name, path in then.files.items()}
    return TasksReviewed(nodes, tuple(notices), {**gone, **now.files})


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
        some = self.records.values()
        return Records(
            accesses=tuple(access for one in some for access in one.accesses),
            column_edges=tuple(edge for one in some for edge in one.column_edges),
        )


class _Names:
    """Records and lineages under the names that datasets have in the project."""

    def __init__(self, config: Config, new: Artifacts) -> None:
        self._config = config
        short = short_names(
            new.manifest, dbt_relations(config, new), dbt_platform(config, new.adapter)
        )
        self._short, self._projects = short, projects(new.manifest)
        self.rename: Rename = renames(config, short)
        self._read: dict[str, Records] = {}

    def records(self, place: str) -> Records:
        """The records of a store: each run counts."""
        if place not in self._read:
            records = store.read(place, folded=False)
            self._read[place] = with_foreign_models(records, self._projects)
        return self._read[place]

    def lineage(self, records: Records, infos: Mapping[str, TaskInfo]) -> Lineage:
        """The lineage of some records."""
        config = self._config
        return build(
            records,
            self.rename,
            infos,
            infer_columns=config.lineage.infer_columns,
            one_name=replace(config.one_name, apart=self._short.spelled),
            ignore=config.lineage.ignore_tasks,
        )


def _stored(records: Records, label: str) -> Records:
    """What a store has declared of an entry of graft.yml."""
    begin = f"declared:{label}#"
    return Records(
        accesses=tuple(one for one in records.accesses if one.origin.startswith(begin)),
        column_edges=tuple(one for one in records.column_edges if one.origin.startswith(begin)),
    )


def _writers(
    lineage: Lineage, evidence: Collection[Evidence] = tuple(Evidence)
) -> dict[DatasetId, set[str]]:
    """Dataset -> the tasks, models and views that write it, by some evidence."""
    found: dict[DatasetId, set[str]] = defaultdict(set)
    for dataset in lineage.datasets:
        found[dataset] |= {o.task for o in lineage.writers(dataset) if o.evidence in evidence}
    for definition in lineage.definitions.values():
        found[definition.dataset].add(definition.name)
    return found


def _both(
    first: Mapping[DatasetId, set[str]], second: Mapping[DatasetId, set[str]]
) -> dict[DatasetId, set[str]]:
    return {key: first.get(key, set()) | second.get(key, set()) for key in {*first, *second}}
