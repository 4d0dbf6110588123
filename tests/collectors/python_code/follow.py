"""Scripts followed in tests, and their edges in a notation of one line each."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from dbt_graft.collectors.python_code.script import Script
from dbt_graft.collectors.python_code.task_code import follow_script
from dbt_graft.lineage.records import Subtype

# Frames that snippets use.
HEAD = """\
import numpy as np
import pandas as pd
df = pd.read_sql("SELECT id, a, b, c, k FROM dbo.t", con)
other = pd.read_sql("SELECT k, x, a FROM dbo.u", con)
every = pd.read_sql("SELECT * FROM dbo.w", con)
"""
TAIL = 'out.to_sql("target", con, index=False)\n'
_SIGNS = {
    Subtype.IDENTITY: "",
    Subtype.TRANSFORMATION: "~",
    Subtype.AGGREGATION: "+",
    Subtype.JOIN: "join ",
    Subtype.FILTER: "filter ",
    Subtype.GROUP_BY: "group ",
    Subtype.SORT: "sort ",
    Subtype.WINDOW: "window ",
    Subtype.CONDITIONAL: "if ",
}


def follow(source: str, files: Mapping[str, str] | None = None) -> Script:
    """Follow a script, with files beside it."""
    texts = {"load.py": dedent(source), **(files or {})}
    contents = {name: text.encode() for name, text in texts.items()}
    return follow_script("load.py", contents.get)


def edges_of(script: Script, sources: Mapping[int, str] | None = None, target: int = 0) -> str:
    """The columns of a target with their inputs: `a=~b,c; *=filter d`; gaps are `?column`.

    Args:
        sources: Number of a source -> the name that stands before its columns.
    """
    columns: dict[str, list[str]] = {}
    if script.targets:
        for column in script.targets[target].columns:
            columns[column] = []
    for edge in script.edges:
        if edge.target == target and edge.from_column:
            source = (sources or {}).get(edge.source)
            name = edge.from_column if source is None else f"{source}.{edge.from_column}"
            masked = f"!{edge.masked_by.value}" if edge.masked_by else ""
            without = f" without {','.join(edge.without)}" if edge.without else ""
            columns.setdefault(edge.column, []).append(
                f"{_SIGNS[edge.subtype]}{name}{masked}{without}"
            )
    parts = [f"{column}={','.join(sorted(inputs))}" for column, inputs in columns.items()]
    parts += sorted({f"?{gap.column}" for gap in script.gaps})
    return "; ".join(parts)


def edges_of_frame(lines: str) -> str:
    """The columns of what lines make of the frames of `HEAD`."""
    return edges_of(follow(f"{HEAD}{dedent(lines)}\n{TAIL}"), {1: "u", 2: "w"})
