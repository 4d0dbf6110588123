"""Statements a second, from captured text to tables: ours by shapes, and sqlglot's tree on each.

20,000 statements of 200 shapes, as a day of Python tasks sends them: the same again and again with
other values. The peer parses every statement, as tools do that know no shapes; it gets 2,000 of
them, since its cost is the same for each.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import sqlglot
from sqlglot import exp

from collectors.statements.dialect import Dialect
from collectors.statements.parse import normalise, parse

SHAPES, STATEMENTS, PEER_STATEMENTS = 200, 20_000, 2_000
TEMPLATES = (
    "INSERT INTO dw.dbo.t{n} (a, b, c) SELECT a, b, 'x{v}' FROM crm.dbo.s{n} WHERE d > {v}",
    "MERGE dw.dbo.t{n} AS t USING crm.dbo.s{n} AS s ON t.id = s.id AND t.k = {v} "
    "WHEN MATCHED THEN UPDATE SET t.a = s.a "
    "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a);",
    "UPDATE t SET t.a = s.a * {v} FROM dw.dbo.t{n} t JOIN crm.dbo.s{n} s ON s.id = t.id",
    "SELECT a, b FROM crm.dbo.s{n} WHERE id IN ({v}, {v}, {v}) AND name = N'it''s {v}'",
)


def statements() -> list[str]:
    """The day's statements, the same in every run."""
    values = random.Random(7)
    return [
        TEMPLATES[n % len(TEMPLATES)].format(n=n % SHAPES, v=values.randrange(10**9))
        for n in range(STATEMENTS)
    ]


def ours(texts: list[str]) -> int:
    """Fold each text, parse each distinct one; the number of distinct ones."""
    distinct = {normalise(text, Dialect.TSQL) for text in texts}
    for text in distinct:
        parse(text, Dialect.TSQL)
    return len(distinct)


def peer(texts: list[str]) -> int:
    """Parse each text into sqlglot's tree and list its tables."""
    return sum(bool(list(sqlglot.parse_one(text, "tsql").find_all(exp.Table))) for text in texts)


def rate(work: Callable[[list[str]], int], texts: list[str]) -> float:
    """Statements a second."""
    start = time.perf_counter()
    assert work(texts)
    return len(texts) / (time.perf_counter() - start)


def main() -> None:
    """Print both rates and their ratio."""
    texts = statements()
    assert ours(texts) == SHAPES
    by_shape, by_statement = rate(ours, texts), rate(peer, texts[:PEER_STATEMENTS])
    print(f"statements  by shapes (ours)          {by_shape:10,.0f} /s")
    print(f"            sqlglot's tree on each    {by_statement:10,.0f} /s")
    print(f"            ratio                     {by_shape / by_statement:10.1f}")


if __name__ == "__main__":
    main()
