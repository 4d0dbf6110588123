"""A manifest and a catalog -> the nodes that a review compares, as yet without their queries."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from dbt_graft.analysis.review.node import ReviewedNode
from dbt_graft.analysis.review.node_tests import ReviewedTest
from dbt_graft.collectors.dbt.models import (
    DbtModel,
    Document,
    RelationNames,
    dialect_of,
    read_models,
)
from dbt_graft.collectors.dbt.review_columns import (
    column_promises,
    reviewed_columns,
    table_constraints,
    tested_column,
    tests_by_node,
)
from dbt_graft.collectors.dbt.review_settings import (
    MacroDigests,
    node_settings,
    setting_text,
    test_settings,
    written_relation,
)
from dbt_graft.collectors.statements.outline.keys import digest
from dbt_graft.lineage.frozen import frozen

_ALLOWED = re.compile(r'--[ \t]*graft:[ \t]*allow-change[ \t]+reason="([^"\n]{1,300})"')
# Parts of a manifest besides `nodes` and `sources`.
_PARTS = ("exposures", "metrics", "semantic_models", "saved_queries", "functions")
_KINDS = {"semantic_model": "semantic model", "saved_query": "saved query", "operation": "hook"}
# Adapters that build on another one.
_BASES = {"databricks": "spark", "redshift": "postgres", "fabric": "sqlserver"}


@frozen
class DbtVersion:
    """One version of a dbt project.

    Attributes:
        nodes: Without the outlines of their queries.
        dialect: That of the adapter, by its name in sqlglot; None for one that is not known.
    """

    nodes: Mapping[str, ReviewedNode]
    models: Mapping[str, DbtModel]
    names: RelationNames
    adapter: str
    dialect: str | None


def dbt_version(
    manifest: Document, catalog: Document, other: Document, *, borrowed: bool = False
) -> DbtVersion:
    """A version of a project.

    Args:
        other: The manifest that it is compared with.
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
    reading = _Reading(manifest, catalog, other, dialect_of(adapter))
    nodes = {key: reading.model(model) for key, model in models.items()}
    nodes |= reading.others(nodes)
    packages = {"dbt", f"dbt_{adapter}", f"dbt_{_BASES.get(adapter, adapter)}"}
    for key, text in reading.macros.replacing(packages):
        nodes[key] = ReviewedNode(key, "macro", code=text)
    return DbtVersion(nodes, models, RelationNames(models), adapter, dialect_of(adapter))


class _Reading:
    def __init__(
        self, manifest: Document, catalog: Document, other: Document, dialect: str | None
    ) -> None:
        self.macros = MacroDigests(manifest, other)
        self._dialect = dialect or ""
        self._documents = {**(manifest.get("nodes") or {}), **(manifest.get("sources") or {})}
        self._entries = {**(catalog.get("nodes") or {}), **(catalog.get("sources") or {})}
        self._column_tests = tests_by_node(manifest)
        self._parts = {
            key: document for part in _PARTS for key, document in (manifest.get(part) or {}).items()
        }
        self._tests: dict[str, dict[str, ReviewedTest]] = defaultdict(dict)
        tests = {**self._documents, **(manifest.get("unit_tests") or {})}
        for key, document in tests.items():
            if document.get("resource_type") in ("test", "unit_test"):
                owner = _owner(document, self._documents)
                self._tests[owner][key] = self._test(document)

    def _test(self, document: Document) -> ReviewedTest:
        metadata = document.get("test_metadata")
        name = metadata.get("name") if isinstance(metadata, Mapping) else None
        if document.get("resource_type") == "unit_test":
            name = f"unit test {document.get('name')}"
        column = tested_column(document) if isinstance(document.get("column_name"), str) else ""
        settings = test_settings(document, self.macros.of(document))
        return ReviewedTest(str(name or document.get("name")), column, settings)

    def model(self, model: DbtModel) -> ReviewedNode:
        """A model, seed, snapshot or source."""
        node = self._documents[model.unique_id]
        entry: Document = self._entries.get(model.unique_id) or {}
        config = node.get("config") or {}
        tests = self._column_tests.get(model.unique_id, {})
        checksum = (node.get("checksum") or {}).get("checksum") if model.kind == "seed" else ""
        allowed = _ALLOWED.search(model.raw_sql)
        relation, place = written_relation(node)
        raw = _python(model.raw_sql) if model.is_python else model.raw_sql
        code = raw if model.is_python else model.sql or str(checksum)
        columns = reviewed_columns(node, entry, self._dialect)
        return ReviewedNode(
            node_id=model.unique_id,
            kind="python model" if model.is_python else model.kind,
            relation=relation,
            place=place,
            file=_file(node),
            code=digest(code),
            raw=digest(model.raw_sql, self.macros.all),
            source_code=digest(raw),
            macros=self.macros.of(node),
            has_branches="is_incremental" in model.raw_sql,
            has_hooks=any(config.get(key) for key in ("pre-hook", "post-hook", "sql_header")),
            materialized=str(config.get("materialized") or ""),
            contract=model.is_complete,
            constraints=table_constraints(node),
            settings=self.macros.read(node_settings(node), model.raw_sql),
            tests=self._tests.get(model.unique_id, {}),
            text=_text(node),
            columns={column.name: column for column in columns},
            promises=column_promises(node, tests, self._dialect),
            listed=bool(entry.get("columns")),
            allowed=allowed[1] if allowed else "",
        )

    def others(self, models: Mapping[str, ReviewedNode]) -> dict[str, ReviewedNode]:
        """Nodes that have no rows: exposures, metrics…; and tests that are of no node."""
        alone = self._tests.get("", {})
        return {
            key: self._other(key, document)
            for key, document in {**self._documents, **self._parts}.items()
            if key not in models and (document.get("resource_type") != "test" or key in alone)
        }

    def _other(self, key: str, node: Document) -> ReviewedNode:
        kind = str(node.get("resource_type"))
        code = digest(str(node.get("raw_code") or ""))
        settings = node_settings(node)
        if kind == "test":
            settings = test_settings(node, "")
        return ReviewedNode(
            node_id=key,
            kind=_KINDS.get(kind, kind),
            file=_file(node),
            code=code,
            source_code=code,
            macros=self.macros.of(node),
            settings=settings,
            text=_text(node),
        )


def _owner(test: Document, documents: Mapping[str, Document]) -> str:
    """The node that a test is of; empty for one of none."""
    parents = (test.get("depends_on") or {}).get("nodes") or ()
    named = [test.get("attached_node"), test.get("tested_node_unique_id")]
    if test.get("test_metadata"):
        parents = parents[::-1]
    return next((str(key) for key in (*named, *parents) if key in documents), "")


def _file(node: Document) -> str:
    return str(node.get("original_file_path") or "").replace("\\", "/")


def _text(node: Document) -> str:
    config: Document = node.get("config") or {}
    texts: list[Any] = [node.get("description"), node.get("tags"), node.get("meta")]
    columns: Document = node.get("columns") or {}
    if isinstance(columns, Mapping):
        texts += [
            [name, column.get("description"), column.get("meta"), column.get("tags")]
            for name, column in sorted(columns.items())
        ]
    return digest(setting_text([config.get("meta"), *texts]))


def _python(code: str) -> str:
    """Python without comments and layout, as far as it is Python."""
    try:
        return ast.dump(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
