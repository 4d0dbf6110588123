"""SQL text -> the shapes of its statements, and the tables and columns that they access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.columns.edges import ParsedColumnEdge
from dbt_graft.collectors.statements.earlier import ColumnLookup, EarlierStatements
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.shape import ParsedShape, shape_id
from dbt_graft.collectors.statements.statement_shape import last_resort, statement_shape
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.length import TOO_LONG, pieces
from dbt_graft.collectors.statements.text.modules import creates_module
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.remembered import Remembered
from dbt_graft.collectors.statements.text.split import STARTS, split
from dbt_graft.collectors.statements.text.template import Template, make_template
from dbt_graft.collectors.statements.text.tokens import Token, closings, tokenise
from dbt_graft.collectors.statements.text.variables import UNKNOWN
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Outcome

_SCHEMAS = frozenset({"SCHEMA", "DATABASE", "NAMESPACE"})
_CATALOGS = frozenset({"sys", "information_schema"})
Shapes = tuple[ParsedShape, ...]
# Templates that are remembered, with all their edges.
_MOST = 2_000


def parse(
    text: str, dialect: Dialect, columns: ColumnLookup = lambda database, table: ()
) -> tuple[ParsedShape, ...]:
    """The statements of a text, in order, as shapes with their tables and column edges.

    Args:
        columns: The columns of tables, for `SELECT *` and INSERT without columns.

    Never raises: a text that cannot be read is a shape of outcome FAILED with its reason.
    """
    return _parse_by_template(normalise(text, dialect), dialect, columns)


def with_known_tables(shape: ParsedShape, database: str | None) -> ParsedShape:
    """A shape without the tables that may be in any database, where that is `UNKNOWN`."""
    if database != UNKNOWN:
        return shape
    accesses = tuple(
        access
        for access in shape.accesses
        if access.kind is not Kind.TABLE or any(access.name[:-2]) or _is_catalog(access.name)
    )
    if len(accesses) == len(shape.accesses):
        return shape
    outcome = Outcome.PARTIAL if accesses else Outcome.FAILED
    reason = "the database is not known that a USE chose, or that it left"
    return replace(shape, accesses=accesses, column_edges=(), outcome=outcome, reason=reason)


def _is_catalog(name: Name) -> bool:
    """Whether each database has its own table of this name: `sys.columns`."""
    return any(part.casefold() in _CATALOGS for part in name[-2:-1])


class _Placed(NamedTuple):
    """A statement, the database chosen before it, and where the `EXEC (…)` begins that it is in."""

    database: str | None
    statement: list[Token]
    sent: int


def _parse(text: str, dialect: Dialect, columns: ColumnLookup) -> tuple[ParsedShape, ...]:
    shapes = []
    shapes_by_key: dict[object, ParsedShape] = {}  # a loop repeats statements
    database = None
    earlier = EarlierStatements(columns)
    for piece, is_cut in pieces(text):
        try:
            tokens = tokenise(piece, dialect)
        except TokenError:
            verb = piece.partition(" ")[0]
            shapes.append(last_resort(piece, dialect, "text cannot be split into tokens", verb))
            continue
        if is_cut:
            del tokens[-1:]  # it may be the beginning of a name
        placed, last_database = _by_database(split(tokens, dialect), dialect, database)
        for database, statement, sent in placed:
            earlier.go_to(sent)
            if [token.word for token in statement] == ["GO"]:
                earlier.end_batch()
                continue
            alone = piece[statement[0].start : statement[-1].end]
            key = alone, database, earlier.known_to(statement)
            if key not in shapes_by_key:
                begins = statement[0] is tokens[0]
                shape = statement_shape(alone, statement, dialect, database, begins, earlier)
                shapes_by_key[key] = with_known_tables(shape, database)
            module = None if creates_module(statement) else earlier.module
            shape = replace(shapes_by_key[key], database=database, module=module)
            shapes.append(shape)
            earlier.follow(statement, shape.accesses, shape.result, dialect, shape.outcome)
            if creates_module(statement):
                earlier.begin_module(statement)
        database = last_database
        if is_cut and shapes:
            shapes[-1] = replace(shapes[-1], outcome=Outcome.PARTIAL, reason=TOO_LONG)
    return tuple(shapes)


def _by_database(
    statements: Iterable[list[Token]], dialect: Dialect, database: str | None, sent: int = 0
) -> tuple[list[_Placed], str | None]:
    """Each statement with the database chosen before it, and that at the end.

    `EXEC (USE Dw; …)` chooses none for what comes behind it.
    """
    placed: list[_Placed] = []
    for statement in statements:
        words = [token.word for token in statement[:3]]
        end = closings(statement)[1] if words[:2] == ["EXEC", "("] else 0
        if words[2:] and words[2] in STARTS and end + 1 >= len(statement):
            inside = split(statement[2:end], dialect)
            placed += _by_database(inside, dialect, database, statement[2].start)[0]
        else:
            placed.append(_Placed(database, statement, sent))
            database = _chosen_database(statement, dialect) or database
    return placed, database


def _chosen_database(tokens: list[Token], dialect: Dialect) -> str | None:
    """The database that a `USE` statement chooses."""
    if tokens[0].word != "USE":
        return None
    kind = tokens[1].word if len(tokens) > 2 else ""  # USE SCHEMA s, USE CATALOG c
    database = name_at(tokens, 2 if kind in _SCHEMAS else 1, dialect)
    if dialect is Dialect.TSQL and database is None:
        return UNKNOWN
    return ".".join(database.name) if database and kind != "CATALOG" else None


class _ParsedTemplate(NamedTuple):
    """The shapes of a template, and the columns of tables that were asked for."""

    shapes: Shapes
    asked: dict[tuple[str | None, Name], tuple[str, ...]]


_PARSED: Remembered[_ParsedTemplate] = Remembered(_MOST)


def _parse_by_template(
    text: str, dialect: Dialect, columns: ColumnLookup, verbatim: Set[str] = frozenset()
) -> Shapes:
    """The shapes of a normalised text, worked out once for all with its template.

    Args:
        verbatim: Names, folded, that the template does not replace.
    """
    template = make_template(text, verbatim)
    if template is None:
        return _parse(text, dialect, columns)
    asked = _AskedColumns(template, columns)
    key = f"{dialect}:{template.text}"
    parsed = _PARSED.get(key)
    if parsed is None or any(asked(*table) != answer for table, answer in parsed.asked.items()):
        parsed = _ParsedTemplate(_parse(template.text, dialect, asked), asked.answers)
        if not asked.respelled:
            _PARSED.add(key, parsed)
    if asked.respelled:
        return _parse_by_template(text, dialect, columns, verbatim | asked.respelled)
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
                edge.ordinal,
            )
            for edge in shape.column_edges
        ),
        calls=tuple(map(of_table, shape.calls)),
        result=of_table(shape.result),
    )
