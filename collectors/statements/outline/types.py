"""Types as they stand in SQL, without what a platform makes no difference of."""

from __future__ import annotations

from sqlglot import exp

from dbt_graft.collectors.statements.outline.keys import NO_LENGTHS

_T = exp.DType
_TEXTS = {_T.TEXT, _T.VARCHAR, _T.NVARCHAR, _T.CHAR, _T.NCHAR, _T.BPCHAR, _T.NAME}
_ANY_TEXT = {_T.TEXT, _T.VARCHAR, _T.NVARCHAR}
_INTEGERS = {_T.TINYINT, _T.SMALLINT, _T.MEDIUMINT, _T.INT, _T.BIGINT, _T.INT128}
_REALS = {_T.FLOAT, _T.DOUBLE}
# In a CAST a length is written, and ignored.
_NO_CAST_LENGTHS = frozenset({*NO_LENGTHS, "spark", "databricks"})
# Integers of all sizes are one type there, and so are floats.
_ONE_NUMBER = frozenset({"bigquery", "snowflake"})


def type_name(tree: exp.Expr, dialect: str) -> str:
    """A type in the words of SQL, folded; equal for what is one type on the platform."""
    kind = tree.this if isinstance(tree, exp.DataType) else None
    if tree.args.get("collate"):
        kind = None
    if kind in _TEXTS and dialect in _NO_CAST_LENGTHS:
        return "text"
    if kind in _ANY_TEXT and not tree.expressions and dialect != "tsql":
        return "text"
    if dialect in _ONE_NUMBER and not tree.expressions:
        if kind in _INTEGERS:
            return "bigint"
        if kind in _REALS:
            return "double"
    return str(tree.sql(dialect=dialect, comments=False)).casefold()
