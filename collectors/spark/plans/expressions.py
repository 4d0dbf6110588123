"""Columns that an expression of a plan uses, and how.

Catalyst writes `CASE WHEN (a#1 > 3) THEN b#2 ELSE 0 END AS c#5`, `sum(cast(a#1 as bigint))`,
`if (isnull(a#1)) null else f(a#1)`, `row_number() windowspecdefinition(k#1, v#2 ASC NULLS FIRST,
…)`. Literals are not quoted and may look like code, so only ids of the operator's inputs count, and
brackets need not match.
"""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import islice
from typing import NamedTuple

from dbt_graft.collectors.spark.plans.arguments import split_alias
from dbt_graft.collectors.statements.columns.expressions import MASKING
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import Masking, Subtype

_TOKEN = re.compile(
    r"(?P<word>[\w<>$.]+)(?P<call>\()?|(?P<open>\()|(?P<close>\))|#(?P<id>\d{1,18})(?![\d#])"
)
# The column of a pivot decides which value an output column gets.
_PIVOT = re.compile(r"(?P<call>pivotfirst\()(?P<key>[^(),]*#\d{1,18}L?)(?=,)")
# What Spark puts around columns that it writes: a partition's, and one of VARCHAR.
_WRITTEN = re.compile(
    r"(?:empty2null\("
    r"|static_invoke\(CharVarcharCodegenUtils\.varcharTypeWriteSideCheck\((?=.*, \d+\)\)\Z))"
    r"(?P<column>[^(),]*#\d{1,18}L?)(?:, \d+\))?\)"
)
_PREFIXES = ("NOT ", "-", "~", "distinct ", "lambda ")
# Not the first number of `id#7#174`, which is the column `id#7`.
_NAMED_GROUP = re.compile(r"#(?P<id>\d{1,18})L?(?![\d#])")
_STEP = re.compile(r"(?:partial_|merge_|finalmerge_|final_)*(?:gpu|photon_)?")

AGGREGATES = keywords(
    """ANY ANY_VALUE APPROX_COUNT_DISTINCT APPROX_PERCENTILE APPROX_TOP_K ARRAY_AGG AVG BIT_AND
    BIT_OR BIT_XOR BITMAP_CONSTRUCT_AGG BITMAP_OR_AGG BLOOM_FILTER_AGG BOOL_AND BOOL_OR
    COLLECT_LIST COLLECT_SET CORR COUNT COUNT_IF COUNT_MIN_SKETCH COVAR_POP COVAR_SAMP EVERY FIRST
    FIRST_VALUE GROUPING_ID HISTOGRAM_NUMERIC HLL_SKETCH_AGG HLL_UNION_AGG HYPERLOGLOGPLUSPLUS
    KURTOSIS LAST LAST_VALUE LISTAGG MAX MAX_BY MEAN MEDIAN MIN MIN_BY MODE PERCENTILE
    PERCENTILE_APPROX PERCENTILE_CONT PERCENTILE_DISC PIVOTFIRST REGR_AVGX REGR_AVGY REGR_COUNT
    REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX REGR_SXY REGR_SYY SKEWNESS SOME STD STDDEV
    STDDEV_POP STDDEV_SAMP STRING_AGG SUM TRY_AVG TRY_SUM VAR_POP VAR_SAMP VARIANCE"""
)
# Their arguments are the order of their window.
_RANKS = frozenset({"RANK", "DENSE_RANK", "PERCENT_RANK"})
# Catalyst's names of SQL functions.
_SQL_NAMES = {"MURMUR3HASH": "HASH", "HIVEHASH": "HASH"}


class ColumnReference(NamedTuple):
    """A column, by its id, that has a part in a value, and how."""

    id: int
    subtype: Subtype
    masking: Masking = Masking.NONE


class _Frame(NamedTuple):
    """An open bracket or CASE, and how it uses the columns inside it.

    Attributes:
        begins: The number of references found before it.
        at: Its position in the text.
    """

    subtype: Subtype
    masking: Masking
    begins: int
    at: int
    is_case: bool = False


def column_references(text: str, known_ids: Container[int]) -> set[ColumnReference]:
    """Return the columns that an expression's value depends on.

    Args:
        known_ids: The ids of the columns that the expression can use.
    """
    text, _ = split_alias(text)
    text = _WRITTEN.sub(r"\g<column>", text) if text.endswith(")") else text
    if (bare := _bare_id(text)) is not None and bare in known_ids:
        return {ColumnReference(bare, Subtype.IDENTITY)}
    text = _PIVOT.sub(r"\g<call>if (\g<key>)", text)
    references: list[ColumnReference] = []
    stack = [_Frame(Subtype.TRANSFORMATION, Masking.NONE, 0, 0)]
    decides = False  # the next bracket is a condition
    for token in _TOKEN.finditer(text):
        top = stack[-1]
        if id_ := token["id"]:
            if int(id_) in known_ids:
                references.append(ColumnReference(int(id_), top.subtype, top.masking))
        elif token["close"]:
            if len(stack) > 1:
                closed = _close_frame(stack)
                named = _NAMED_GROUP.match(text, token.end())
                if named and int(named["id"]) in known_ids:
                    del references[closed.begins :]  # it was the name of a column: `sum(a#1)#7`
                    if not closed.at and named.end() == len(text):
                        return {ColumnReference(int(named["id"]), Subtype.IDENTITY)}
        elif token["open"] or token["call"]:
            word = token["word"] or ""
            inside = _inner_frame(top, word, decides or word == "if")
            stack.append(inside._replace(begins=len(references), at=token.start()))
            decides = False
        else:
            decides = _handle_keyword(token["word"], stack)
    return set(references)


def _bare_id(text: str) -> int | None:
    if "(" in text or text.startswith(_PREFIXES):
        return None
    named = list(islice(_NAMED_GROUP.finditer(text), 2))
    is_bare = len(named) == 1 and named[0].start() > 0 and named[0].end() == len(text)
    return int(named[0]["id"]) if is_bare else None


def _inner_frame(top: _Frame, word: str, decides: bool) -> _Frame:
    """The frame of a bracket behind a word."""
    if decides:
        return top._replace(subtype=compose(top.subtype, Subtype.CONDITIONAL), is_case=False)
    name = _STEP.sub("", word.rpartition(".")[2], count=1).upper()
    name = _SQL_NAMES.get(name, name)
    masking = top.masking.then(MASKING.get(name, Masking.NONE))
    inside = top._replace(masking=masking, is_case=False)
    if name == "WINDOWSPECDEFINITION" or name in _RANKS:
        return inside._replace(subtype=compose(top.subtype, Subtype.WINDOW))
    if name in AGGREGATES:
        return inside._replace(subtype=compose(top.subtype, Subtype.AGGREGATION))
    return inside


def _close_frame(stack: list[_Frame]) -> _Frame:
    """Close the innermost bracket, and any open CASE in it that a literal began."""
    while len(stack) > 2 and stack[-1].is_case:
        stack.pop()
    return stack.pop()


def _handle_keyword(word: str, stack: list[_Frame]) -> bool:
    """Handle a word that is no call; returns whether the next bracket is a condition."""
    top = stack[-1]
    if word == "CASE":
        stack.append(top._replace(is_case=True))
    elif top.is_case and word in ("WHEN", "THEN", "ELSE"):
        outer = stack[-2].subtype
        chosen = compose(outer, Subtype.CONDITIONAL) if word == "WHEN" else outer
        stack[-1] = top._replace(subtype=chosen)
    elif top.is_case and word == "END":
        stack.pop()
    return word in ("if", "FILTER")
