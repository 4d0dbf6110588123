"""A project against a base: its models, tasks and contracts, and what comes of their changes."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.analysis.review.merged import merge_reviews
from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.analysis.review.project import ProjectReview, ReviewImpact, review_impact
from dbt_graft.analysis.review.task_version import TaskVersion
from dbt_graft.collectors import store
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dbt_relations import dbt_relations
from dbt_graft.graft.project.impact_graph import impact_graph, surroundings
from dbt_graft.graft.project.past import Moment
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.questions.review.base import base_artifacts
from dbt_graft.graft.questions.review.contracts import compare_contracts
from dbt_graft.graft.questions.review.declared import compare_declarations
from dbt_graft.graft.questions.review.files import base_files
from dbt_graft.graft.questions.review.models import compare_artifacts, outline_cache
from dbt_graft.graft.questions.review.names import ReviewNames
from dbt_graft.graft.questions.review.places import with_files
from dbt_graft.graft.questions.review.tasks import base_moment, compare_runs
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.dataset import DatasetId
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
    has_store = store.collected_at(config.path(config.store)) is not None
    described = Project(config).described()
    cache = outline_cache(config)
    nodes, notices = compare_artifacts(old, new, cache)
    cache.write()
    notices = notices if has_store else (*notices, _ONLY_DBT)
    names = ReviewNames(config, new, described.lineage.names.former)
    ran = compare_runs(
        config, names, since or base_moment(old), base_store, described if has_store else None
    )
    declared = [entry.declared.path for entry in config.collect if entry.declared]
    with base_files(base, config, [*declared, *config.contracts]) as files:
        declarations = compare_declarations(config, names, files, base_store, described)
        contracts = compare_contracts(config, files, described)
    tasks = with_files(merge_reviews(ran.nodes, declarations.nodes), config, declarations.files)
    all_nodes = tuple(
        sorted((*nodes, *tasks, *contracts.nodes), key=lambda o: (-o.verdict, o.kind, o.node_id))
    )
    impact = _impact(config, old, all_nodes, described, ran.now)
    notices = (*notices, *ran.notices, *declarations.notices, *contracts.notices)
    return ProjectReview(base, all_nodes, impact, notices)


def _impact(
    config: Config,
    old: Artifacts,
    nodes: tuple[NodeReview, ...],
    described: DescribedLineage,
    now: Mapping[str, TaskVersion],
) -> ReviewImpact:
    datasets: dict[str, DatasetId] = dict(dbt_relations(config, old).datasets)
    for dataset, description in described.descriptions.items():
        datasets |= dict.fromkeys((description.node_id, *description.dbt_ids), dataset)
    graph = impact_graph(config, described)
    return review_impact(graph, nodes, datasets, surroundings(described), now)
