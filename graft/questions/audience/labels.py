"""The sight of an audience, and a check that all labels of a project say who may see what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from dbt_graft.analysis.audience.hidden import Audience
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.declared_labels import DeclaredLabels, UnknownLabel, has_labels
from dbt_graft.injector.audience_nodes import node_labels
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.sensitivity import labels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction

_SHOWN = 5  # things with an unknown label that an error names


def audience_of(
    config: Config, sees: Classification, described: DescribedLineage, manifest: Node
) -> Audience:
    """The audience of `site.audience`: without a word on it, it sees unlabelled data only where
    nobody labels anything.
    """
    classify = config.privacy.classification
    if config.site.unlabelled:
        return Audience(sees, config.site.unlabelled == "show", classify)
    is_labelled = (
        has_labels(config, described)
        or any(node_labels(manifest, ()))
        or any(_task_labels(described.lineage))
    )
    return Audience(sees, sees is max(Classification) or not is_labelled, classify)


def task_levels(lineage: Lineage, audience: Audience) -> dict[str, Classification]:
    """Task -> the classification that its tags name, where they name any."""
    levels = {
        name: audience.highest_of(labels([{"tags": task.info.tags}]))
        for name, task in lineage.tasks.items()
    }
    return {name: level for name, level in levels.items() if level is not None}


def tables_of_hidden_tasks(
    lineage: Lineage, levels: Mapping[str, Classification], audience: Audience
) -> dict[DatasetId, Classification]:
    """The tables that tasks with a label above write, each with the highest of these labels.

    Of what dbt builds too, dbt knows what is in it. No label of a task shows a table: nobody looked
    at its columns.
    """
    tables: dict[DatasetId, Classification] = {}
    for name, level in levels.items():
        if level > audience.sees:
            for usage in lineage.tasks[name].usages:
                built = lineage.definition(usage.dataset, DefinitionKind.DBT)
                if usage.direction is Direction.WRITE and usage.counts and not built:
                    tables[usage.dataset] = max(level, tables.get(usage.dataset, level))
    return tables


def check_labels(
    config: Config,
    described: DescribedLineage,
    manifest: Node,
    node_ids: Mapping[str, DatasetId],
    declared: DeclaredLabels,
) -> None:
    """Check that each label names a classification, and each pattern anything.

    Args:
        node_ids: The nodes of data, whose labels are among the declared ones.

    Raises:
        GraftError: Nobody knows what this audience may see of what is labelled so.
    """
    others = (
        UnknownLabel(label, node_id)
        for node_id, label in (*node_labels(manifest, node_ids), *_task_labels(described.lineage))
        if config.privacy.classification(label) is None
    )
    subjects: dict[str, dict[str, None]] = defaultdict(dict)
    for unknown in (*declared.unknown, *others):
        subjects[unknown.label][unknown.subject] = None
    problems = [
        f"`{label}` on {join_names([*named], _SHOWN)} is not among the classifications"
        for label, named in sorted(subjects.items())
    ]
    remedies = ["map it under `privacy: {labels: …}` in graft.yml"] if problems else []
    if declared.unmatched:
        patterns = ", ".join(f"`{pattern}`" for pattern in declared.unmatched)
        problems.append(
            f"no table or column has the name {patterns} of `privacy` in graft.yml, or an earlier "
            "pattern gives all of them a lower label"
        )
        remedies.append("correct the pattern, or put it first: what it should hide would be shown")
    if problems:
        raise GraftError(
            "\n".join(problems),
            place=f"the site for the audience {config.site.audience}",
            remedy="; ".join(remedies),
        )


def _task_labels(lineage: Lineage) -> Iterator[tuple[str, str]]:
    for name, task in lineage.tasks.items():
        for label in labels([{"tags": task.info.tags}]):
            yield f"the task {name}", label
