"""Column edges of dbt's SQL beside those in the log of dbt's own runs.

An edge in both is one edge, and observed. A log shows no views: engines read the tables behind
them. So edges are compared by the columns behind dbt's views. Where both know that values of one
dataset go into another, a column edge that only one side has is a difference. What decides on rows
is not compared: engines add conditions of their own (`IS NOT NULL`), and leave out needless ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionColumns
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Evidence

# A dataset and a column, in lower case.
_Source: TypeAlias = tuple[DatasetId, str]
# A column in lower case, a source behind all views, and whether its values go into the column.
_Key: TypeAlias = tuple[str, _Source, EdgeType]
_SHOWN_MODELS, _SHOWN_COLUMNS = 5, 3


@frozen
class ColumnDifference:
    """A column of a dbt model that dbt's SQL and the log take from different columns.

    Attributes:
        declared: The columns that only the SQL names: `raw.orders.amount`.
        observed: The columns that only the log names.
    """

    node_id: str
    column: str
    declared: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()

    def __str__(self) -> str:
        declared, observed = (", ".join(s) or "no more" for s in (self.declared, self.observed))
        return f"{self.column}: dbt's SQL says {declared}, the log shows {observed}"


@frozen
class Agreement:
    """The column edges of dbt's models, and the differences between both sides, sorted."""

    columns: DefinitionColumns
    differences: tuple[ColumnDifference, ...] = ()


def agreement(
    followed: DefinitionColumns,
    observed: Iterable[ColumnEdge],
    builders: Mapping[DatasetId, str],
    views: Collection[DatasetId],
) -> Agreement:
    """Compare the edges of dbt's SQL with those of a log.

    Args:
        observed: The edges in the log of dbt's own runs.
        builders: Dataset -> the name of the definition that builds it.
        views: The datasets that dbt builds as views.
    """
    seen: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in observed:
        if name := builders.get(edge.to_dataset):
            seen[name].append(replace(edge, task=name))
    if not seen:
        return Agreement(followed)
    edges, gaps = dict(followed.edges), dict(followed.gaps)
    behind = _Behind({view: edges[name] for view in views if (name := builders.get(view)) in edges})
    differences: list[ColumnDifference] = []
    for name, shown in sorted(seen.items()):
        model = _Model(name, edges.get(name, ()), shown, name in gaps, behind)
        if not edges.get(name):
            gaps.pop(name, None)
        edges[name] = tuple(model.edges())
        differences += model.differences()
    return Agreement(replace(followed, edges=edges, gaps=gaps), tuple(differences))


def findings(differences: Sequence[ColumnDifference]) -> Iterator[Finding]:
    """The differences as findings, one for each of the first models."""
    by_model: dict[str, list[ColumnDifference]] = defaultdict(list)
    for difference in differences:
        by_model[difference.node_id].append(difference)
    for name, model_differences in list(by_model.items())[:_SHOWN_MODELS]:
        remaining = len(model_differences) - _SHOWN_COLUMNS
        problems = [
            *map(str, model_differences[:_SHOWN_COLUMNS]),
            *([f"and {remaining} more"] if remaining > 0 else []),
        ]
        remedy = "if the model has changed, run it and collect its log"
        yield Finding("COLUMN_DISAGREEMENT", Severity.WARNING, name, "; ".join(problems), remedy)
    if (remaining := len(by_model) - _SHOWN_MODELS) > 0:
        yield Finding(
            "COLUMN_DISAGREEMENT",
            Severity.WARNING,
            f"{remaining:,} more models",
            "columns differ between dbt's SQL and the log",
            "`graft inject --report` lists them",
        )


class _Behind:
    """The columns behind those of views."""

    def __init__(self, views: Mapping[DatasetId, Iterable[ColumnEdge]]) -> None:
        self._sources: dict[DatasetId, dict[str, list[_Source]]] = {}
        for view, edges in views.items():
            columns = self._sources[view] = defaultdict(list)
            for edge in edges:
                if edge.type is EdgeType.DIRECT:
                    columns[edge.to_column.casefold()].append(_source(edge))

    def __call__(self, source: _Source) -> set[_Source]:
        """The columns of tables that a column's values come from: itself, if it is a table's.

        A view with columns that are not known has `*` among them.
        """
        sources: set[_Source] = set()
        met, waiting = {source}, [source]
        while waiting:
            dataset, column = waiting.pop()
            columns = self._sources.get(dataset)
            if columns is None:
                sources.add((dataset, column))
            else:
                further = {*columns.get(column, ()), *columns.get(ANY_COLUMN, ())} - met
                met |= further
                waiting += further
        return sources


@dataclass(slots=True)
class _Model:
    """The edges of one model by its SQL and in the log, with their keys."""

    name: str
    declared: Sequence[ColumnEdge]
    observed: Sequence[ColumnEdge]
    has_gap: bool
    behind: _Behind
    _stated: dict[_Key, None] = field(init=False)
    _shown: dict[_Key, ColumnEdge] = field(init=False)

    def __post_init__(self) -> None:
        self._stated = {key: None for edge in self.declared for key in self._keys(edge)}
        self._shown = {key: edge for edge in self.observed for key in self._keys(edge)}

    def edges(self) -> Iterator[ColumnEdge]:
        """The edges of the SQL, those in the log marked as observed, and what only the log has."""
        for edge in self.declared:
            is_seen = any(key in self._shown for key in self._keys(edge))
            yield replace(edge, evidence=Evidence.OBSERVED) if is_seen else edge
        if not self.declared:
            yield from dict.fromkeys(self.observed)
        elif self.has_gap:
            declared = {edge.to_column.casefold() for edge in self.declared}
            yield from dict.fromkeys(
                edge for edge in self.observed if edge.to_column.casefold() not in declared
            )
        else:
            yield from dict.fromkeys(
                self._shown[key] for key in self._unmatched_keys(self._shown, self._stated)
            )

    def differences(self) -> Iterator[ColumnDifference]:
        """The columns with direct edges that only one side has."""
        if self.has_gap or not self.declared:
            return
        sides = {
            "declared": self._unmatched_keys(self._stated, self._shown),
            "observed": self._unmatched_keys(self._shown, self._stated),
        }
        for column in sorted({key[0] for keys in sides.values() for key in keys}):
            yield ColumnDifference(
                self.name,
                column,
                **{
                    side: tuple(sorted(_text(key[1]) for key in keys if key[0] == column))
                    for side, keys in sides.items()
                },
            )

    def _unmatched_keys(self, ours: Iterable[_Key], others: Collection[_Key]) -> list[_Key]:
        """Direct edges of one side, between datasets that both sides connect."""
        direct = [key for key in (*self._stated, *self._shown) if key[2] is EdgeType.DIRECT]
        if any(ANY_COLUMN in (column, source[1]) for column, source, _ in direct):
            return []
        datasets = [{source[0] for _, source, _ in keys} for keys in (self._stated, self._shown)]
        return [
            key
            for key in ours
            if key[2] is EdgeType.DIRECT
            and key not in others
            and key[1][0] in datasets[0] & datasets[1]
        ]

    def _keys(self, edge: ColumnEdge) -> Iterator[_Key]:
        for source in self.behind(_source(edge)):
            yield edge.to_column.casefold(), source, edge.type


def _source(edge: ColumnEdge) -> _Source:
    # Of a field of a struct, logs show the struct.
    return edge.from_dataset, edge.from_column.casefold().partition(".")[0]


def _text(source: _Source) -> str:
    return f"{source[0].short}.{source[1]}"
