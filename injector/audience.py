"""dbt's artifacts as an audience may see them: for the docs page of its site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from dbt_graft.injector.audience_values import texts, without_hidden
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.report import BuiltDataset, Grafted, NewSource, Report
from dbt_graft.lineage.audience.described import AudienceView
from dbt_graft.lineage.audience.records import renamed
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.model import Lineage

_Made = TypeVar("_Made", BuiltDataset, NewSource)
_LISTED = ("nodes", "sources")
# Parts of which a node is left out if it names what is hidden: their code is their definition.
_DEFINITIONS = ("metrics", "semantic_models", "saved_queries", "unit_tests", "functions")
_OTHERS = ("macros", "docs", "exposures", "selectors", "groups")


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
    hidden, names = view.hidden.datasets, view.names
    tasks = {one.name for one in consumers} | set(lineage.tasks)
    report = grafted.report

    def shown(manifest: Node) -> dict[str, Any]:
        return visible_manifest(manifest, view, datasets)

    return replace(
        grafted,
        manifest=shown(grafted.manifest),
        catalog=visible_catalog(grafted.catalog, view, datasets),
        dbt_nodes={key: names(one) for key, one in grafted.dbt_nodes.items() if key not in hidden},
        linked_to=lambda site: shown(grafted.linked_to(site)),
        describe=lambda: descriptions,
        consume=lambda: consumers,
        touched=lineage,
        join=lambda: lineage,
        report=Report(
            promoted=_shown(report.promoted, view),
            added=_shown(report.added, view),
            new_sources=_shown(report.new_sources, view),
            exposures=tuple(one for one in renamed(report.exposures, names) if one.task in tasks),
        ),
    )


def _shown(made: tuple[_Made, ...], view: AudienceView) -> tuple[_Made, ...]:
    shown = tuple(one for one in made if one.dataset not in view.hidden.datasets)
    found: tuple[_Made, ...] = renamed(shown, view.names)
    return found


def visible_manifest(
    manifest: Node, view: AudienceView, datasets: Mapping[str, DatasetId]
) -> dict[str, Any]:
    """The manifest without what is hidden."""
    near, names = _near(manifest, datasets), view.names
    hidden = {one for one, dataset in datasets.items() if dataset in view.hidden.datasets}
    gone = hidden | set(_faulty(manifest, view, near)) | set(_without_inputs(manifest, hidden))
    result: dict[str, Any] = {"disabled": {}}
    for part in (*_LISTED, *_DEFINITIONS, *_OTHERS):
        if isinstance(manifest.get(part), Mapping):
            result[part] = {
                names(key): without_hidden(
                    _columns(node, view, datasets.get(key)), view, view.words.mentions(near(node))
                )
                for key, node in manifest[part].items()
                if key not in gone
            }
    gone = {*map(names, gone)}
    around = {
        part: {names(key): [*map(names, ids)] for key, ids in (manifest.get(part) or {}).items()}
        for part in ("parent_map", "child_map", "group_map")
    }
    parents = around["parent_map"]
    for part, beside in around.items():
        result[part] = {
            key: [*dict.fromkeys(_around(ids, beside, gone))]
            for key, ids in beside.items()
            if key not in gone
        }
    for part in ("nodes", "exposures", *_DEFINITIONS):
        for key, node in (result.get(part) or {}).items():
            depends = node.get("depends_on")
            if isinstance(depends, Mapping) and not gone.isdisjoint(depends.get("nodes") or ()):
                shown = [*dict.fromkeys(_around(depends["nodes"], parents, gone))]
                result[part][key] = {**node, "depends_on": {**depends, "nodes": shown}}
    mentions = view.words.mentions()
    more = {
        key: without_hidden(one, view, mentions)
        for key, one in manifest.items()
        if key not in result
    }
    return {**more, **result}


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
            found[view.names(key)] = without_hidden(_columns(entry, view, dataset), view, mentions)
        result[part] = found
    return result


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
        named = view.words.mentions(about)
        column = str(node.get("column_name") or "")
        if (
            key in view.tests
            or named(f"{node.get('name')} {column}")
            or any(view.hidden.hides(one, column) for one in about[:1] if column)
            or any(map(named, texts(kwargs)))
        ):
            yield key
    for part in _DEFINITIONS:
        for key, node in (manifest.get(part) or {}).items():
            if any(map(view.words.mentions(near(node)), texts(node))):
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


def _columns(node: Any, view: AudienceView, dataset: DatasetId | None) -> Any:
    columns = node.get("columns") if isinstance(node, Mapping) else None
    if dataset is None or not isinstance(columns, Mapping):
        return node
    shown = {key: one for key, one in columns.items() if not view.hidden.hides(dataset, str(key))}
    return {**node, "columns": shown}
