"""Nodes of a dbt project as a review compares them: two versions of a node are two of these.

Expressions and conditions are digests of their syntax trees: what is equal but for its formatting
has one digest, and no literal of the SQL is held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_graft.analysis.checks.column_promise import ColumnPromise


@dataclass(frozen=True, slots=True)
class QueryOutline:
    """A query, by what decides on its columns and its rows.

    Attributes:
        columns: Name, folded -> the digest of its expression, in their order.
        is_open: It has further columns, behind a `*` that could not be followed.
        rows: The digest of all that decides on the rows.
        filters, joins, grain: The digests of WHERE, HAVING, QUALIFY and LIMIT; of joins; of
            GROUP BY, DISTINCT, UNION and functions that make rows.
        sources: The nodes and tables that it reads.
    """

    columns: Mapping[str, str]
    is_open: bool
    rows: str
    filters: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    grain: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReviewedColumn:
    """A column as the catalog and the YAML know it.

    Attributes:
        type: Of the catalog, else of the contract, folded; empty where neither has one.
    """

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class ReviewedNode:
    """A model, seed, snapshot or source in one version of a project.

    Attributes:
        outline: None where the query is not known; `problem` is why.
        code: The digest of its compiled code, or of a seed's file; empty where there is none.
        raw: The digest of its code before it is compiled, and of all macros.
        tests: Ids of dbt tests that name a column -> the column, folded.
        constraints: Those of the table: `primary_key (a, b)`, and the digest of a condition.
        settings: Settings that decide on rows: strategies and keys.
        text: The digest of descriptions, tags and `meta`.
        columns: Of the catalog and the YAML, by folded name.
        promises: What is promised of columns, by folded name; of others nothing is.
        listed: Whether the catalog has it, so that `columns` are all there are.
        allowed: The reason by which its SQL allows the change; empty without one.
    """

    node_id: str
    kind: str
    relation: str = ""
    file: str = ""
    outline: QueryOutline | None = None
    problem: str = ""
    code: str = ""
    raw: str = ""
    materialized: str = ""
    contract: bool = False
    constraints: frozenset[tuple[str, str]] = frozenset()
    settings: str = ""
    tests: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    columns: Mapping[str, ReviewedColumn] = field(default_factory=dict)
    promises: Mapping[str, ColumnPromise] = field(default_factory=dict)
    listed: bool = False
    allowed: str = ""

    @property
    def known_columns(self) -> tuple[str, ...]:
        """Its columns, folded; empty where they are not all known."""
        if self.outline and not self.outline.is_open:
            return tuple(self.outline.columns)
        return tuple(self.columns) if self.listed else ()
