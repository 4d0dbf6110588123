"""PIVOT and UNPIVOT: the columns and rows that they make of others."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt_graft.collectors.statements.outline.expression import (
    clause_digest,
    expression_digest,
    value_digest,
)
from dbt_graft.collectors.statements.outline.scope import OutlineRows, OutlineScope, digest

# sqlglot makes names of the text of a value, with a comment that stands behind it.
_COMMENT = re.compile(r" /\*.*?\*/", re.DOTALL)
# How a dialect makes names of columns, which the tree has made already.
_NAMING = {"identify_pivot_strings", "prefixed_pivot_columns", "pivot_column_naming"}
_HANDLED = {"expressions", "fields", "columns", "alias", "unpivot", *_NAMING}


def pivot_rows(source: OutlineRows, pivot: exp.Expr, scope: OutlineScope) -> OutlineRows:
    """The rows of a PIVOT.

    With one list of values and known columns: those that it does not use, by which it groups, and
    a column for each value. Else it counts as it is written.
    """
    inner = scope.inner()
    inner.sources["_"] = source
    fields, aggregates = pivot.args.get("fields") or [], pivot.expressions
    columns = pivot.args.get("columns") or ()
    names = [_COMMENT.sub("", identifier.name).casefold() for identifier in columns]
    values = fields[0].expressions if len(fields) == 1 and isinstance(fields[0], exp.In) else []
    is_plain = not any(value for key, value in pivot.args.items() if key not in _HANDLED)
    if (
        pivot.args.get("unpivot")
        or source.others
        or not is_plain
        or not values
        or len(names) != len(values) * len(aggregates)
    ):
        rows = digest(
            "pivot", source.rows, *source.columns.values(), clause_digest(pivot, inner, "alias")
        )
        made = OutlineRows(rows, others=(rows,), grain=frozenset([rows]))
        return made.with_parts([source, *inner.hidden])
    used = {
        inner.key(column.this)
        for part in (*aggregates, fields[0].this)
        for column in part.find_all(exp.Column)
    }
    used |= {inner.key(fields[0].this)} if isinstance(fields[0].this, exp.Identifier) else set()
    grouped = {name: column for name, column in source.columns.items() if name not in used}
    rows = digest("pivot", source.rows, *sorted(grouped.values()))
    switch = expression_digest(fields[0].this, inner)
    totals = [value_digest(total.unalias(), inner) for total in aggregates]
    made_columns = dict(grouped)
    for index, name in enumerate(names):
        value = values[index // len(aggregates)]
        shown = value_digest(value.this if isinstance(value, exp.PivotAlias) else value, inner)
        made_columns[name] = digest("pivoted", rows, switch, shown, totals[index % len(totals)])
    made = OutlineRows(rows, made_columns, grain=frozenset([rows]))
    return made.with_parts([source, *inner.hidden])
