"""The nodes a graft adds: models for what tasks write, sources for what they read, exposures.

Fields are those of dbt's v12 manifest, https://schemas.getdbt.com/dbt/manifest/v12.json, which
allows no others: what is ours stands in `meta`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from injector import prose
from injector.naming import plain
from injector.plan import PACKAGE, source_group
from injector.relations import Node
from injector.report import Built, Read
from lineage import urls
from lineage.dataset import DatasetId, Kind
from lineage.model import VIEW, Lineage, Task
from lineage.records import Column

# The docs page's own colour of a Python model.
COLOR = "#6a5acd"
# By which the page's drop-down finds everything that comes from logs.
TAG = "python_task"


def model(
    built: Built, sources: list[Node], parents: tuple[str, ...], lineage: Lineage, site: str
) -> dict[str, Any]:
    """The model that stands for a dataset that tasks write, or for a view.

    Args:
        sources: The sources it replaces; what people said of them is kept, the first's first.
    """
    tasks = [lineage.tasks[name] for name in built.tasks]
    first = sources[0] if sources else {}
    database, schema, identifier = place(built.dataset)
    view = tasks[0] if tasks[0].engine == VIEW else None
    if view:
        raw_code = prose.definition(built.dataset, view, lineage.shapes)
        told = prose.view_of(view, site)
    else:
        raw_code = prose.code(built.dataset, tasks, lineage.shapes)
        told = prose.built_by(built.dataset, tasks, site)
    tags = _tags(tasks, sources)
    meta = {
        **_merged(sources, "meta"),
        **_owner(tasks),
        "graft": {
            "dataset": str(built.dataset),
            **({} if view else {"tasks": list(built.tasks)}),
            **_procedures(built.dataset, tasks),
            "evidence": _evidence(built.dataset, tasks),
            **({"promoted_from": list(built.sources)} if built.sources else {}),
        },
    }
    folders = [plain(tasks[0].engine) or "unknown"]
    if not view:
        folders.append(plain(tasks[0].name) or "task")
    path = "/".join([*folders, f"{built.name}.{'sql' if view else 'py'}"])
    found = lineage.datasets.get(built.dataset)
    is_view = view or (found and found.kind is Kind.VIEW)
    docs = {"show": True, "node_color": None if view else COLOR}
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
        },
        "tags": tags,
        "description": prose.paragraphs(
            *_descriptions(sources),
            told,
            prose.catalog_link(built.dataset, site),
        ),
        "columns": _columns(_merged(sources, "columns"), found.columns if found else ()),
        "meta": meta,
        "group": None,
        "docs": docs,
        "relation_name": first.get("relation_name") if sources else built.dataset.name,
        "raw_code": raw_code,
        "language": "sql" if view else "python",
        "refs": [],
        "sources": [],
        "metrics": [],
        "depends_on": {"macros": [], "nodes": list(parents)},
        "access": "public",
        "version": None,
    }


def source(read: Read, lineage: Lineage, site: str) -> dict[str, Any]:
    """The source that stands for a dataset that tasks read and nobody is known to write."""
    assert read.dataset is not None
    database, schema, identifier = place(read.dataset)
    group = source_group(read.dataset, lineage)
    path = f"{group}.yml"
    found = lineage.datasets.get(read.dataset)
    tags = [TAG]
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
            prose.read_by(read.tasks, site),
            prose.catalog_link(read.dataset, site),
        ),
        "columns": _columns({}, found.columns if found else ()),
        "meta": meta,
        "source_meta": {},
        "tags": tags,
        "config": {"enabled": True, "tags": tags, "meta": meta},
        "relation_name": read.dataset.name,
    }


def exposure(
    read: Read, task: Task, everything: Mapping[str, Node], parents: tuple[str, ...], site: str
) -> dict[str, Any]:
    """The exposure that stands for a task that only reads.

    Args:
        everything: Every other node of the grafted manifest by its id.
    """
    tags = _tags([task], [])
    meta = {**_owner([task]), "graft": {"task": task.name}}
    path = f"{plain(task.engine) or 'unknown'}.yml"
    refs, sources = references(everything[parent] for parent in parents)
    return {
        "name": read.name,
        "resource_type": "exposure",
        "package_name": PACKAGE,
        "path": path,
        "original_file_path": path,
        "unique_id": read.node_id,
        "fqn": [PACKAGE, plain(task.engine) or "unknown", read.name],
        "type": "application",
        "owner": {"email": None, "name": task.info.owner or None},
        "description": prose.reads(task, site),
        "label": task.name,
        "maturity": None,
        "meta": meta,
        "tags": tags,
        "config": {"enabled": True, "tags": tags, "meta": meta},
        "url": site + urls.task_path(task.name),
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


def _tags(tasks: list[Task], sources: list[Node]) -> list[str]:
    programs = [task for task in tasks if not task.is_definition]
    wanted = [
        *(tag for source in sources for tag in source.get("tags") or () if isinstance(tag, str)),
        *([TAG] if programs else []),
        *(task.engine for task in tasks),
        *(f"task:{task.name}" for task in programs),
        *(tag for task in programs for tag in task.info.tags),
    ]
    return list(dict.fromkeys(wanted))


def _owner(tasks: list[Task]) -> dict[str, str]:
    owners = dict.fromkeys(task.info.owner for task in tasks if task.info.owner)
    return {"owner": ", ".join(owners)} if owners else {}


def _procedures(dataset: DatasetId, tasks: list[Task]) -> dict[str, list[str]]:
    usages = (prose.write_usage(task, dataset) for task in tasks)
    names = sorted({name for usage in usages if usage for name in usage.procedures})
    return {"procedures": names} if names else {}


def _evidence(dataset: DatasetId, tasks: list[Task]) -> list[str]:
    usages = (prose.write_usage(task, dataset) for task in tasks)
    return sorted({str(usage.evidence) for usage in usages if usage})


def _descriptions(sources: Iterable[Node]) -> list[str]:
    texts = [
        str(node.get("description") or node.get("source_description") or "") for node in sources
    ]
    return list(dict.fromkeys(texts))


def _merged(sources: list[Node], field: str) -> dict[str, Any]:
    """A field of several sources on one relation; the first that has a key decides."""
    merged: dict[str, Any] = {}
    for node in sources:
        for key, value in (node.get(field) or {}).items():
            merged.setdefault(key, value)
    return merged


def _columns(told: Mapping[str, Any], seen: Iterable[Column]) -> dict[str, Any]:
    """The columns people described, with types from the logs, then those only logs know."""
    types = {column.name.casefold(): column.type for column in seen}
    columns = {
        name: {**column, "data_type": column.get("data_type") or types.get(name.casefold()) or None}
        for name, column in told.items()
    }
    described = {name.casefold() for name in columns}
    for column in seen:
        if column.name.casefold() not in described:
            described.add(column.name.casefold())
            columns[column.name] = {
                "name": column.name,
                "description": "",
                "meta": {},
                "data_type": column.type or None,
                "tags": [],
            }
    return columns


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
