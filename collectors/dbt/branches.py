"""The branches of an incremental model, as SQL: with and without what `is_incremental()` decides.

The manifest has one of them compiled: which one depends on whether the table existed. Both are
rendered where the model's Jinja is no more than refs, sources, `this` and these conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dbt_graft.collectors.dbt.models import DbtModel

_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}"}
_NAMED = re.compile(r"""(ref|source)\(\s*((?:'[^']*'|"[^"]*"|[\w\s=,])*)\)""")
_NAME = re.compile(r"""['"]([^'"]*)['"]""")


class _UnknownJinjaError(ValueError):
    """The Jinja of a model is more than we render."""


def branches(model: DbtModel, models: Mapping[str, DbtModel]) -> tuple[str, ...]:
    """Both branches of a model's query; none where it has no branches or other Jinja."""
    if "is_incremental" not in model.raw_sql:
        return ()
    try:
        pieces = list(_pieces(model, models))
    except _UnknownJinjaError:
        return ()
    return tuple(
        "".join(text for text, in_branch in pieces if in_branch[number]) for number in (0, 1)
    )


def _pieces(
    model: DbtModel, models: Mapping[str, DbtModel]
) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Pieces of the query, and whether they are in the incremental branch and in the full one."""
    conditions: list[tuple[bool, bool]] = []
    for kind, text in _split_jinja(model.raw_sql):
        if kind == "{%":
            _enter(text.split(), conditions)
        elif kind != "{#":
            rendered = _render(text, model, models) if kind else text
            incremental = all(condition[0] for condition in conditions)
            yield rendered, (incremental, all(condition[1] for condition in conditions))
    if conditions:
        raise _UnknownJinjaError


def _split_jinja(text: str) -> Iterator[tuple[str, str]]:
    """Plain text, which has no kind, and what stands in `{{ }}`, `{% %}` and `{# #}`."""
    at = 0
    while at < len(text):
        openings = [index for mark in _CLOSING if (index := text.find(mark, at)) >= 0]
        begin = min(openings, default=len(text))
        yield "", text[at:begin]
        if not openings:
            return
        kind = text[begin : begin + 2]
        end = text.find(_CLOSING[kind], begin + 2)
        if end < 0:
            raise _UnknownJinjaError
        yield kind, text[begin + 2 : end].strip("-+ \t\r\n")
        at = end + 2


def _enter(words: list[str], conditions: list[tuple[bool, bool]]) -> None:
    """Follow `{% if is_incremental() %}`, `{% else %}` and `{% endif %}`."""
    match words:
        case ["if", "is_incremental()"]:
            conditions.append((True, False))
        case ["if", "not", "is_incremental()"]:
            conditions.append((False, True))
        case ["else"] if conditions:
            incremental, full = conditions.pop()
            conditions.append((not incremental, not full))
        case ["endif"] if conditions:
            conditions.pop()
        case _:
            raise _UnknownJinjaError


def _render(expression: str, model: DbtModel, models: Mapping[str, DbtModel]) -> str:
    """`{{ ref('orders') }}` as the relation's name; `config(…)` is nothing."""
    if expression.startswith("config(") and expression.endswith(")"):
        return ""
    if expression == "this":
        return model.relation_name
    match = _NAMED.fullmatch(expression)
    if not match:
        raise _UnknownJinjaError
    names = _NAME.findall(match[2])
    of_source = match[1] == "source"
    relation_names = {
        parent.relation_name
        for key in model.parents
        if (parent := models.get(key)) and (parent.kind == "source") is of_source
        if parent.names[-len(names) :] == tuple(names)
    }
    if len(relation_names) != 1 or not names:
        raise _UnknownJinjaError
    return relation_names.pop()
