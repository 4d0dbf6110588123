"""The review of a project against a base: dbt's models, and tasks, by runs and as declared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.analysis.checks.contracts import KIND, match_contracts
from dbt_graft.analysis.review.contracts import contract_reviews
from dbt_graft.analysis.review.node_change import (
    NodeChange,
    NodeReview,
    ReviewVerdict,
    merge_reviews,
)
from dbt_graft.analysis.review.project import ProjectReview, ReviewImpact, review_impact
from dbt_graft.analysis.review.task_version import TaskVersion
from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.contracts import ContractFiles, read_contracts
from dbt_graft.graft.project.current_index import load_impact_index
from dbt_graft.graft.project.dbt_relations import dbt_relations
from dbt_graft.graft.project.impact_index import ImpactIndex
from dbt_graft.graft.project.task_codes import TaskCodes
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.review.base import base_artifacts
from dbt_graft.graft.questions.review.files import BaseFiles, base_files
from dbt_graft.graft.questions.review.models import compare_artifacts, outline_cache
from dbt_graft.graft.questions.review.places import with_files
from dbt_graft.graft.questions.review.tasks_reviewed import TasksReviewed
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from dbt_graft.lineage.described import DescribedLineage
_ONLY_DBT = "nothing was collected yet: no task is compared, and the impact is on dbt alone"


def review_project(
    config: Config, new: Artifacts, base: str, base_store: str | None, since: Moment | None
) -> ProjectReview:
    """The review of a project with these artifacts.

    Args:
        base: A folder, or a revision of git.
        base_store: The lineage store of the base build: new runs are those that it lacks.
        since: New runs are those since then; by default since the base's manifest was made.

    Raises:
        GraftError: The base or the project cannot be read.
    """
    old = base_artifacts(base, config.target_dir)
    index = load_impact_index(config)
    has_store = collected_at(config.path(config.store)) is not None
    outlines = outline_cache(config)
    nodes, notices = compare_artifacts(old, new, outlines)
    outlines.write()
    notices = notices if has_store else (*notices, _ONLY_DBT)
    declared = [entry.declared.path for entry in config.collect if entry.declared]
    scripts = [entry.path for entry in config.python_code]
    with base_files(base, config, [*declared, *config.contracts, *scripts]) as files:
        tasks = TasksReviewed()
        if has_store or declared or base_store or scripts or TaskCodes(config).files:
            tasks = _tasks(config, old, new, base, base_store, since, files, has_store=has_store)
        datasets = {*index.graph.datasets, *index.around.descriptions}
        contracts = _compare_contracts(config, files, datasets, index.datasets.others)
    all_nodes = tuple(
        sorted(
            (*nodes, *tasks.nodes, *contracts.nodes), key=lambda o: (-o.verdict, o.kind, o.node_id)
        )
    )
    impact = _impact(config, old, all_nodes, index, tasks.now)
    return ProjectReview(base, all_nodes, impact, (*notices, *tasks.notices, *contracts.notices))


def _tasks(
    config: Config,
    old: Artifacts,
    new: Artifacts,
    base: str,
    base_store: str | None,
    since: Moment | None,
    files: BaseFiles,
    *,
    has_store: bool,
) -> TasksReviewed:
    """Tasks by their runs and as they are declared."""
    # Importing these takes longer than a review without tasks.
    from dbt_graft.graft.questions.review.code import compare_code
    from dbt_graft.graft.questions.review.declared import compare_declarations
    from dbt_graft.graft.questions.review.names import ReviewNames
    from dbt_graft.graft.questions.review.tasks import base_moment, compare_runs

    asked = AskedLineage(config)

    def described() -> DescribedLineage:
        return asked.described

    names = ReviewNames(config, new, lambda: described().lineage.names.former)
    when = since or base_moment(old)
    ran = compare_runs(config, names, when, base_store, described if has_store else None)
    declarations = compare_declarations(config, names, files, base_store, described)
    code = compare_code(config, names, base, files)
    merged = merge_reviews(ran.nodes, declarations.nodes, code.nodes)
    nodes = with_files(merged, config, {**code.files, **declarations.files})
    return TasksReviewed(nodes, (*ran.notices, *declarations.notices, *code.notices), ran.now)


def _impact(
    config: Config,
    old: Artifacts,
    nodes: tuple[NodeReview, ...],
    index: ImpactIndex,
    now: Mapping[str, TaskVersion],
) -> ReviewImpact:
    datasets: dict[str, DatasetId] = dict(dbt_relations(config, old).datasets)
    for dataset, description in index.around.descriptions.items():
        datasets |= dict.fromkeys((description.node_id, *description.dbt_ids), dataset)
    return review_impact(index.graph, nodes, datasets, index.around, now)


def _compare_contracts(
    config: Config,
    base: BaseFiles,
    datasets: Collection[DatasetId],
    others: Callable[[], Mapping[DatasetId, DatasetId]],
) -> TasksReviewed:
    """The contracts that promise something else than in the base.

    Args:
        datasets: Those that contracts can mean.
        others: Other names of them.
    """
    if not config.contracts:
        return TasksReviewed()
    if not base.is_known:
        text = "data contracts are not compared: the base is a folder without them"
        return TasksReviewed(notices=(text,))
    new, old = read_contracts(config), _read_base(config, base)
    notices = [
        f"a data contract is not compared: in the base {base.shown(str(fault))}"
        for fault in old.faults
    ]
    damaged = [str(fault) for fault in (*new.faults, *old.faults)]
    before, after = (
        [
            contract
            for contract in files.contracts
            if not any(Path(contract.file).name in text for text in damaged)
        ]
        for files in (old, new)
    )
    meant: dict[tuple[str, str], set[DatasetId]] = defaultdict(set)
    matches = match_contracts([*before, *after], datasets, others())
    for contract, table, dataset in matches.tables:
        meant[contract.id, table.names[-1]].add(dataset)
    nodes = [
        replace(node, file=str(base.here(Path(node.file))))
        for node in contract_reviews(before, after, meant)
    ]
    return TasksReviewed((*nodes, *map(_unreadable, new.faults)), tuple(notices))


def _unreadable(fault: GraftError) -> NodeReview:
    file = fault.place or str(fault).partition(": ")[0]
    file = file.rpartition(":")[0] if file.rpartition(":")[2].isdigit() else file
    change = NodeChange(ReviewVerdict.UNKNOWN, f"cannot be read: {fault.problem}")
    return NodeReview(f"contract:{Path(file).name}", KIND, file, (change,))


def _read_base(config: Config, base: BaseFiles) -> ContractFiles:
    """The contracts of the base; a pattern that names none there is no fault."""
    paths = [path for written in config.contracts if (path := base.path(written))]
    files = read_contracts(replace(config, contracts=tuple(paths)), keep=False)
    return ContractFiles(
        files.contracts, [fault for fault in files.faults if fault.place not in paths]
    )
