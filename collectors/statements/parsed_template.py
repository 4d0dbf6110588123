"""Texts that differ in names only, parsed once: of tables a year or a tenant, of generated code.

The columns of their tables may differ too, so these are compared before one counts for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from dbt_graft.collectors.statements.columns.edge_collector import ParsedColumnEdge
from dbt_graft.collectors.statements.earlier import ColumnLookup
from dbt_graft.collectors.statements.shape import ParsedShape, shape_id
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.remembered import Remembered
from dbt_graft.collectors.statements.text.template import Template, make_template

Shapes = tuple[ParsedShape, ...]

# Templates that are remembered, with all their edges.
_MOST = 2_000


class _ParsedTemplate(NamedTuple):
    """The shapes of a template, and the columns of tables that were asked for."""

    shapes: Shapes
    asked: dict[tuple[str | None, Name], tuple[str, ...]]


_PARSED: Remembered[_ParsedTemplate] = Remembered(_MOST)


def parse_by_template(
    text: str,
    dialect: Dialect,
    columns: ColumnLookup,
    parse: Callable[[str, Dialect, ColumnLookup], Shapes],
    verbatim: Set[str] = frozenset(),
) -> Shapes:
    """The shapes of a normalised text, worked out once for all with its template.

    Args:
        parse: Parses a normalised text.
        verbatim: Names, folded, that the template does not replace.
    """
    template = make_template(text, verbatim)
    if template is None:
        return parse(text, dialect, columns)
    asked = _AskedColumns(template, columns)
    key = f"{dialect}:{template.text}"
    parsed = _PARSED.get(key)
    if parsed is None or any(asked(*table) != answer for table, answer in parsed.asked.items()):
        parsed = _ParsedTemplate(parse(template.text, dialect, asked), asked.answers)
        if not asked.respelled:
            _PARSED.add(key, parsed)
    if asked.respelled:
        return parse_by_template(text, dialect, columns, parse, verbatim | asked.respelled)
    names = _RestoredNames(template, text)
    return tuple(_restore(shape, names) for shape in parsed.shapes)


class _AskedColumns:
    """The columns of tables under the names of a template, and which were asked for.

    Attributes:
        respelled: Names of the text, folded, that a schema spells otherwise.
    """

    def __init__(self, template: Template, columns: ColumnLookup) -> None:
        self._template, self._columns = template, columns
        self._ours = {name.casefold(): number for number, name in enumerate(template.names)}
        self.answers: dict[tuple[str | None, Name], tuple[str, ...]] = {}
        self.respelled: set[str] = set()

    def __call__(self, database: str | None, table: Name) -> Sequence[str]:
        """The columns of a table of the template."""
        restore = self._template.restore
        columns = self._columns(database and restore(database), tuple(map(restore, table)))
        answer = tuple(map(self._name, columns))
        self.answers[database, table] = answer
        return answer

    def _name(self, column: str) -> str:
        number = self._ours.get(column.casefold())
        if number is None:
            return column
        if self._template.names[number] != column:
            self.respelled.add(column.casefold())
        return f"__Nn{number}"


class _RestoredNames(dict[str, str]):
    """Strings made of a template -> the same under the names of a text, each worked out once."""

    def __init__(self, template: Template, text: str) -> None:
        super().__init__({template.text: text})
        self._template = template

    def __missing__(self, name: str) -> str:
        return self.setdefault(name, self._template.restore(name))

    def of_table(self, name: Name) -> Name:
        """The name of a table."""
        return tuple([self[part] for part in name])


def _restore(shape: ParsedShape, names: _RestoredNames) -> ParsedShape:
    """A shape of a template, under the names of a text."""
    text, of_table = names[shape.text], names.of_table
    return replace(
        shape,
        shape_id=shape_id(text, shape.dialect),
        text=text,
        reason=shape.reason and names[shape.reason],
        verb=names[shape.verb],
        accesses=tuple(
            TableAccess(
                of_table(access.name),
                access.direction,
                access.operation,
                access.kind,
                tuple([(names[column], names[kind]) for column, kind in access.columns]),
            )
            for access in shape.accesses
        ),
        database=shape.database and names[shape.database],
        module=shape.module and names[shape.module],
        column_edges=tuple(
            ParsedColumnEdge(
                of_table(edge.table),
                names[edge.column],
                of_table(edge.from_table),
                names[edge.from_column],
                edge.subtype,
                edge.masking,
            )
            for edge in shape.column_edges
        ),
        calls=tuple(map(of_table, shape.calls)),
        result=of_table(shape.result),
    )
