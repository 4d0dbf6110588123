"""Nodes that a graft adds: models for datasets that tasks write, sources for those they read,
exposures for tasks that only read.

Fields are those of dbt's v12 manifest, https://schemas.getdbt.com/dbt/manifest/v12.json, which
allows no others: ours go into `meta.graft`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbt_graft.injector import groups, inherited, prose
from dbt_graft.injector.columns import Edges
from dbt_graft.injector.columns import columns as node_columns
from dbt_graft.injector.manifest import Node
from dbt_graft.injector.naming import plain
from dbt_graft.injector.options import GraftOptions, TagKind
from dbt_graft.injector.plan import PACKAGE, source_group
from dbt_graft.injector.report import BuiltDataset, NewSource, TaskExposure
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Evidence
from dbt_graft.lineage.usage import DECLARED, Usage

# The docs page's own colour of a Python model.
COLOR = "#6a5acd"
# Tag of all nodes from logs, for the tag filter of the docs page.
TAG = "python_task"


@frozen
class NodeContext:
    """Inputs of the added nodes.

    Attributes:
        original: The manifest as dbt wrote it.
        freshness: Source id -> its result in sources.json.
        edges: Dataset -> the column edges that end in it.
    """

    original: Node
    freshness: Mapping[str, Mapping[str, Any]]
    lineage: Lineage
    edges: Edges
    options: GraftOptions


def model(built: BuiltDataset, parents: tuple[str, ...], context: NodeContext) -> dict[str, Any]:
    """Return the model for a dataset that tasks write, or for a view."""
    lineage = context.lineage
    tasks = [lineage.tasks[name] for name in built.tasks]
    writes = lineage.writers(built.dataset)
    sources = [context.original["sources"][source] for source in built.sources]
    first = sources[0] if sources else {}
    database, schema, identifier = relation_parts(built.dataset)
    view = None if tasks else lineage.definition(built.dataset, DefinitionKind.VIEW)
    shapes = lineage.shapes
    is_declared = _is_declared(writes)
    statements = prose.definition(view, shapes) if view else prose.code(tasks, writes, shapes)
    raw_code = ("" if view else prose.files(tasks, context.options.code)) or statements
    dataset = lineage.datasets.get(built.dataset)
    columns, edges = node_columns(
        inherited.merge_field(sources, "columns"),
        dataset.columns if dataset else (),
        context.edges.get(built.dataset, ()),
        inherited.event_columns(built.dataset, lineage),
    )
    event_tags = inherited.event_tags(built.dataset, lineage, sources)
    own_tags = _tags(tasks, writes, context.options, event_tags)
    tags = list(dict.fromkeys([*inherited.tags(sources), *own_tags]))
    owners = inherited.owners(built.dataset, built.tasks, lineage, context.original, sources)
    quoting = inherited.merge_field(sources, "quoting")
    # The docs page shows the owner of the group; `meta.owner` would be a second one.
    meta = {
        **inherited.meta(sources),
        "graft": {
            "dataset": str(built.dataset),
            **({} if view else {"tasks": list(built.tasks)}),
            **({"owners": owners} if owners else {}),
            **_procedures(writes),
            "evidence": _evidences(writes),
            **inherited.graft_meta(sources, context.freshness),
            **({"columns": edges} if edges else {}),
        },
    }
    folders = [DefinitionKind.VIEW.value] if view else _folders(writes)
    path = "/".join([*folders, f"{built.name}.{'sql' if view or is_declared else 'py'}"])
    is_view = view or (dataset and dataset.kind is Kind.VIEW)
    docs = {"show": True, "node_color": None if view or is_declared else COLOR}
    group = groups.group_name(owners)
    return {
        "database": first.get("database") if sources else database,
        "schema": first.get("schema") if sources else schema,
        **_identity("model", built, path, folders),
        "alias": (first.get("identifier") or first.get("name")) if sources else identifier,
        "checksum": {"name": "sha256", "checksum": _sha256(raw_code)},
        "config": {
            "enabled": True,
            "materialized": "view" if is_view else "table",
            "tags": tags,
            "meta": meta,
            "docs": docs,
            "access": "public",
            **({"group": group} if group else {}),
            **({"quoting": quoting} if quoting else {}),
        },
        "tags": tags,
        "description": "",  # see injector.node_texts
        "columns": columns,
        "meta": meta,
        "group": group,
        "docs": docs,
        "relation_name": first.get("relation_name") if sources else built.dataset.name,
        "raw_code": raw_code,
        "compiled": True,
        "compiled_code": statements,
        # Python has a colour of its own on the page.
        "language": "sql" if view or is_declared else "python",
        "refs": [],
        "sources": [],
        "metrics": [],
        "depends_on": {"macros": [], "nodes": list(parents)},
        "access": "public",
        "version": None,
    }


def source(new_source: NewSource, context: NodeContext) -> dict[str, Any]:
    """Return the source for a dataset that tasks read and no task writes."""
    lineage = context.lineage
    database, schema, identifier = relation_parts(new_source.dataset)
    group = source_group(new_source.dataset, lineage)
    dataset = lineage.datasets.get(new_source.dataset)
    event_tags = inherited.event_tags(new_source.dataset, lineage)
    readers = lineage.readers(new_source.dataset)
    tags = [TAG] if "python_task" in context.options.tags and not _is_declared(readers) else []
    tags = list(dict.fromkeys([*tags, *(event_tags if "team" in context.options.tags else ())]))
    owners = inherited.owners(new_source.dataset, (), lineage, context.original)
    meta = {
        "graft": {
            "dataset": str(new_source.dataset),
            "tasks": list(new_source.tasks),
            **({"owners": owners} if owners else {}),
        }
    }
    columns, _ = node_columns(
        {},
        dataset.columns if dataset else (),
        (),
        inherited.event_columns(new_source.dataset, lineage),
    )
    return {
        "database": database,
        "schema": schema,
        **_identity("source", new_source, f"{group}.yml", [group]),
        "source_name": group,
        "source_description": "",
        "loader": "",
        "identifier": identifier,
        "description": "",
        "columns": columns,
        "meta": meta,
        "source_meta": {},
        "tags": tags,
        "config": {"enabled": True, "tags": tags, "meta": meta},
        "relation_name": new_source.dataset.name,
    }


def exposure(
    task_exposure: TaskExposure,
    everything: Mapping[str, Node],
    parents: tuple[str, ...],
    context: NodeContext,
) -> dict[str, Any]:
    """Return the exposure for a task that only reads.

    Args:
        everything: All nodes of the grafted manifest by id.
    """
    task = context.lineage.tasks[task_exposure.task]
    tags = _tags([task], task.usages, context.options)
    meta = {"graft": {"task": task.name}}
    engine = _folders(task.usages)[0]
    refs, sources = references(everything[parent] for parent in parents)
    return {
        **_identity("exposure", task_exposure, f"{engine}.yml", [engine]),
        "type": task.info.type or "application",
        "owner": {"email": None, "name": task.info.owner or None},
        "description": "",
        "label": task.name,
        "maturity": task.info.maturity or None,
        "meta": meta,
        "tags": tags,
        "config": {"enabled": True, "tags": tags, "meta": meta},
        "url": None,
        "depends_on": {"macros": [], "nodes": list(parents)},
        "refs": refs,
        "sources": sources,
        "metrics": [],
        # Only there for the loader; a time of our own would make each graft differ.
        "created_at": 0,
    }


def _identity(
    kind: str, added: BuiltDataset | NewSource | TaskExposure, path: str, folders: list[str]
) -> dict[str, Any]:
    """Name and place of an added node.

    Args:
        path: Its file, which there is not.
        folders: Those of the trees of the docs page.
    """
    return {
        "name": added.name,
        "resource_type": kind,
        "package_name": PACKAGE,
        "path": path,
        "original_file_path": path,
        "unique_id": added.node_id,
        "fqn": [PACKAGE, *folders, added.name],
    }


def ref(name: str, version: Any = None) -> dict[str, Any]:
    """Return a `ref()` in the manifest's form."""
    return {"name": name, "package": None, "version": version}


def references(upstream: Iterable[Node]) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Return `refs` and `sources` of a node with these parents."""
    refs, sources = [], []
    for node in upstream:
        if node["resource_type"] == "source":
            sources.append([str(node.get("source_name") or ""), str(node["name"])])
        else:
            refs.append(ref(str(node["name"]), node.get("version")))
    return refs, sources


def relation_parts(dataset: DatasetId) -> tuple[str | None, str, str]:
    """Return database, schema and identifier of a dataset that dbt does not know.

    The namespace stands in for a schema or folder that the name does not have.
    """
    parts = dataset.parts or (dataset.name,)
    if dataset.is_path:
        return dataset.namespace, "/".join(parts[:-1]) or dataset.namespace, parts[-1]
    if len(parts) == 1:
        return None, dataset.namespace, parts[0]
    return ".".join(parts[:-2]) or None, parts[-2], parts[-1]


def _folders(usages: Sequence[Usage]) -> list[str]:
    """Engine and task of the first usage, as folders in the tree of the docs page."""
    first = usages[0]
    return [plain(first.engine) or "unknown", plain(first.task) or "task"]


def _tags(
    tasks: list[Task],
    usages: Iterable[Usage],
    options: GraftOptions,
    event_tags: Sequence[str] = (),
) -> list[str]:
    by_kind: dict[TagKind, list[str]] = {
        "python_task": [TAG] if tasks and not _is_declared(usages) else [],
        "engine": [usage.engine for usage in usages] if tasks else [DefinitionKind.VIEW.value],
        "task": [f"task:{task.name}" for task in tasks],
        "team": [*(tag for task in tasks for tag in task.info.tags), *event_tags],
    }
    return list(dict.fromkeys(tag for kind in options.tags for tag in by_kind[kind]))


def _is_declared(usages: Iterable[Usage]) -> bool:
    """Whether only YAML declares them, so that nobody knows what runs there."""
    return {usage.engine for usage in usages} == {DECLARED}


def _evidences(usages: Iterable[Usage]) -> list[str]:
    evidences: set[Evidence] = set()
    for usage in usages:
        evidences |= {usage.evidence, *(evidence.evidence for evidence in usage.evidences)}
    return sorted(evidence.value for evidence in evidences or {Evidence.DECLARED})


def _procedures(usages: Iterable[Usage]) -> dict[str, list[str]]:
    names = sorted({name for usage in usages for name in usage.procedures})
    return {"procedures": names} if names else {}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
