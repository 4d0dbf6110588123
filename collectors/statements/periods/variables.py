"""Variables of a batch that are dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt_graft.collectors.statements.periods.expressions import DateExpression, read_expression
from dbt_graft.collectors.statements.text.tokens import Token


def variables_of(tokens: Sequence[Token]) -> dict[str, DateExpression]:
    """The variables to which a batch assigns one date: `DECLARE @d date = '2026-11-01'`."""
    variables: dict[str, DateExpression] = {}
    twice: set[str] = set()
    for at, token in enumerate(tokens):
        if not token.word.startswith("@") or at + 1 >= len(tokens):
            continue
        before = tokens[at - 1].word if at else ""
        if before not in ("DECLARE", "SET", "SELECT", ","):
            continue
        name, position = token.word.casefold(), at + 1
        if tokens[position].word == "AS":
            position += 1
        if tokens[position].word != "=" and position + 1 < len(tokens):
            position += 1
            if position < len(tokens) and tokens[position].word == "(":
                position += 3  # datetime2(7), with the number as a list
        if position < len(tokens) and tokens[position].word == "=":
            if name in variables or name in twice:
                twice.add(name)
                variables.pop(name, None)
            elif value := read_expression(tokens, position + 1):
                variables[name] = value[0]
            else:
                twice.add(name)
    return variables


def assign_value(value: DateExpression, variables: Mapping[str, DateExpression]) -> DateExpression:
    """An expression with what a batch assigned to its variable, itself not a variable again."""
    if value.of:
        return replace(value, of=assign_value(value.of, variables))
    expression = variables.get(value.variable) if value.variable else None
    return expression if expression and not expression.variables else value
