"""Nodes of a dbt project as a review compares them: two versions of a node are two of these.

Expressions and conditions are digests of their syntax trees: what is equal but for its formatting
has one digest, and no literal of the SQL is held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from dbt_graft.analysis.checks.contracts import ColumnPromise
from dbt_graft.analysis.review.node_tests import ReviewedTest
from dbt_graft.analysis.review.settings import ReviewedSetting
from dbt_graft.lineage.frozen import frozen


class OutlinedCast(NamedTuple):
    """A conversion: to a type, of an expression by its digest."""

    type: str
    of: str


@frozen
class QueryOutline:
    """A query, by what decides on its columns and its rows.

    Attributes:
        columns: Name, folded -> the digest of its expression, in their order; a name in quotes is
            another one than the folded name.
        is_open: It has further columns, behind a `*` that could not be followed.
        rows: The digest of all that decides on the rows.
        filters, joins, grain: The digests of WHERE, HAVING, QUALIFY and LIMIT; of joins; of
            GROUP BY, DISTINCT, UNION and functions that make rows.
        sources: The tables that it reads, and versions of them.
        behind: The digest of what stands behind such a `*`.
        rest: Clauses that may decide on rows or columns, and are not understood: the words that
            begin them, and the digest.
        costs: Clauses that decide on how it runs or is stored.
        ties: The parts of each UNION, each with its columns.
        windows: Functions over windows among its columns, each with the rows that it sees.
        casts: The columns that are converted at last.
    """

    columns: Mapping[str, str]
    is_open: bool
    rows: str
    filters: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    grain: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    behind: str = ""
    rest: frozenset[tuple[str, str]] = frozenset()
    costs: frozenset[tuple[str, str]] = frozenset()
    ties: frozenset[str] = frozenset()
    windows: frozenset[tuple[str, str]] = frozenset()
    casts: Mapping[str, OutlinedCast] = field(default_factory=dict)


@frozen
class ReviewedColumn:
    """A column as the catalog and the YAML know it.

    Attributes:
        type: Of the catalog, else of the contract, folded; empty where neither has one.
    """

    name: str
    type: str = ""


@frozen
class ReviewedNode:
    """A node of dbt in one version of a project: a model, a source, an exposure…

    Attributes:
        relation: Its name as it is configured; that of a source with its schema.
        place: The database and schema that this version is built in.
        outline: None where the query is not known, or is the same in both versions; `problem` is
            why it is not known.
        code: The digest of its compiled code, or of a seed's file; empty where there is none.
        raw: The digest of its code before it is compiled, and of all macros.
        source_code: That of its code alone.
        macros: The digest of the macros that it names, and of those that these name.
        has_branches: Whether `is_incremental()` decides on its query.
        has_hooks: Whether macros may run that its code does not show.
        branches: The outlines of its query in both branches of `is_incremental()`; empty where
            they are not known.
        tests: Those of the node, by unique id.
        constraints: Those of the table: `primary_key (a, b)`, and the digest of a condition.
        settings: Its configuration and properties.
        text: The digest of descriptions, tags and `meta`.
        columns: Of the catalog and the YAML, by folded name.
        promises: What is promised of columns, by folded name; of others nothing is.
        listed: Whether the catalog has it, so that `columns` are all there are.
        allowed: The reason by which its SQL allows the change.
    """

    node_id: str
    kind: str
    relation: str = ""
    place: str = ""
    file: str = ""
    outline: QueryOutline | None = None
    problem: str = ""
    code: str = ""
    raw: str = ""
    source_code: str = ""
    macros: str = ""
    has_branches: bool = False
    has_hooks: bool = False
    branches: tuple[QueryOutline, ...] = ()
    materialized: str = ""
    contract: bool = False
    constraints: frozenset[tuple[str, str]] = frozenset()
    settings: Mapping[str, ReviewedSetting] = field(default_factory=dict)
    tests: Mapping[str, ReviewedTest] = field(default_factory=dict)
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
