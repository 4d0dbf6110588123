"""The graft: from dbt's artifacts and the lineage of the logs to grafted copies.

The same inputs give the same bytes. Inputs are never modified. A manifest that is grafted already
is refused: a second graft would take our models for dbt's own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dbt_graft.analysis.checks.agreement import agreement
from dbt_graft.injector import groups, integrity, nodes, warehouse
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.checks import with_checks
from dbt_graft.injector.columns import FindText, edges_by_target, with_meta
from dbt_graft.injector.dbt_lineage import described_columns, own_lineage
from dbt_graft.injector.describe import consumers, descriptions
from dbt_graft.injector.manifest import all_nodes, materialized
from dbt_graft.injector.node_texts import with_texts
from dbt_graft.injector.nodes import NodeContext
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.plan import GraftPlan, plan
from dbt_graft.injector.promote import Promotion, promote
from dbt_graft.injector.relations import Relations, ShortNames, relations, short_names
from dbt_graft.injector.report import AmbiguousName, Grafted, name_all
from dbt_graft.injector.undo import Change, changes
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import NO_COLUMNS, DefinitionColumns
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage

# Set in the manifest's `metadata.env`, which dbt leaves to its users.
MARK = "DBT_GRAFT"


def graft(
    artifacts: Artifacts,
    lineage: Lineage,
    options: GraftOptions,
    dbt_relations: Relations | None = None,
    followed: DefinitionColumns = NO_COLUMNS,
    find_text: FindText = lambda _, make: make(),
) -> Grafted:
    """Graft the lineage of Python tasks onto dbt's artifacts.

    Args:
        lineage: The lineage of the logs, name rules applied.
        dbt_relations: The relations of the manifest, if the caller has them already.
        followed: The column edges of dbt's own models.
        find_text: See `with_meta`.

    Raises:
        GraftError: The manifest is grafted already.
    """
    manifest, catalog = artifacts.manifest, artifacts.catalog
    metadata = manifest.get("metadata") or {}
    if MARK in (metadata.get("env") or {}):
        raise GraftError(
            "the manifest is grafted already",
            remedy="use the target folder of dbt itself, not a grafted copy",
        )
    dbt_relations = dbt_relations or relations(manifest, options.namespace)
    lineage = with_checks(lineage, manifest, dbt_relations)

    compared = agreement(
        followed, lineage.dbt.column_edges, dbt_relations.builders, _views(manifest, dbt_relations)
    )
    followed = compared.columns

    def join_lineage(wanted: Collection[DatasetId] | None = None) -> Lineage:
        """The lineage of dbt and of the logs; dbt's spelling of names and its columns win."""
        dbt_lineage = own_lineage(manifest, catalog, dbt_relations, wanted, followed)
        return dbt_lineage.merge(lineage).merge(described_columns(manifest, dbt_relations, wanted))

    touched = join_lineage(lineage.datasets)
    graft_plan = plan(manifest, lineage, dbt_relations)

    grafted = promote(manifest, Promotion(manifest, graft_plan.report.promoted))
    grafted["metadata"] = {**metadata, "env": {**(metadata.get("env") or {}), MARK: "1"}}
    context = NodeContext(
        manifest, artifacts.freshness, touched, edges_by_target(touched.column_edges), options
    )
    grafted = _add_nodes(grafted, graft_plan, context)
    grafted = with_meta(
        *(grafted, catalog, followed.edges, context.edges, dbt_relations.builders, find_text)
    )
    linked_to = partial(with_texts, grafted, dbt_relations, graft_plan, context)
    grafted = linked_to(options.site, name_all)
    entries = _catalog(catalog, grafted, graft_plan, touched)

    def describe() -> DescribedLineage:
        return DescribedLineage(
            join_lineage(),
            descriptions(grafted, manifest, dbt_relations, graft_plan, lineage),
            consumers(manifest, dbt_relations, graft_plan, lineage),
        )

    return Grafted(
        manifest=grafted,
        catalog=entries,
        dbt_nodes=dbt_relations.builders,
        linked_to=linked_to,
        touched=touched,
        describe=describe,
        followed=followed,
        index=artifacts.index,
        before=manifest,
        report=replace(
            graft_plan.report,
            ambiguous=_ambiguous_names(
                dbt_relations, lineage, short_names(manifest, dbt_relations)
            ),
            column_differences=compared.differences,
            notices=(*artifacts.notices, *graft_plan.report.notices, *followed.notices),
            defects=tuple(integrity.check(manifest, catalog)) if options.inspect else (),
        ),
        undo=_undo(artifacts, grafted, entries),
    )


def _undo(
    artifacts: Artifacts, manifest: dict[str, Any], catalog: dict[str, Any]
) -> dict[str, list[Change] | None]:
    """The changes that restore dbt's artifacts; None for a file that dbt did not write."""
    undo: dict[str, list[Change] | None] = {
        name: [*changes(before, after), *artifacts.repairs.get(name, ())]
        for name, before, after in (
            ("manifest.json", artifacts.manifest, manifest),
            ("catalog.json", artifacts.catalog, catalog),
        )
    }
    return undo if artifacts.has_catalog else {**undo, "catalog.json": None}


def _views(manifest: Mapping[str, Any], dbt_relations: Relations) -> set[DatasetId]:
    """The datasets that dbt builds as views."""
    nodes = manifest["nodes"]
    return {
        dataset
        for dataset, node_id in dbt_relations.builders.items()
        if materialized(nodes[node_id]) == "view"
    }


def _ambiguous_names(
    dbt_relations: Relations, lineage: Lineage, short: ShortNames
) -> tuple[AmbiguousName, ...]:
    """Names with more than one match: several nodes on one relation, short names in logs."""
    full_names = group_by_key(
        (DatasetId(dataset.namespace, ".".join(dataset.parts[-2:])), dataset)
        for dataset in lineage.datasets
        if short.databases and len(dataset.parts) == 3 and not dataset.is_path
    )
    unresolved = (
        AmbiguousName(dataset, tuple(map(str, candidates)))
        for dataset in lineage.datasets
        if len(candidates := short.candidates(dataset)) > 1
        # Of a schema that neither dbt nor its profile places.
        or (candidates := tuple(full_names.get(dataset, ())))
    )
    twins = (
        AmbiguousName(dbt_relations.datasets[ids[0]], ids)
        for dataset, ids in sorted(dbt_relations.sources.items())
        if len(ids) > 1 and dataset not in dbt_relations.builders
        # Those that tasks write become one model.
        if lineage.readers(dataset) and not lineage.writers(dataset)
    )
    rivals = (AmbiguousName(dataset, ids) for dataset, ids in sorted(dbt_relations.rivals.items()))
    return (*rivals, *twins, *unresolved)


def _add_nodes(
    manifest: dict[str, Any], graft_plan: GraftPlan, context: NodeContext
) -> dict[str, Any]:
    """The manifest with the nodes and edges of the plan."""
    models = {
        built.node_id: nodes.model(built, graft_plan.parents[built.node_id], context)
        for built in sorted(graft_plan.report.models, key=lambda b: b.node_id)
    }
    sources = {
        new_source.node_id: nodes.source(new_source, context)
        for new_source in graft_plan.report.new_sources
    }
    manifest = {
        **manifest,
        "nodes": {**manifest["nodes"], **models},
        "sources": {**manifest["sources"], **sources},
    }
    everything = all_nodes(manifest)
    for model in models.values():
        upstream = [everything[parent] for parent in model["depends_on"]["nodes"]]
        model["refs"], model["sources"] = nodes.references(upstream)
    exposures = {
        exposure.node_id: nodes.exposure(
            exposure, everything, graft_plan.parents[exposure.node_id], context
        )
        for exposure in graft_plan.report.exposures
    }
    owner_groups = groups.groups(
        owner for model in models.values() for owner in model["meta"]["graft"].get("owners", ())
    )
    if owner_groups:
        manifest["groups"] = {**(manifest.get("groups") or {}), **owner_groups}
        manifest["group_map"] = groups.group_map(manifest.get("group_map"), models.values())
    return {
        **manifest,
        "exposures": {**(manifest.get("exposures") or {}), **exposures},
        **_maps(manifest, [*models, *sources, *exposures], graft_plan.parents),
    }


def _maps(
    manifest: Mapping[str, Any], added: list[str], parents: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """`parent_map` and `child_map` with the added nodes; both list every node, as dbt's do."""
    upstream, downstream = dict(manifest["parent_map"]), dict(manifest["child_map"])
    for node_id in added:
        upstream.setdefault(node_id, [])
        downstream.setdefault(node_id, [])
    for node_id, ids in parents.items():
        for parent in ids:
            _append_edge(upstream, node_id, parent)
            _append_edge(downstream, parent, node_id)
    return {"parent_map": upstream, "child_map": downstream}


def _append_edge(edges: dict[str, list[str]], key: str, node_id: str) -> None:
    node_ids = edges.get(key, [])
    if node_id not in node_ids:
        edges[key] = [*node_ids, node_id]


def _catalog(
    catalog: Mapping[str, Any], manifest: Mapping[str, Any], graft_plan: GraftPlan, lineage: Lineage
) -> dict[str, Any]:
    """The catalog with entries for the nodes of the plan, without those of promoted sources."""
    promoted = {source for built in graft_plan.report.promoted for source in built.sources}
    newest = warehouse.newest_start(lineage)
    models = {
        built.node_id: warehouse.entry(
            manifest["nodes"][built.node_id],
            built.dataset,
            [lineage.tasks[name] for name in built.tasks],
            [catalog["sources"][key] for key in built.sources if catalog["sources"].get(key)],
            lineage,
            newest,
        )
        for built in sorted(graft_plan.report.models, key=lambda b: b.node_id)
    }
    sources = {
        new_source.node_id: warehouse.entry(
            manifest["sources"][new_source.node_id], new_source.dataset, [], [], lineage
        )
        for new_source in graft_plan.report.new_sources
    }
    others = {key: entry for key, entry in catalog["sources"].items() if key not in promoted}
    return {
        **catalog,
        "nodes": {**catalog["nodes"], **models},
        "sources": {**others, **sources},
    }
