"""dbt's artifacts as an audience may see them: for the docs page of its site.

What is shown is listed: the fields that dbt's page reads. All others are left out, whatever a later
version of dbt writes into them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.records import rename_keys
from dbt_graft.analysis.audience.view import code_left_out
from dbt_graft.analysis.audience.words import Mentions
from dbt_graft.injector import slim
from dbt_graft.injector.audience_nodes import (
    DATA,
    DEFINITIONS,
    NodeIds,
    named_nodes,
    nearest_datasets,
    without_hidden,
)
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.report import BuiltDataset, Grafted, NewSource, Report
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage

_Made = TypeVar("_Made", BuiltDataset, NewSource)
_METADATA = frozenset(
    ("dbt_schema_version", "dbt_version", "generated_at", "project_name", "adapter_type")
)
_BELONGING = slim.PAGE_FIELDS | {
    *("label", "type", "type_params", "tags", "meta", "config", "original_file_path", "fqn", "url"),
    *("owner", "maturity", "group", "model", "entities", "dimensions", "measures", "filter"),
    *("metrics", "given", "expect", "query_params", "access", "docs", "columns"),
    *("arguments", "returns", "raw_code", "compiled_code", "language", "version", "node_relation"),
}
_FIELDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(DATA, slim.NODE_FIELDS | slim.TEST_FIELDS | {"refs", "attached_node"}),
    **dict.fromkeys((*DEFINITIONS, "exposures"), frozenset(_BELONGING)),
    "macros": slim.MACRO_FIELDS | {"resource_type"},
    "docs": slim.DOC_FIELDS | {"unique_id", "resource_type"},
    "groups": frozenset(("name", "resource_type", "package_name", "unique_id", "owner")),
}
_CONFIG = frozenset(
    ("enabled", "materialized", "tags", "meta", "group", "access", "contract", "severity")
)
_COLUMN = slim.COLUMN_FIELDS | {"data_type", "tags"}
_ENTRY = slim.ENTRY_FIELDS | {"unique_id", "columns"}
# The newest row of a source, in `meta` and in the statistics of the model that it is.
_NEWEST = frozenset(("max_loaded_at", "graft_freshness_max_loaded_at"))


def visible_artifacts(
    grafted: Grafted,
    view: AudienceView,
    datasets: NodeIds,
    described: DescribedLineage,
) -> Grafted:
    """The graft of which the site for an audience is made.

    Args:
        datasets: unique_id -> the dataset of each node and source, sources before the graft too.
        described: The lineage that the audience may see.
    """
    hidden, names = view.hidden.datasets, view.names
    tasks = {consumer.name for consumer in described.consumers} | set(described.lineage.tasks)
    report = grafted.report
    no_code = code_left_out(grafted.lineage, view)

    def shown(manifest: Node) -> dict[str, Any]:
        return visible_manifest(manifest, view, datasets, no_code)

    def is_named(maker: str | DatasetId) -> bool:
        return maker in view.tasks if isinstance(maker, str) else maker not in hidden

    return Grafted(
        manifest=shown(grafted.manifest),
        catalog=visible_catalog(grafted.catalog, view, datasets),
        dbt_nodes={
            dataset: names(node_id)
            for dataset, node_id in grafted.dbt_nodes.items()
            if dataset not in hidden
        },
        linked_to=lambda site, _: shown(grafted.linked_to(site, is_named)),
        touched=described.lineage,
        describe=lambda: described,
        report=Report(
            promoted=_visible_records(report.promoted, view),
            added=_visible_records(report.added, view),
            new_sources=_visible_records(report.new_sources, view),
            exposures=tuple(
                exposure
                for exposure in rename_keys(report.exposures, names)
                if exposure.task in tasks
            ),
        ),
        undo={},
        index=grafted.index.emptied() if grafted.index else None,
        before={"nodes": {}, "sources": {}, "parent_map": {}},
    )


def _visible_records(records: tuple[_Made, ...], view: AudienceView) -> tuple[_Made, ...]:
    shown_records = tuple(
        replace(record, tasks=tuple(task for task in record.tasks if task in view.tasks))
        for record in records
        if record.dataset not in view.hidden.datasets
    )
    visible: tuple[_Made, ...] = rename_keys(shown_records, view.names)
    return visible


def visible_manifest(
    manifest: Node, view: AudienceView, datasets: NodeIds, no_code: Collection[DatasetId] = ()
) -> dict[str, Any]:
    """The manifest without what is hidden.

    Args:
        no_code: The datasets with code that is left out.
    """
    names = view.names
    members = named_nodes(manifest)
    gone = {key for key in members if key not in view.nodes}
    own = slim.hidden_packages(manifest)
    macros = manifest.get("macros") or {}
    gone |= {key for key, macro in macros.items() if macro.get("package_name") in own}
    result: dict[str, Any] = {"disabled": {}}
    for part, fields in _FIELDS.items():
        if isinstance(manifest.get(part), Mapping):
            result[part] = {
                names(key): _visible_node(
                    node, fields, view, datasets, nearest_datasets(node, datasets, members), no_code
                )
                for key, node in manifest[part].items()
                if key not in gone
            }
    maps = {
        part: {key: [*ids] for key, ids in (manifest.get(part) or {}).items()}
        for part in ("parent_map", "child_map", "group_map")
    }
    maps["parent_map"] = _all_parents(manifest) | maps["parent_map"]
    for part, neighbours in maps.items():
        result[part] = {
            names(key): [*map(names, _nearest_visible(ids, neighbours, gone))]
            for key, ids in neighbours.items()
            if key not in gone
        }
    groups = {str(group.get("name")) for group in (result.get("groups") or {}).values()}
    result["group_map"] = {
        key: ids for key, ids in result["group_map"].items() if key in groups and ids
    }
    for part in ("nodes", "exposures", "macros", *DEFINITIONS):
        for key, node in (manifest.get(part) or {}).items():
            if key not in gone and isinstance(node.get("depends_on"), Mapping):
                depends = _visible_inputs(node["depends_on"], maps["parent_map"], gone)
                result[part][names(key)]["depends_on"] = {
                    kind: [*map(names, ids)] for kind, ids in depends.items()
                }
    return {"metadata": _select_fields(manifest["metadata"], _METADATA), **result}


def visible_catalog(catalog: Node, view: AudienceView, datasets: NodeIds) -> dict[str, Any]:
    """The catalog without what is hidden."""
    result: dict[str, Any] = {
        "metadata": _select_fields(catalog["metadata"], _METADATA),
        "errors": None,
    }
    for part in DATA:
        result[part] = {
            view.names(key): _visible_entry(entry, view, datasets.get(key))
            for key, entry in catalog[part].items()
            if key in view.nodes
        }
    return result


def _visible_node(
    node: Node,
    fields: Collection[str],
    view: AudienceView,
    datasets: NodeIds,
    nearest: Collection[DatasetId],
    no_code: Collection[DatasetId],
) -> dict[str, Any]:
    """The listed fields of a node, without columns and texts that are hidden."""
    listed = {key: value for key, value in node.items() if key in fields}
    if node.get("resource_type") != "test":
        # The page reads those of tests; of others they count hidden inputs.
        listed.pop("refs", None)
    graft = (listed.get("meta") or {}).get("graft")
    in_code = view.cut_all if datasets.get(_id(node)) in no_code else view.code_cuts(nearest)
    if isinstance(graft, Mapping) and "tasks" in graft:
        tasks = [task for task in graft["tasks"] if task in view.tasks]
        listed["meta"] = {**listed["meta"], "graft": {**graft, "tasks": tasks}}
        if len(tasks) < len(graft["tasks"]):
            in_code = view.cut_all
        if not view.shows_unlabelled:
            # It may be a file of the task's, in which anything may stand; statements are known.
            listed["raw_code"] = listed.get("compiled_code")
    if isinstance(listed.get("config"), Mapping):
        listed["config"] = _select_fields(listed["config"], _CONFIG)
    if isinstance(listed.get("columns"), Mapping):
        listed["columns"] = _columns(listed["columns"], _COLUMN, view, datasets.get(_id(node)))
    visible: dict[str, Any] = without_hidden(listed, view, _cuts(node, nearest, view), in_code)
    return visible


def _visible_entry(entry: Node, view: AudienceView, dataset: DatasetId | None) -> dict[str, Any]:
    listed = _select_fields(entry, _ENTRY)
    listed["metadata"] = _select_fields(listed.get("metadata") or {}, slim.METADATA_FIELDS)
    columns = listed.get("columns") or {}
    shown = _columns(columns, slim.TYPE_FIELDS | {"name"}, view, dataset)
    if len(shown) < len(columns):
        # Their places would show where hidden ones stand.
        placed = [column for column in shown.values() if isinstance(column, dict)]
        placed.sort(key=lambda column: int(column.get("index") or 0))
        for place, column in enumerate(placed, 1):
            column["index"] = place
    listed["columns"] = shown
    cut = _cuts(entry, [dataset] if dataset else (), view)
    visible: dict[str, Any] = without_hidden(listed, view, cut, cut)
    return visible


def _cuts(node: Node, datasets: Iterable[DatasetId], view: AudienceView) -> Mentions:
    """The question to texts of a node, which is true for the newest row where that is hidden."""
    cut = view.cuts(datasets)
    if _id(node) not in view.undated:
        return cut
    return lambda text: text in _NEWEST or cut(text)


def _columns(
    columns: Node, fields: Collection[str], view: AudienceView, dataset: DatasetId | None
) -> dict[str, Any]:
    return {
        key: _select_fields(column, fields) if isinstance(column, Mapping) else column
        for key, column in columns.items()
        if dataset is None or not view.hidden.hides(dataset, key)
    }


def _select_fields(node: Node, fields: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key in fields}


def _id(node: Node) -> str:
    return str(node.get("unique_id"))


def _all_parents(manifest: Node) -> dict[str, list[str]]:
    """The parents of nodes that are in no map of the manifest."""
    return {
        key: [*(depends.get("nodes") or ())]
        for key, node in named_nodes(manifest).items()
        if isinstance(depends := node.get("depends_on"), Mapping)
    }


def _visible_inputs(
    depends: Node, parents: Mapping[str, Iterable[str]], gone: Collection[str]
) -> dict[str, Iterable[str]]:
    """The `depends_on` of a node, with what is behind hidden inputs in their place."""
    return {
        kind: _nearest_visible(ids, parents if kind == "nodes" else {}, gone)
        for kind, ids in depends.items()
        if kind in ("macros", "nodes")
    }


def _nearest_visible(
    ids: Collection[str] | None, neighbours: Mapping[str, Iterable[str]], gone: Collection[str]
) -> Iterator[str]:
    """The visible ones of ids, and after them those behind hidden ones.

    These are sorted: the places of hidden ones, and their names, are not to be seen.
    """
    shown = dict.fromkeys(key for key in ids or () if key not in gone)
    yield from shown
    behind: set[str] = set()
    seen: set[str] = set()
    waiting = [key for key in ids or () if key in gone]
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        if key in gone:
            waiting += neighbours.get(key) or ()
        elif key not in shown:
            behind.add(key)
    yield from sorted(behind)
