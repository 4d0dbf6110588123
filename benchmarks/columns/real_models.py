"""Models of real size: 12 CTEs and about 200 lines, each over two tables of 15 columns.

Staging, cleaning, deduplication by a window, aggregates, a union, joins back: what large models are
made of. Which columns and functions stand where is drawn for each model, so that no two are alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

COLUMNS = [f"column_{n:02}" for n in range(15)]
_CHANGES = (
    "coalesce({0}, {1})",
    "upper(trim({0}))",
    "case when {0} > {1} then {0} else {1} end",
    "round({0} * 1.19, 2)",
    "concat({0}, '-', {1})",
    "nullif({0}, '')",
)
_TOTALS = ("sum({0})", "max({0})", "min({0})", "count(distinct {0})", "avg({0})")


def real_model(number: int, left: str, right: str) -> str:
    """The SQL of a model over two tables, the same each time for a number."""
    draw = random.Random(number)
    ctes = list(_ctes(draw, left, right))
    body = ",\n\n".join(f"{name} as (\n\n{text}\n\n)" for name, text in ctes)
    return f"with {body}\n\nselect\n{_list(COLUMNS)}\nfrom final\n"


def _ctes(draw: random.Random, left: str, right: str) -> Iterator[tuple[str, str]]:
    for side, table in (("left", left), ("right", right)):
        yield f"{side}_source", f"    select * from {table}"
        yield f"{side}_clean", f"    select\n{_changed(draw)}\n    from {side}_source"
        numbered = [
            *COLUMNS,
            "row_number() over (\n            partition by column_00\n"
            "            order by column_03 desc, column_04\n        ) as position",
        ]
        yield f"{side}_numbered", f"    select\n{_list(numbered)}\n    from {side}_clean"
        yield (
            f"{side}_latest",
            f"    select\n{_list(COLUMNS)}\n    from {side}_numbered\n    where position = 1",
        )
    totals = [
        "column_00",
        *(f"{draw.choice(_TOTALS).format(c)} as {c}" for c in COLUMNS[1:]),
    ]
    yield (
        "right_totals",
        f"    select\n{_list(totals)}\n    from right_latest\n    where column_02 is not null\n"
        "    group by column_00\n    having count(*) > 0",
    )
    joined = [
        f"{draw.choice(('left_latest', 'right_totals'))}.{column} as {column}" for column in COLUMNS
    ]
    yield (
        "joined",
        f"    select\n{_list(joined)}\n    from left_latest\n    left join right_totals\n"
        "        on left_latest.column_00 = right_totals.column_00\n"
        "    where left_latest.column_01 != 'deleted'",
    )
    yield (
        "together",
        f"    select\n{_list(COLUMNS)}\n    from joined\n\n    union all\n\n"
        f"    select\n{_list(COLUMNS)}\n    from right_latest\n    where column_05 > 0",
    )
    yield (
        "final",
        f"    select\n{_changed(draw)}\n    from together\n    where column_00 is not null",
    )


def _changed(draw: random.Random) -> str:
    """All columns, half of them as they are."""
    return _list(
        [
            column
            if draw.random() < 0.5
            else f"{draw.choice(_CHANGES).format(column, draw.choice(COLUMNS))} as {column}"
            for column in COLUMNS
        ]
    )


def _list(columns: list[str]) -> str:
    """Columns as they are three a line, others on a line each."""
    lines: list[str] = []
    for column in columns:
        if " " in column or not lines or " " in lines[-1] or lines[-1].count("column_") == 3:
            lines.append(column)
        else:
            lines[-1] = f"{lines[-1]},{column}"
    return ",\n".join(f"        {line.replace(',column', ', column')}" for line in lines)
