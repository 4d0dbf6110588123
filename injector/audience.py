"""dbt's artifacts as an audience may see them: for the docs page of its site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dbt_graft.injector.manifest import Node
from dbt_graft.injector.report import Grafted, Report
from dbt_graft.lineage.audience.described import AudienceView
from dbt_graft.lineage.audience.words import LEFT_OUT, Mentions
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.model import Lineage

# What dbt and its docs page find nodes by.
_IDS = frozenset(
    (
        *("unique_id", "name", "path", "original_file_path", "fqn", "alias", "schema", "database"),
        *("identifier", "resource_type", "package_name", "checksum", "relation_name", "tags"),
        *("depends_on", "refs", "sources", "patch_path", "root_path", "attached_node", "loader"),
        *("source_name", "group", "materialized", "language"),
    )
)
_CODE = frozenset(("raw_code", "compiled_code", "macro_sql", "raw_sql", "compiled_sql"))
# Parts of which a node is left out if it names what is hidden: their code is their definition.
_DEFINITIONS = ("metrics", "semantic_models", "saved_queries", "unit_tests", "functions")
_OTHERS = ("macros", "docs", "exposures", "selectors")


def visible_artifacts(
    grafted: Grafted,
    view: AudienceView,
    datasets: Mapping[str, DatasetId],
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    consumers: tuple[Consumer, ...],
) -> Grafted:
    """The graft of which the site for an audience is made.

    Args:
        datasets: unique_id -> the dataset of each node and source, sources before the graft too.
        lineage, descriptions, consumers: What the audience may see.
    """
    hidden = view.hidden.datasets
    tasks = {one.name for one in consumers} | set(lineage.tasks)
    report = grafted.report

    def shown(manifest: Node) -> dict[str, Any]:
        return visible_manifest(manifest, view, datasets)

    return replace(
        grafted,
        manifest=shown(grafted.manifest),
        catalog=visible_catalog(grafted.catalog, view, datasets),
        dbt_nodes={key: one for key, one in grafted.dbt_nodes.items() if key not in hidden},
        linked_to=lambda site: shown(grafted.linked_to(site)),
        describe=lambda: descriptions,
        consume=lambda: consumers,
        touched=lineage,
        join=lambda: lineage,
        report=Report(
            promoted=tuple(one for one in report.promoted if one.dataset not in hidden),
            added=tuple(one for one in report.added if one.dataset not in hidden),
            new_sources=tuple(one for one in report.new_sources if one.dataset not in hidden),
            exposures=tuple(one for one in report.exposures if one.task in tasks),
        ),
    )


def visible_manifest(
    manifest: Node, view: AudienceView, datasets: Mapping[str, DatasetId]
) -> dict[str, Any]:
    """The manifest without what is hidden."""
    near = _near(manifest, datasets)
    hidden = {one for one, dataset in datasets.items() if dataset in view.hidden.datasets}
    gone = hidden | set(_faulty(manifest, view, near)) | set(_without_inputs(manifest, hidden))
    names = {str(_nodes(manifest)[one].get("name")) for one in hidden if one in _nodes(manifest)}
    result: dict[str, Any] = {**manifest, "disabled": {}}
    for part in ("nodes", "sources", *_DEFINITIONS, *_OTHERS):
        if not isinstance(manifest.get(part), Mapping):
            continue
        result[part] = {
            key: _node(node, view, near(node), datasets.get(key), gone, names)
            for key, node in manifest[part].items()
            if key not in gone
        }
    parents = manifest.get("parent_map") or {}
    for part, around in (("parent_map", parents), ("child_map", manifest.get("child_map") or {})):
        result[part] = {
            key: [*dict.fromkeys(_around(ids, around, gone))]
            for key, ids in around.items()
            if key not in gone
        }
    for part in ("nodes", "exposures", *_DEFINITIONS):
        for key, node in (result.get(part) or {}).items():
            depends = node.get("depends_on")
            if isinstance(depends, Mapping) and not gone.isdisjoint(depends.get("nodes") or ()):
                shown = [*dict.fromkeys(_around(depends["nodes"], parents, gone))]
                result[part][key] = {**node, "depends_on": {**depends, "nodes": shown}}
    return result


def visible_catalog(
    catalog: Node, view: AudienceView, datasets: Mapping[str, DatasetId]
) -> dict[str, Any]:
    """The catalog without what is hidden."""
    result = dict(catalog)
    for part in ("nodes", "sources"):
        found = {}
        for key, entry in catalog[part].items():
            dataset = datasets.get(key)
            if dataset in view.hidden.datasets:
                continue
            mentions = view.words.mentions([dataset] if dataset else ())
            found[key] = _without(_columns(entry, view, dataset), mentions)
        result[part] = found
    return result


def _nodes(manifest: Node) -> Mapping[str, Any]:
    return {**manifest["nodes"], **manifest["sources"]}


def _near(
    manifest: Node, datasets: Mapping[str, DatasetId]
) -> Callable[[Any], tuple[DatasetId, ...]]:
    """The datasets that a node is about: its own, its inputs', that of its test."""

    def near(node: Any) -> tuple[DatasetId, ...]:
        if not isinstance(node, Mapping):
            return ()
        depends = node.get("depends_on")
        ids = [node.get("unique_id"), node.get("attached_node")]
        ids += (depends.get("nodes") or []) if isinstance(depends, Mapping) else []
        return tuple(datasets[one] for one in ids if isinstance(one, str) and one in datasets)

    return near


def _faulty(
    manifest: Node, view: AudienceView, near: Callable[[Any], tuple[DatasetId, ...]]
) -> Iterator[str]:
    """Tests of what is hidden, and nodes that are all definition and name it."""
    for key, node in manifest["nodes"].items():
        if node.get("resource_type") != "test":
            continue
        about = near(node)
        kwargs = (node.get("test_metadata") or {}).get("kwargs")
        named = view.words.parts(about)
        column = str(node.get("column_name") or "")
        if (
            key in view.tests
            or named(f"{node.get('name')} {column}")
            or any(view.hidden.hides(one, column) for one in about[:1] if column)
            or any(map(named, _texts(kwargs)))
        ):
            yield key
    for part in _DEFINITIONS:
        for key, node in (manifest.get(part) or {}).items():
            if any(map(view.words.mentions(near(node)), _texts(node))):
                yield key


def _without_inputs(manifest: Node, hidden: set[str]) -> Iterator[str]:
    """Exposures that read nothing but what is hidden."""
    for key, node in (manifest.get("exposures") or {}).items():
        inputs = set((node.get("depends_on") or {}).get("nodes") or ())
        if inputs and inputs <= hidden:
            yield key


def _around(
    ids: Iterable[str], parents: Mapping[str, Iterable[str]], gone: set[str]
) -> Iterator[str]:
    """Ids, with those behind hidden ones in their place."""
    seen: set[str] = set()
    waiting = [*ids][::-1]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in gone:
            waiting += parents.get(one) or ()
        else:
            yield one


def _node(
    node: Any,
    view: AudienceView,
    near: tuple[DatasetId, ...],
    dataset: DatasetId | None,
    gone: set[str],
    names: set[str],
) -> Any:
    if not isinstance(node, Mapping):
        return node
    found = _without(_columns(node, view, dataset), view.words.mentions(near))
    if names:
        for key in ("refs", "sources"):
            if isinstance(found.get(key), list):
                found[key] = [one for one in found[key] if names.isdisjoint(_texts(one))]
    return found


def _columns(node: Node, view: AudienceView, dataset: DatasetId | None) -> dict[str, Any]:
    columns = node.get("columns")
    if dataset is None or not isinstance(columns, Mapping):
        return dict(node)
    shown = {key: one for key, one in columns.items() if not view.hidden.hides(dataset, str(key))}
    return {**node, "columns": shown}


def _without(value: Any, mentions: Mentions) -> Any:
    """A value of JSON in which text that names what is hidden is empty, and such keys are gone."""
    if isinstance(value, str):
        return "" if mentions(value) else value
    if isinstance(value, list):
        return [_without(one, mentions) for one in value]
    if isinstance(value, Mapping):
        found = {}
        for key, one in value.items():
            if key in _IDS:
                found[key] = one
            elif key in _CODE:
                left = isinstance(one, str) and mentions(one)
                found[key] = f"-- {LEFT_OUT}" if left else one
            elif not mentions(str(key)):
                found[key] = _without(one, mentions)
        return found
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key)
            yield from _texts(one)
