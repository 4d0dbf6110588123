"""Texts of nodes that link to the catalog: descriptions, and the URLs of exposures.

In the site's own docs page links are relative. The written artifacts are also read by
`dbt docs serve` and other tools: there they lead to `site.url`, or there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_graft.injector import inherited, prose
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.nodes import NodeContext
from dbt_graft.injector.plan import GraftPlan
from dbt_graft.injector.relations import Relations
from dbt_graft.injector.report import BuiltDataset, IsNamed
from dbt_graft.lineage import urls
from dbt_graft.lineage.definition import DefinitionKind

_PARTS = ("nodes", "sources", "exposures")


def with_texts(
    manifest: Mapping[str, Any],
    relations: Relations,
    graft_plan: GraftPlan,
    context: NodeContext,
    site: str,
    is_named: IsNamed,
) -> dict[str, Any]:
    """Return a grafted manifest with the texts of its nodes.

    Args:
        site: The URL of the site's home, relative or absolute, ending in a slash; empty if the
            texts shall have no links.
    """
    parts = {part: dict(manifest.get(part) or {}) for part in _PARTS}
    for node_id, fields in _texts(relations, graft_plan, context, site, is_named):
        for nodes in parts.values():
            if node := nodes.get(node_id):
                nodes[node_id] = {**node, **fields}
    return {**manifest, **parts}


def _texts(
    relations: Relations,
    graft_plan: GraftPlan,
    context: NodeContext,
    site: str,
    is_named: IsNamed,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Node id -> its fields with links, for all nodes that stand for datasets and tasks."""
    writers = {
        built.node_id: tasks
        for built in graft_plan.report.second_writers
        if (tasks := [*filter(is_named, built.tasks)])
    }
    original = context.original
    for node_id, dataset in relations.datasets.items():
        node = original["nodes"].get(node_id) or original["sources"].get(node_id) or {}
        note = prose.also_written_by(writers[node_id], site) if node_id in writers else ""
        if link := prose.paragraphs(note, prose.catalog_link(dataset, site)):
            description = str(node.get("description") or "")
            yield node_id, {"description": prose.paragraphs(description, link)}
    for built in graft_plan.report.models:
        yield built.node_id, {"description": _model(built, context, site, is_named)}
    for new_source in graft_plan.report.new_sources:
        views = filter(is_named, new_source.views)
        text = prose.read_by(filter(is_named, new_source.tasks), views, site)
        description = inherited.event_description(new_source.dataset, context.lineage)
        text = prose.paragraphs(description, text, prose.catalog_link(new_source.dataset, site))
        yield new_source.node_id, {"description": text}
    for exposure in graft_plan.report.exposures:
        task = context.lineage.tasks[exposure.task]
        page = site + urls.task_path(task.name) if site else None
        yield (
            exposure.node_id,
            {"description": prose.reads(task, site), "url": prose.web(task.info.url) or page},
        )


def _model(built: BuiltDataset, context: NodeContext, site: str, is_named: IsNamed) -> str:
    tasks = [context.lineage.tasks[name] for name in built.tasks if is_named(name)]
    sources: list[Node] = [context.original["sources"][source] for source in built.sources]
    view = None if built.tasks else context.lineage.definition(built.dataset, DefinitionKind.VIEW)
    if view:
        text = prose.view_of(view, site)
    else:
        usages = context.lineage.writers(built.dataset)
        text = prose.built_by(tasks, (usage for usage in usages if is_named(usage.task)), site)
    return prose.paragraphs(
        *inherited.descriptions(sources),
        inherited.event_description(built.dataset, context.lineage, sources),
        text,
        prose.catalog_link(built.dataset, site),
    )
