"""Texts that differ in the names of their tables only, parsed once: of tables a year or a tenant.

The columns of their tables may differ too, so these are compared before one counts for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dbt_graft.collectors.statements.columns.edge_collector import ParsedColumnEdge
from dbt_graft.collectors.statements.earlier import ColumnLookup
from dbt_graft.collectors.statements.shape import ParsedShape, shape_id
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.remembered import Remembered
from dbt_graft.collectors.statements.text.template import TableTemplate

Shapes = tuple[ParsedShape, ...]

# Templates that are remembered, with all their edges.
_MOST = 2_000


class _ParsedTemplate(NamedTuple):
    """The shapes of a template, and the columns of tables that were asked for."""

    shapes: Shapes
    asked: dict[tuple[str | None, Name], tuple[str, ...]]

    def is_true_of(self, template: TableTemplate, columns: ColumnLookup) -> bool:
        """Whether the tables of another text have the same columns."""
        return all(
            tuple(columns(database, template.restore_name(table))) == answer
            for (database, table), answer in self.asked.items()
        )


_PARSED: Remembered[_ParsedTemplate] = Remembered(_MOST)


def parse_by_template(
    template: TableTemplate,
    dialect: Dialect,
    columns: ColumnLookup,
    parse: Callable[[str, Dialect, ColumnLookup], Shapes],
) -> Shapes:
    """The shapes of a text that has a template.

    Args:
        parse: Parses a normalised text.
    """
    key = f"{dialect}:{template.text}"
    parsed = _PARSED.get(key)
    if parsed is None or not parsed.is_true_of(template, columns):
        parsed = _ParsedTemplate((), {})
        asked = parsed.asked

        def ask(database: str | None, table: Name) -> Sequence[str]:
            answer = tuple(columns(database, template.restore_name(table)))
            asked[database, table] = answer
            return answer

        parsed = _PARSED.add(key, parsed._replace(shapes=parse(template.text, dialect, ask)))
    return tuple(_restore(shape, template) for shape in parsed.shapes)


def _restore(shape: ParsedShape, template: TableTemplate) -> ParsedShape:
    """A shape of a template, under the names of the tables of one text."""
    text, names = template.restore(shape.text), _RestoredNames(template)
    return replace(
        shape,
        shape_id=shape_id(text, shape.dialect),
        text=text,
        accesses=tuple(replace(access, name=names[access.name]) for access in shape.accesses),
        column_edges=tuple(
            ParsedColumnEdge(
                names[edge.table],
                edge.column,
                names[edge.from_table],
                edge.from_column,
                edge.subtype,
                edge.masking,
            )
            for edge in shape.column_edges
        ),
    )


class _RestoredNames(dict[Name, Name]):
    """Names in a template -> those of the text, each worked out once."""

    def __init__(self, template: TableTemplate) -> None:
        self._template = template

    def __missing__(self, name: Name) -> Name:
        return self.setdefault(name, self._template.restore_name(name))
