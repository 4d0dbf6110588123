"""Variables of a batch whose value is one date: `DECLARE @d date = '2026-11-01'`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt_graft.collectors.statements.periods.expressions import DateExpression, read_expression
from dbt_graft.collectors.statements.text.tokens import Token, keywords, word_at

_ASSIGNS = keywords("DECLARE SET SELECT")
_CALLS = keywords("EXEC EXECUTE")
_OUTPUT = keywords("OUT OUTPUT")
_LISTS = _ASSIGNS | _CALLS | {"FETCH"}
_NO_DATE = DateExpression()


def variables_of(tokens: Sequence[Token]) -> dict[str, DateExpression]:
    """The variables that a batch assigns something to; one without a date where it is not sure."""
    variables: dict[str, DateExpression] = {}
    # Name -> those that its value was worked out from.
    used: dict[str, frozenset[str]] = {}
    changed, seen, declared, begin = set[str](), set[str](), set[str](), ""
    for at, token in enumerate(tokens):
        begin = token.word if token.word in _LISTS else begin
        if not token.word.startswith("@"):
            continue
        name, before = token.word.casefold(), tokens[at - 1].word if at else ""
        is_set = before in _ASSIGNS or (before == "," and begin in _ASSIGNS)
        value_at = _value_place(tokens, at + 1) if is_set else None
        if begin == "FETCH" or word_at(tokens, at + 1) in _OUTPUT:
            changed.add(name)
        elif value_at is not None:
            read = read_expression(tokens, value_at)
            value = read[0] if read else _NO_DATE
            used[name] = value.variables.union(*(used.get(v, ()) for v in value.variables))
            # A parameter has a value before, and may have been used with it.
            is_again = name in variables or (name in seen and name not in declared)
            if is_again or name in used[name]:
                changed.add(name)
            variables[name] = assign_value(value, variables)
        if begin == "DECLARE":
            declared.add(name)
        seen.add(name)
    return {
        **{name: _NO_DATE if changed & used[name] else value for name, value in variables.items()},
        **dict.fromkeys(changed, _NO_DATE),
    }


def _value_place(tokens: Sequence[Token], at: int) -> int | None:
    """The place of the value in `date = '2026-11-01'` or `= '2026-11-01'`; None without one."""
    if word_at(tokens, at) == "AS":
        at += 1
    if word_at(tokens, at) != "=":
        at += 1
        if word_at(tokens, at) == "(":
            at += 3  # datetime2(7), with the number as a list
    return at + 1 if word_at(tokens, at) == "=" else None


def assign_value(value: DateExpression, variables: Mapping[str, DateExpression]) -> DateExpression:
    """An expression, with the values of its variables in their place."""
    if value.of:
        return replace(value, of=assign_value(value.of, variables))
    return variables.get(value.variable, value)
