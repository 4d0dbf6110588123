"""SQL text -> the shapes of its statements, and the tables and columns that they access."""

from __future__ import annotations

from dataclasses import replace

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.earlier import ColumnLookup, EarlierStatements
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parsed_template import parse_by_template
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.statement_shape import last_resort, statement_shape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.length import TOO_LONG, pieces
from dbt_graft.collectors.statements.text.modules import creates_module, module_name
from dbt_graft.collectors.statements.text.names import name_at
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import Token, tokenise
from dbt_graft.lineage.records import Outcome

_SCHEMAS = frozenset({"SCHEMA", "DATABASE", "NAMESPACE"})


def parse(
    text: str, dialect: Dialect, columns: ColumnLookup = lambda database, table: ()
) -> tuple[ParsedShape, ...]:
    """The statements of a text, in order, as shapes with their tables and column edges.

    Args:
        columns: The columns of tables, for `SELECT *` and INSERT without columns.

    Never raises: a text that cannot be read is a shape of outcome FAILED with its reason.
    """
    return parse_by_template(normalise(text, dialect), dialect, columns, _parse)


def _parse(text: str, dialect: Dialect, columns: ColumnLookup) -> tuple[ParsedShape, ...]:
    shapes = []
    shapes_by_key: dict[object, ParsedShape] = {}  # a loop repeats statements
    database = module = None
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
        for statement in split(tokens, dialect):
            if [token.word for token in statement] == ["GO"]:
                module = None
                earlier.end_batch()
                continue
            alone = piece[statement[0].start : statement[-1].end]
            key = alone, database, earlier.known_to(statement)
            if key not in shapes_by_key:
                begins = statement[0] is tokens[0]
                shapes_by_key[key] = statement_shape(
                    alone, statement, dialect, database, begins, earlier
                )
            if creates_module(statement):
                module = None
            shape = replace(shapes_by_key[key], database=database, module=module)
            shapes.append(shape)
            earlier.follow(statement, shape.accesses, shape.result, dialect, shape.outcome)
            if creates_module(statement):
                module = module_name(statement)
                earlier.begin_module(statement)
            database = _chosen_database(statement, dialect) or database
        if is_cut and shapes:
            shapes[-1] = replace(shapes[-1], outcome=Outcome.PARTIAL, reason=TOO_LONG)
    return tuple(shapes)


def _chosen_database(tokens: list[Token], dialect: Dialect) -> str | None:
    """The database that a `USE` statement chooses."""
    if tokens[0].word != "USE":
        return None
    kind = tokens[1].word if len(tokens) > 2 else ""  # USE SCHEMA s, USE CATALOG c
    database = name_at(tokens, 2 if kind in _SCHEMAS else 1, dialect)
    return ".".join(database.name) if database and kind != "CATALOG" else None
