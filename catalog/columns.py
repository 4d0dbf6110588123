"""A dataset's columns for its page: what they are, which ones they come from, what they feed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import prose
from dbt_graft.catalog.words import SUBTYPE
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Subtype

# How many sources a column shows.
_ROOM = 12


@dataclass(frozen=True, slots=True)
class Source:
    """A column, or a whole dataset where `column` is empty, that has a part in something."""

    dataset: DatasetId
    column: str
    how: str


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A column; its description is HTML.

    Attributes:
        sources: Where its values come from and what decides on them, `more` left out.
        feeds: How many columns elsewhere it has a part in.
    """

    name: str
    type: str
    text: Markup
    sources: tuple[Source, ...] = ()
    more: int = 0
    feeds: int = 0


@dataclass(frozen=True, slots=True)
class Columns:
    """All columns of a dataset.

    Attributes:
        followed: Any of them is known to come from one or to feed one.
        unknown: Datasets whose columns go into this one, which into which is not known.
        deciding: What decides which rows there are.
    """

    rows: tuple[ColumnRow, ...]
    followed: bool
    unknown: tuple[Source, ...]
    deciding: tuple[Source, ...]


def columns(index: Index, dataset: DatasetId, root: str) -> Columns:
    """Columns as the log or dbt's catalog has them, then those that dbt or statements name."""
    into, out = index.columns_to.get(dataset, ()), index.columns_from.get(dataset, ())
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in into:
        edges[edge.to_column.casefold()].append(edge)
    feeds: dict[str, set[tuple[DatasetId, str]]] = defaultdict(set)
    for edge in out:
        if edge.to_column != ANY_COLUMN:
            feeds[edge.from_column.casefold()].add((edge.to_dataset, edge.to_column.casefold()))
    description = index.descriptions.get(dataset)
    texts = dict(description.columns) if description else {}
    folded = {name.casefold(): text for name, text in texts.items()}
    rows = []
    for key, (name, kind) in _named(index, dataset, texts).items():
        sources = _sources(edges.get(key, ()))
        text = prose(folded.get(key, ""), root, has_dbt_docs=index.has_dbt_docs)
        shown, more = sources[:_ROOM], max(0, len(sources) - _ROOM)
        rows.append(ColumnRow(name, kind, text, shown, more, len(feeds.get(key, ()))))
    whole = edges.get(ANY_COLUMN, ())
    return Columns(
        rows=tuple(rows),
        followed=any(row.sources or row.feeds for row in rows),
        unknown=_sources(edge for edge in whole if edge.type is EdgeType.DIRECT),
        deciding=_sources(edge for edge in whole if edge.type is EdgeType.INDIRECT),
    )


def _named(
    index: Index, dataset: DatasetId, texts: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Every column that anything names, folded -> its name and type."""
    found = {c.name.casefold(): (c.name, c.type) for c in index.datasets[dataset].columns}
    edges = (
        *(edge.to_column for edge in index.columns_to.get(dataset, ())),
        *(edge.from_column for edge in index.columns_from.get(dataset, ())),
    )
    for name in (*texts, *edges):
        if name != ANY_COLUMN:
            found.setdefault(name.casefold(), (name, ""))
    return found


def _sources(edges: Iterable[ColumnEdge]) -> tuple[Source, ...]:
    """Each column once with all that it does, those that pass values on first."""
    ranks = list(Subtype)
    found: dict[tuple[DatasetId, str], dict[str, None]] = {}
    for edge in sorted(edges, key=lambda one: ranks.index(one.subtype)):
        column = "" if edge.from_column == ANY_COLUMN else edge.from_column
        how = found.setdefault((edge.from_dataset, column), {})
        how[
            "masked" if edge.masking and edge.type is EdgeType.DIRECT else SUBTYPE[edge.subtype]
        ] = None
    return tuple(Source(*source, ", ".join(how)) for source, how in found.items())
