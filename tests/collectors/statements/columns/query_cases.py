"""Cases of queries and the columns of their result: one line a case, `SQL | columns | rows | gaps`.

Columns are written in their order: `x=t.a,~t.b` comes from `t.a` as it is and from `t.b` changed,
`+t.a` is aggregated, `!t.a` masked, `CONDITIONAL:t.a` and the like decide; `x` alone has no input.
Then the inputs that decide on rows (`-` for none), and why something is missing. Names are
compared case-blind, a space in one is written `_`. Lines that begin with `#` are headings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.statements.columns.query_columns import query_columns
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import Subtype

SCHEMA = {
    "t": ["i", "k", "a", "b", "c", "day"],
    "u": ["i", "x", "y", "z"],
    "n": ["i", "items", "tags", "s", "j", "m"],
    "e": ["id", "pid", "name", "boss"],
    "q": ["region", "q1", "q2", "q3"],
    "nested": ["id", "address", "address.city", "address.geo.lat"],
    "mixed": ["Id", "Total Amount", "line", "LINE"],
}
_MARKS = {Subtype.IDENTITY: "", Subtype.TRANSFORMATION: "~", Subtype.AGGREGATION: "+"}


def cases(text: str) -> list[str]:
    """The lines of a text that are cases."""
    return [line for line in text.strip().splitlines() if line and not line.startswith("#")]


def expected(case: str) -> tuple[list[tuple[str, set[str]]], set[str], set[str]]:
    """The columns, rows and gaps of a case."""
    _, columns, rows, gaps = (*case.split(" | "), "", "")[:4]
    parts = [column.split("=") for column in columns.casefold().split()]
    return (
        [(name, set(inputs[0].split(",")) if inputs else set()) for name, *inputs in parts],
        set(rows.casefold().replace(",", " ").split()) - {"-"},
        set(gaps.split("; ")) - {""},
    )


def found(case: str, dialect: str) -> tuple[list[tuple[str, set[str]]], set[str], set[str]]:
    """The columns, rows and gaps that the query of a case has."""
    result = query_columns(case.split(" | ")[0], dialect, _columns)
    columns = [(_written(column.name), _inputs(column.inputs)) for column in result.columns]
    return columns, _inputs(result.row_inputs), set(result.gaps)


def _columns(table: Name) -> Sequence[str]:
    return SCHEMA.get(".".join(table), ())


def _inputs(inputs: Iterable[ColumnInput[Name]]) -> set[str]:
    return {f"{_mark(one)}{'.'.join(one.source)}.{_written(one.column)}" for one in inputs}


def _mark(one: ColumnInput[Name]) -> str:
    return "!" if one.masking else _MARKS.get(one.subtype, f"{one.subtype.casefold()}:")


def _written(name: str) -> str:
    return name.casefold().replace(" ", "_")
