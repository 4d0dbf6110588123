"""The nodes a graft adds: models for what tasks write, sources for what they read, exposures.

Fields are those of dbt's v12 manifest, https://schemas.getdbt.com/dbt/manifest/v12.json, which
allows no others: what is ours stands in `meta`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_graft.injector import carried, groups, prose
from dbt_graft.injector.columns import Edges
from dbt_graft.injector.columns import columns as node_columns
from dbt_graft.injector.naming import plain
from dbt_graft.injector.options import Options, TagKind
from dbt_graft.injector.plan import PACKAGE, source_group
from dbt_graft.injector.relations import Node
from dbt_graft.injector.report import Built, Read
from dbt_graft.lineage import urls
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Evidence
from dbt_graft.lineage.usage import Usage

# The docs page's own colour of a Python model.
COLOR = "#6a5acd"
# By which the page's drop-down finds everything that comes from logs.
TAG = "python_task"


@dataclass(frozen=True, slots=True)
class Context:
    """What all added nodes are made of.

    Attributes:
        original: The manifest as dbt wrote it.
        freshness: Source id -> what sources.json says of it.
        edges: The column edges that lead to each dataset.
    """

    original: Node
    freshness: Mapping[str, Mapping[str, Any]]
    lineage: Lineage
    edges: Edges
    options: Options


def model(built: Built, parents: tuple[str, ...], told: Context) -> dict[str, Any]:
    """The model that stands for a dataset that tasks write, or for a view."""
    tasks = [told.lineage.tasks[name] for name in built.tasks]
    writes = told.lineage.writers(built.dataset)
    sources = [told.original["sources"][source] for source in built.sources]
    first = sources[0] if sources else {}
    database, schema, identifier = place(built.dataset)
    view = None if tasks else told.lineage.definition(built.dataset, DefinitionKind.VIEW)
    if view:
        raw_code = compiled_code = prose.definition(view, told.lineage.shapes)
        text = prose.view_of(view, told.options.site)
    else:
        compiled_code = prose.code(tasks, writes, told.lineage.shapes)
        raw_code = prose.files(tasks, told.options.code) or compiled_code
        text = prose.built_by(tasks, writes, told.options.site)
    found = told.lineage.datasets.get(built.dataset)
    columns, edges = node_columns(
        carried.merged(sources, "columns"),
        found.columns if found else (),
        told.edges.get(built.dataset, ()),
    )
    tags = list(dict.fromkeys([*carried.tags(sources), *_tags(tasks, writes, told.options)]))
    quoting = carried.merged(sources, "quoting")
    meta = {
        **_owner(tasks),
        **carried.meta(sources),
        "graft": {
            "dataset": str(built.dataset),
            **({} if view else {"tasks": list(built.tasks)}),
            **_procedures(writes),
            "evidence": sorted({u.evidence.value for u in writes} or {Evidence.DECLARED.value}),
            **carried.graft_meta(sources, told.freshness),
            **({"columns": edges} if edges else {}),
        },
    }
    folders = [DefinitionKind.VIEW.value] if view else _folders(writes)
    path = "/".join([*folders, f"{built.name}.{'sql' if view else 'py'}"])
    is_view = view or (found and found.kind is Kind.VIEW)
    docs = {"show": True, "node_color": None if view else COLOR}
    group = groups.of(tasks)
    return {
        "database": first.get("database") if sources else database,
        "schema": first.get("schema") if sources else schema,
        "name": built.name,
        "resource_type": "model",
        "package_name": PACKAGE,
        "path": path,
        "original_file_path": path,
        "unique_id": built.node_id,
        "fqn": [PACKAGE, *folders, built.name],
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
        "description": prose.paragraphs(
            *carried.descriptions(sources),
            text,
            prose.catalog_link(built.dataset, told.options.site),
        ),
        "columns": columns,
        "meta": meta,
        "group": group,
        "docs": docs,
        "relation_name": first.get("relation_name") if sources else built.dataset.name,
        "raw_code": raw_code,
        "compiled": True,
        "compiled_code": compiled_code,
        "language": "sql" if view else "python",
        "refs": [],
        "sources": [],
        "metrics": [],
        "depends_on": {"macros": [], "nodes": list(parents)},
        "access": "public",
        "version": None,
    }


def source(read: Read, told: Context) -> dict[str, Any]:
    """The source that stands for a dataset that tasks read and nobody is known to write."""
    assert read.dataset is not None
    lineage, site = told.lineage, told.options.site
    database, schema, identifier = place(read.dataset)
    group = source_group(read.dataset, lineage)
    path = f"{group}.yml"
    found = lineage.datasets.get(read.dataset)
    tags = [TAG] if "python_task" in told.options.tags else []
    meta = {"graft": {"dataset": str(read.dataset), "tasks": list(read.tasks)}}
    return {
        "database": database,
        "schema": schema,
        "name": read.name,
        "resource_type": "source",
        "package_name": PACKAGE,
        "path": path,
        "original_file_path": path,
        "unique_id": read.node_id,
        "fqn": [PACKAGE, group, read.name],
        "source_name": group,
        "source_description": "",
        "loader": "",
        "identifier": identifier,
        "description": prose.paragraphs(
            prose.read_by(read.tasks, read.views, site),
            prose.catalog_link(read.dataset, site),
        ),
        "columns": node_columns({}, found.columns if found else (), ())[0],
        "meta": meta,
        "source_meta": {},
        "tags": tags,
        "config": {"enabled": True, "tags": tags, "meta": meta},
        "relation_name": read.dataset.name,
    }


def exposure(
    read: Read, everything: Mapping[str, Node], parents: tuple[str, ...], told: Context
) -> dict[str, Any]:
    """The exposure that stands for a task that only reads.

    Args:
        everything: Every other node of the grafted manifest by its id.
    """
    task, site = told.lineage.tasks[read.tasks[0]], told.options.site
    tags = _tags([task], task.usages, told.options)
    meta = {**_owner([task]), "graft": {"task": task.name}}
    engine = _folders(task.usages)[0]
    path = f"{engine}.yml"
    refs, sources = references(everything[parent] for parent in parents)
    return {
        "name": read.name,
        "resource_type": "exposure",
        "package_name": PACKAGE,
        "path": path,
        "original_file_path": path,
        "unique_id": read.node_id,
        "fqn": [PACKAGE, engine, read.name],
        "type": task.info.type or "application",
        "owner": {"email": None, "name": task.info.owner or None},
        "description": prose.reads(task, site),
        "label": task.name,
        "maturity": task.info.maturity or None,
        "meta": meta,
        "tags": tags,
        "config": {"enabled": True, "tags": tags, "meta": meta},
        "url": prose.web(task.info.url) or site + urls.task_path(task.name),
        "depends_on": {"macros": [], "nodes": list(parents)},
        "refs": refs,
        "sources": sources,
        "metrics": [],
        # Only there for the loader; a time of our own would make each graft differ.
        "created_at": 0,
    }


def ref(name: str, version: Any = None) -> dict[str, Any]:
    """A `ref()` as manifests write it."""
    return {"name": name, "package": None, "version": version}


def references(upstream: Iterable[Node]) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """What a node reads, as `refs` and `sources` name it."""
    refs, sources = [], []
    for node in upstream:
        if node["resource_type"] == "source":
            sources.append([str(node["source_name"]), str(node["name"])])
        else:
            refs.append(ref(str(node["name"]), node.get("version")))
    return refs, sources


def place(dataset: DatasetId) -> tuple[str | None, str, str]:
    """Database, schema and identifier of a dataset that dbt does not know.

    A dataset without a schema or a folder stands in its namespace.
    """
    parts = dataset.parts or (dataset.name,)
    if "/" in dataset.name:
        return dataset.namespace, "/".join(parts[:-1]) or dataset.namespace, parts[-1]
    if len(parts) == 1:
        return None, dataset.namespace, parts[0]
    return ".".join(parts[:-2]) or None, parts[-2], parts[-1]


def _folders(usages: Sequence[Usage]) -> list[str]:
    """The engine and the task of the first usage, as folders of the docs page's tree."""
    first = usages[0]
    return [plain(first.engine) or "unknown", plain(first.task) or "task"]


def _tags(tasks: list[Task], usages: Iterable[Usage], options: Options) -> list[str]:
    by_kind: dict[TagKind, list[str]] = {
        "python_task": [TAG] if tasks else [],
        "engine": [usage.engine for usage in usages] if tasks else [DefinitionKind.VIEW.value],
        "task": [f"task:{task.name}" for task in tasks],
        "team": [tag for task in tasks for tag in task.info.tags],
    }
    return list(dict.fromkeys(tag for kind in options.tags for tag in by_kind[kind]))


def _owner(tasks: list[Task]) -> dict[str, str]:
    owners = dict.fromkeys(task.info.owner for task in tasks if task.info.owner)
    return {"owner": ", ".join(owners)} if owners else {}


def _procedures(usages: Iterable[Usage]) -> dict[str, list[str]]:
    names = sorted({name for usage in usages for name in usage.procedures})
    return {"procedures": names} if names else {}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
