"""Names in a query that its result has as values, in which the case of letters counts: JSON, XML.

Names are folded wherever a query is outlined; so where a function or clause turns names of columns
into text, those that are not written as the dialect folds them are a part of the query.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dbt_graft.collectors.statements.outline.keys import PLAIN_NAMES, name_key

_WRITERS = re.compile(
    r"to_?json|jsonb?_?(agg|array|build|format|group|object|to_record|populate)|object_construct|xml"
)
_WRITER_NODES = (exp.JSONFormat, exp.JSONObject, exp.JSONArrayAgg, exp.JSONObjectAgg, exp.StarMap)
_WRITTEN_TYPES = (exp.DType.JSON, exp.DType.JSONB, exp.DType.VARIANT, exp.DType.XML)


def spelled_names(tree: exp.Expr, dialect: str) -> list[str]:
    """The names that are not as they fold, where names become values; sorted, each once."""
    if not any(map(_writes_names, tree.walk())):
        return []
    identifiers = tree.find_all(exp.Identifier)
    if dialect not in PLAIN_NAMES:
        return sorted({each.name for each in identifiers if each.name != each.name.casefold()})
    quoted = ((each.name, bool(each.args.get("quoted"))) for each in identifiers)
    keys = {name_key(name, dialect, quoted=is_quoted) for name, is_quoted in quoted}
    return sorted(key for key in keys if key.startswith('"'))


def _writes_names(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return bool(_WRITERS.search(node.name.casefold()))
    if isinstance(node, exp.Cast):
        return node.to.this in _WRITTEN_TYPES
    if isinstance(node, exp.Pivot):
        return bool(node.args.get("unpivot"))
    return isinstance(node, _WRITER_NODES) or bool(node.args.get("for_"))
