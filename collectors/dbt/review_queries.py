"""The queries of two versions of a project, outlined as far as they may differ.

A model whose text is the same in both versions, and that reads nothing with other columns, is not
parsed. Names of relations do not count in the text: CI builds in a schema of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dbt_graft.analysis.review.compare import NOT_COMPILED
from dbt_graft.analysis.review.node import QueryOutline, ReviewedNode
from dbt_graft.collectors.dbt.branches import branches
from dbt_graft.collectors.dbt.models import DbtModel
from dbt_graft.collectors.dbt.outline_cache import OutlineCache
from dbt_graft.collectors.dbt.review_nodes import DbtVersion
from dbt_graft.collectors.statements.outline.keys import digest

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.outline.scope import OutlineTables
    from dbt_graft.collectors.statements.text.names import Name

_PART = r"""(?:"[^"\n]*"|`[^`\n]*`|\[[^\]\n]*\]|[\w$-]+)"""
_DOTTED = re.compile(rf"{_PART}(?:\.{_PART})+")
# A relation in a neutral text, whose id may have the name of the schema in it.
_ID = r"\{(?:model|source|seed|snapshot)\.[^{}\n]*\}"
_LITERAL = re.compile(r"'[^'\n]*'")
Nodes = dict[str, ReviewedNode]


def outlined_versions(
    before: DbtVersion, after: DbtVersion, cache: OutlineCache | None = None
) -> tuple[Nodes, Nodes]:
    """The nodes of both versions, with the outlines of the queries that may differ."""
    cache = cache or OutlineCache(None)
    pair = _Pair(before, after, cache)
    for key in _upstream_first(after.models, after.models.keys() & before.models.keys()):
        pair.add(key)
    return pair.old.nodes, pair.new.nodes


class _Pair:
    """Two versions while their nodes are compared, upstream first."""

    def __init__(self, before: DbtVersion, after: DbtVersion, cache: OutlineCache) -> None:
        listed = {
            key
            for key, node in after.nodes.items()
            if node.listed and (other := before.nodes.get(key)) and other.listed
        }
        self.old, self.new = _Side(before, cache, listed), _Side(after, cache, listed)
        # Nodes with other columns, and those that lack some now or did in the base, by id: names.
        self._shifted: dict[str, str] = {}
        self._lacking: dict[str, str] = {}

    def add(self, key: str) -> None:
        """Outline a node that is in both versions, if it may differ."""
        old, new = self.old.nodes[key], self.new.nodes[key]
        first, second = self.old.models[key], self.new.models[key]
        if not (first.is_query and second.is_query) or first.is_python or second.is_python:
            if old.listed and new.listed:
                self._note_columns(key)
            return
        texts = self._texts(first, second, old, new)
        is_same = texts[0] == texts[1]
        if is_same:
            new = replace(new, code=old.code)
        is_other = (new.source_code, new.macros) != (old.source_code, old.macros)
        if is_other and (old.has_branches or new.has_branches):
            old = replace(old, branches=self.old.branches(key))
            new = replace(new, branches=self.new.branches(key))
        both_listed = old.listed and new.listed
        if (
            not is_same
            or _reads(self._shifted, second, first)
            or (both_listed and old.columns.keys() != new.columns.keys())
        ):
            environment = old.source_code == new.source_code and old.macros == new.macros
            words = self._places(old, new) if environment else ({}, {})
            old, new = self.old.outlined(old, words[0]), self.new.outlined(new, words[1])
            is_followed = old.outline and new.outline and not _reads(self._lacking, second, first)
            if is_same and is_followed:  # `*` and places may stand for other columns
                new = replace(new, code=digest("of other columns", old.code))
            if old.problem and new.problem and _tokens(texts[0]) == _tokens(texts[1]):
                new = replace(new, code=old.code)
            self.old.nodes[key], self.new.nodes[key] = old, new
            self._note_columns(key)
            return
        problems = self.old.problem(first), self.new.problem(second)
        self.old.nodes[key] = replace(old, problem=problems[0]) if problems[0] else old
        self.new.nodes[key] = replace(new, problem=problems[1]) if problems[1] else new

    def _note_columns(self, key: str) -> None:
        first, second = self.old.nodes[key].known_columns, self.new.nodes[key].known_columns
        name = self.new.models[key].relation[-1]
        if first != second:
            self._shifted[key] = name
        if not first or {*first} - {*second}:
            self._lacking[key] = name

    def _texts(
        self, first: DbtModel, second: DbtModel, old: ReviewedNode, new: ReviewedNode
    ) -> tuple[str, str]:
        """The compiled queries, with the names of relations replaced if they are others."""
        if first.sql == second.sql:
            return first.sql, second.sql
        texts = self.old.neutral_text(first), self.new.neutral_text(second)
        if texts[0] == texts[1] or old.source_code != new.source_code or old.macros != new.macros:
            return texts
        words = self._places(old, new)
        return _replace_names(texts[0], words[0]), _replace_names(texts[1], words[1])

    @staticmethod
    def _places(old: ReviewedNode, new: ReviewedNode) -> tuple[dict[str, str], dict[str, str]]:
        """The database and the schema of each version -> a word for both."""
        pairs = zip(
            old.place.split("."), new.place.split("."), ("database", "schema"), strict=False
        )
        others = [(first, second, word) for first, second, word in pairs if first != second]
        return (
            {first: word for first, _, word in others if first},
            {second: word for _, second, word in others if second},
        )


class _Side:
    """A version while its queries are outlined."""

    def __init__(self, version: DbtVersion, cache: OutlineCache, listed: Collection[str]) -> None:
        self.nodes: Nodes = dict(version.nodes)
        self.models = version.models
        self._version, self._cache, self._listed = version, cache, listed
        self._keys = {model.relation_name: key for key, model in version.models.items()}
        self._columns: dict[str, tuple[str, ...]] = {}
        self._open: set[str] = set()

    def problem(self, model: DbtModel) -> str:
        """The reason for which a query has no outline, as far as nothing is parsed."""
        if not model.sql.strip():
            return NOT_COMPILED
        if self._version.dialect is None:
            adapter = self._version.adapter or "(unknown)"
            return f"the SQL of dbt's adapter {adapter} is not supported"
        return ""

    def outlined(self, node: ReviewedNode, places: Mapping[str, str]) -> ReviewedNode:
        """A node with the outline of its query.

        Args:
            places: Names of the target that do not count in literals, and a word for each.
        """
        model = self.models[node.node_id]
        outline, problem = self._outline(model, _replace_places(model.sql, places))
        node = replace(node, outline=outline, problem=problem)
        self._columns[node.node_id] = node.known_columns
        return node

    def branches(self, key: str) -> tuple[QueryOutline, ...]:
        """The outlines of both branches of an incremental model; empty if one is not known."""
        model = self.models[key]
        outlines = [self._outline(model, text)[0] for text in branches(model, self.models)]
        known = tuple(outline for outline in outlines if outline)
        return known if len(known) == len(outlines) else ()

    def neutral_text(self, model: DbtModel) -> str:
        """The query with ids in the place of the relations that it reads, and of its own."""

        def id_of(match: re.Match[str]) -> str:
            name = match.group()
            key = self._keys.get(name)
            return f"{{{key}}}" if key in model.parents or key == model.unique_id else name

        return _DOTTED.sub(id_of, model.sql)

    def _outline(self, model: DbtModel, text: str) -> tuple[QueryOutline | None, str]:
        if problem := self.problem(model):
            return None, problem
        dialect, tables = str(self._version.dialect), self._tables(model)
        key = digest(dialect, text)
        if cached := self._cache.find(key, tables):
            return cached
        used: dict[Name, None] = {}

        def noted(name: Name) -> tuple[str, tuple[str, ...]]:
            used[name] = None
            table, columns = tables(name)
            return table, tuple(columns)

        # The parser takes as long to import as a review in which nothing must be parsed.
        from dbt_graft.collectors.statements.columns.tree import NoTreeError
        from dbt_graft.collectors.statements.outline.query import query_outline

        outline, problem = None, ""
        try:
            outline = query_outline(text, dialect, noted)
        except NoTreeError as error:
            problem = str(error)
        self._cache.add(key, tuple(used), tables, outline, problem)
        return outline, problem

    def _tables(self, model: DbtModel) -> OutlineTables:
        def table(name: Name) -> tuple[str, tuple[str, ...]]:
            parent = self._version.names.find(name, model)
            if parent is None or parent is model:
                return ".".join(name), ()
            return parent.unique_id, self._known_columns(parent.unique_id)

        return table

    def _known_columns(self, key: str) -> tuple[str, ...]:
        """The columns of a node; those of its query where the catalogs do not list it."""
        known = self._columns.get(key)
        if known is not None:
            return known
        for waiting in _upstream_first(self.models, [key], self._unknown()):
            if waiting in self._columns or waiting in self._open:
                continue
            self._open.add(waiting)
            node, model = self.nodes[waiting], self.models[waiting]
            if waiting not in self._listed and model.is_query and not model.is_python:
                self.outlined(node, {})
            else:
                self._columns[waiting] = node.known_columns
        return self._columns.get(key, ())

    def _unknown(self) -> Collection[str]:
        return self.models.keys() - self._columns.keys() - {*self._listed}


def _reads(nodes: Mapping[str, str], *models: DbtModel) -> bool:
    """Whether a model reads one of some nodes, with or without `ref`."""
    if not nodes:
        return False
    texts = [model.sql.casefold() for model in models]
    return any(not nodes.keys().isdisjoint(model.parents) for model in models) or any(
        name in text for name in nodes.values() for text in texts
    )


def _tokens(text: str) -> list[tuple[str, bool]]:
    """The words of a query that the parser does not support, without comments and layout."""
    import sqlglot
    from sqlglot.errors import TokenError

    try:
        tokens = sqlglot.tokenize(text)
    except TokenError:
        return [(text, True)]
    return [
        (token.text if quoted else token.text.casefold(), quoted)
        for token in tokens
        for quoted in [token.token_type.name in ("STRING", "IDENTIFIER")]
    ]


def _replace_places(text: str, places: Mapping[str, str]) -> str:
    """A text with words in the place of names that stand in its literals."""
    if not places:
        return text
    return _LITERAL.sub(lambda literal: _replace_names(literal.group(), places), text)


def _replace_names(text: str, places: Mapping[str, str]) -> str:
    if not places:
        return text
    names = re.compile(rf"{_ID}|\b(?:{'|'.join(map(re.escape, places))})\b", re.IGNORECASE)

    def word(name: re.Match[str]) -> str:
        place = places.get(name.group().casefold())
        return f"the {place}" if place else name.group()

    return names.sub(word, text)


def _upstream_first(
    models: Mapping[str, DbtModel], starts: Collection[str], among: Collection[str] | None = None
) -> Iterator[str]:
    """Models, each behind those that it reads.

    Args:
        among: Only these, and the starts; by default only the starts.
    """
    wanted = {*starts, *(among or ())}
    visited: set[str] = set()
    for start in sorted(starts):
        waiting = [(start, False)]
        while waiting:
            key, is_ready = waiting.pop()
            if is_ready:
                yield key
            elif key in models and key in wanted and key not in visited:
                visited.add(key)
                waiting.append((key, True))
                waiting += [(parent, False) for parent in models[key].parents]
