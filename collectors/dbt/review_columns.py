"""Columns of a dbt node as a review compares them: catalog, YAML, constraints and tests."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

from dbt_graft.analysis.checks.contracts import ColumnPromise
from dbt_graft.analysis.privacy.classification import classification
from dbt_graft.analysis.review.node import ReviewedColumn
from dbt_graft.collectors.dbt.models import Document
from dbt_graft.collectors.statements.outline.keys import NO_LENGTHS, digest, name_key
from dbt_graft.lineage.grouping import group_by_key

_NOT_NULL = "not_null"
_VALUES = "accepted_values"
_CLASSES = ("classification", "data_classification", "security_classification", "sensitivity")
_PROMISING = ("data_type", "constraints", "meta", "tags")
_LONGEST_UNIT = 20
_LENGTH = re.compile(r"\b(varchar|character varying|char|string|text|nvarchar) ?\( ?\d+ ?\)")
_QUOTES = '"`[]'
# Of a test in the manifest: its unique_id, and its node.
Tests = Mapping[str, Document]


def tests_by_node(manifest: Document) -> dict[str, dict[str, Document]]:
    """The tests on columns of each node, by unique id."""
    tests: dict[str, dict[str, Document]] = defaultdict(dict)
    for key, node in (manifest.get("nodes") or {}).items():
        if node.get("resource_type") == "test" and isinstance(node.get("column_name"), str):
            parents = (node.get("depends_on") or {}).get("nodes") or ()
            owner = node.get("attached_node") or (parents[-1] if parents else "")
            tests[str(owner)][key] = node
    return tests


def tested_column(test: Document) -> str:
    """The column that a test is on, folded."""
    return str(test["column_name"]).strip(_QUOTES).casefold()


def reviewed_columns(node: Document, entry: Document, dialect: str) -> Iterator[ReviewedColumn]:
    """Columns of the catalog in their order, then those that only the YAML has.

    Their names are folded, and in quotes where these make another name of them.
    """
    described = _yaml_columns(node)
    seen = set()
    columns: list[Document] = sorted(
        (entry.get("columns") or {}).values(), key=lambda column: column.get("index") or 0
    )
    for column in columns:
        name = str(column.get("name") or "")
        seen.add(name.casefold())
        kind = column.get("type") or described.get(name.casefold(), {}).get("data_type")
        yield ReviewedColumn(name_key(name, dialect, quoted=True), _type(kind, dialect))
    for key, yaml in described.items():
        if key not in seen:
            yield ReviewedColumn(key, _type(yaml.get("data_type"), dialect))


def _type(written: Any, dialect: str) -> str:
    """A type, folded; a length that the platform ignores is left out."""
    kind = str(written or "").casefold()
    return _LENGTH.sub(r"\1", kind) if dialect in NO_LENGTHS else kind


def column_promises(node: Document, tests: Tests, dialect: str) -> dict[str, ColumnPromise]:
    """The promises of YAML and tests for columns, by folded name."""
    described = _yaml_columns(node)
    limits = (test for test in tests.values() if _metadata(test).get("name") == _VALUES)
    by_column = group_by_key((tested_column(test), test) for test in limits)
    required = {
        str(column).casefold()
        for constraint in node.get("constraints") or ()
        if constraint.get("type") == _NOT_NULL
        for column in constraint.get("columns") or ()
    }
    promising = (key for key, column in described.items() if _may_promise(column))
    return {
        key: _promise(
            described.get(key, {}), by_column.get(key, ()), dialect, is_required=key in required
        )
        for key in sorted({*promising, *by_column, *required})
    }


def _may_promise(yaml: Document) -> bool:
    """Whether a column has more than a description."""
    config = yaml.get("config")
    return any(yaml.get(key) for key in _PROMISING) or bool(config and any(config.values()))


def _yaml_columns(node: Document) -> dict[str, Document]:
    columns = (node.get("columns") or {}).items()
    return {str(column.get("name") or key).casefold(): column for key, column in columns}


def table_constraints(node: Document) -> frozenset[tuple[str, str]]:
    """The constraints of the table: how they are shown, and the digest of a condition."""
    constraints = set()
    for constraint in node.get("constraints") or ():
        kind = str(constraint.get("type"))
        columns = ", ".join(str(column).casefold() for column in constraint.get("columns") or ())
        if kind != _NOT_NULL:
            constraints.add((f"{kind} ({columns})" if columns else kind, _condition(constraint)))
    return frozenset(constraints)


def _promise(
    yaml: Document, tests: Collection[Document], dialect: str, *, is_required: bool
) -> ColumnPromise:
    constraints = {
        (str(constraint.get("type")), _condition(constraint))
        for constraint in yaml.get("constraints") or ()
    }
    values = [
        _digest(value)
        for test in tests
        for value in (_metadata(test).get("kwargs") or {}).get("values") or ()
    ]
    metas = [yaml.get("meta"), (yaml.get("config") or {}).get("meta")]
    meta = {
        str(key).casefold(): value
        for meta in metas
        if isinstance(meta, dict)
        for key, value in meta.items()
    }
    return ColumnPromise(
        _type(yaml.get("data_type"), dialect),
        is_required or any(kind == _NOT_NULL for kind, _ in constraints),
        frozenset(constraint for constraint in constraints if constraint[0] != _NOT_NULL),
        frozenset(values),
        _label(yaml, meta),
        str(meta.get("unit") or "").strip()[:_LONGEST_UNIT],
    )


def _metadata(test: Document) -> Document:
    metadata = test.get("test_metadata")
    return metadata if isinstance(metadata, dict) else {}


def _label(yaml: Document, meta: Document) -> str:
    """The class of its data, as `meta` or a tag names it."""
    tags = [*(yaml.get("tags") or ()), *((yaml.get("config") or {}).get("tags") or ())]
    marks = [key for key, value in meta.items() if value is True]
    classes = [meta.get(key) for key in _CLASSES]
    labels = (str(label) for label in (*classes, *marks, *tags) if label)
    return next((label for label in labels if classification(label) is not None), "")


def _condition(constraint: Document) -> str:
    """The digest of what a constraint demands; its name and its warnings do not count."""
    demands = [constraint.get(key) for key in ("expression", "to", "to_columns")]
    return _digest(demands) if any(demands) else ""


def _digest(value: Any) -> str:
    return digest(orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode())
