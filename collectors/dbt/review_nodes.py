"""A manifest and a catalog -> the nodes that a review compares."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from dbt_graft.analysis.review.compare import NOT_COMPILED
from dbt_graft.analysis.review.node import QueryOutline, ReviewedNode
from dbt_graft.collectors.dbt.models import (
    DbtModel,
    Document,
    RelationNames,
    dialect_of,
    read_models,
)
from dbt_graft.collectors.dbt.outline_scope import digest
from dbt_graft.collectors.dbt.query_outline import query_outline
from dbt_graft.collectors.dbt.review_columns import (
    Tests,
    column_promises,
    reviewed_columns,
    table_constraints,
    tested_column,
    tests_by_node,
)
from dbt_graft.collectors.statements.columns.tree import NoTreeError
from dbt_graft.collectors.statements.text.names import Name

_ALLOWED = re.compile(r'--[ \t]*graft:[ \t]*allow-change[ \t]+reason="([^"\n]{1,300})"')
_ROW_SETTINGS = (
    *("incremental_strategy", "unique_key", "strategy", "check_cols", "updated_at"),
    *("merge_update_columns", "merge_exclude_columns", "hard_deletes", "invalidate_hard_deletes"),
)


def review_nodes(
    manifest: Document, catalog: Document, *, borrowed: bool = False
) -> dict[str, ReviewedNode]:
    """The models, seeds, snapshots and sources of one version of a project, by unique id.

    Args:
        borrowed: The catalog is that of another version: only its sources and seeds count.
    """
    if borrowed:
        seeds = {
            key: node
            for key, node in (catalog.get("nodes") or {}).items()
            if key.startswith("seed.")
        }
        catalog = {**catalog, "nodes": seeds}
    models = read_models(manifest, catalog, {})
    adapter = str((manifest.get("metadata") or {}).get("adapter_type") or "")
    reading = _Reading(models, dialect_of(adapter), adapter)
    documents = {**(manifest.get("nodes") or {}), **(manifest.get("sources") or {})}
    entries = {**(catalog.get("nodes") or {}), **(catalog.get("sources") or {})}
    tests, macros = tests_by_node(manifest), _macros(manifest)
    for key in _upstream_first(models):
        node = _node(models[key], documents[key], entries.get(key), tests.get(key, {}))
        node = replace(node, raw=digest(models[key].raw_sql, macros))
        reading.nodes[key] = reading.with_outline(node, models[key])
    return {key: reading.nodes[key] for key in models}


class _Reading:
    """The nodes read so far: the columns of those are known where others read `*`."""

    def __init__(self, models: Mapping[str, DbtModel], dialect: str | None, adapter: str) -> None:
        self._models, self._dialect, self._adapter = models, dialect, adapter
        self._names = RelationNames(models)
        self.nodes: dict[str, ReviewedNode] = {}

    def with_outline(self, node: ReviewedNode, model: DbtModel) -> ReviewedNode:
        if not model.is_query or model.is_python:
            return node
        outline, problem = self._outline(model)
        return replace(node, outline=outline, problem=problem)

    def _outline(self, model: DbtModel) -> tuple[QueryOutline | None, str]:
        if not model.sql.strip():
            return None, NOT_COMPILED
        if self._dialect is None:
            return None, f"the SQL of dbt's adapter {self._adapter or '(unknown)'} is not supported"

        def table(name: Name) -> tuple[str, Sequence[str]]:
            parent = self._names.find(name, model)
            if parent is None or parent is model:
                return ".".join(name), ()
            node = self.nodes.get(parent.unique_id)
            return parent.unique_id, node.known_columns if node else parent.columns

        try:
            return query_outline(model.sql, self._dialect, table), ""
        except NoTreeError as error:
            return None, str(error)


def _upstream_first(models: Mapping[str, DbtModel]) -> Iterator[str]:
    """The models, each behind those that it reads."""
    visited: set[str] = set()
    for start in models:
        waiting = [(start, False)]
        while waiting:
            key, is_ready = waiting.pop()
            if is_ready:
                yield key
            elif key in models and key not in visited:
                visited.add(key)
                waiting.append((key, True))
                waiting += [(parent, False) for parent in models[key].parents]


def _macros(manifest: Document) -> str:
    """The digest of all macros: any of them may be in a query."""
    macros = (manifest.get("macros") or {}).items()
    return digest(*(f"{key} {macro.get('macro_sql')}" for key, macro in sorted(macros)))


def _node(model: DbtModel, node: Document, entry: Document | None, tests: Tests) -> ReviewedNode:
    config = node.get("config") or {}
    checksum = (node.get("checksum") or {}).get("checksum") if model.kind == "seed" else ""
    texts = [node.get("description"), node.get("tags"), node.get("meta"), config.get("meta")]
    texts += [
        [name, column.get("description"), column.get("meta"), column.get("tags")]
        for name, column in sorted((node.get("columns") or {}).items())
    ]
    settings = {key: config[key] for key in _ROW_SETTINGS if config.get(key)}
    allowed = _ALLOWED.search(model.raw_sql)
    return ReviewedNode(
        node_id=model.unique_id,
        kind="python model" if model.is_python else model.kind,
        relation=f"{config.get('schema') or ''}.{model.relation[-1]}",
        file=str(node.get("original_file_path") or "").replace("\\", "/"),
        code=digest(_python(model.raw_sql) if model.is_python else model.sql or str(checksum)),
        materialized=str(config.get("materialized") or ""),
        contract=model.is_complete,
        constraints=table_constraints(node),
        settings=_text(settings),
        tests={key: tested_column(test) for key, test in tests.items()},
        text=digest(_text(texts)),
        columns={column.name.casefold(): column for column in reviewed_columns(node, entry or {})},
        promises=column_promises(node, tests),
        listed=bool(entry and entry.get("columns")),
        allowed=allowed[1] if allowed else "",
    )


def _python(code: str) -> str:
    """Python without comments and layout, as far as it is Python."""
    try:
        return ast.dump(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode()
