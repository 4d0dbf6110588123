"""The cases of our tests as data: a statement, its dialect, and the tables it reads and writes.

A table of cases in the tests is a list of tuples `(SQL, reads, writes, …)`, names with spaces
between them, a write behind its operation: `("SELECT * INTO t FROM a, b", "a b", "SELECT INTO t")`.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from dbt_graft.lineage.frozen import frozen

_TESTS = Path(__file__).parents[2] / "tests" / "collectors" / "statements"
_TABLES = ("test_tables.py", "test_tsql_*.py", "test_spark_*.py")
# Tables of column edges, and of expressions that the test puts into EXEC.
_OTHER = {"columns", "test_tsql_dynamic.py"}
# What stands in front of a written table: INSERT, CREATE TABLE AS…
_OPERATION = re.compile(r"\b[A-Z]{2,}(?=\s)")


@frozen
class Case:
    """A statement and what it reads and writes; `dialect` as sqlglot names it."""

    dialect: str
    sql: str
    reads: frozenset[str]
    writes: frozenset[str]


def cases() -> list[Case]:
    """All cases of all tables in the tests, each once.

    Left out are names with spaces in them, which a peer's answer cannot be compared with.
    """
    found = {}
    files = {file for pattern in _TABLES for file in _TESTS.rglob(pattern)}
    for file in sorted(file for file in files if not _OTHER.intersection(file.parts)):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, table in vars(module).items():
            if not _is_table(table):
                continue
            dialect = "spark" if "spark" in f"{file.stem} {name}".casefold() else "tsql"
            for sql, reads, writes, *_ in table:
                if _compares(sql):
                    found[dialect, sql] = Case(dialect, sql, same(reads), written(writes))
    return list(found.values())


def _is_table(value: object) -> bool:
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(
            isinstance(row, tuple) and len(row) >= 3 and all(isinstance(x, str) for x in row[:3])
            for row in value
        )
    )


def _compares(sql: str) -> bool:
    return not re.search(r"\[[^\]]*[ .\]]|\"[^\"]* |`[^`]* ", sql)


def written(names: str) -> frozenset[str]:
    """The names in `MERGE t INSERT @ids`."""
    return same(_OPERATION.sub("", names))


def same(names: str) -> frozenset[str]:
    """Names with spaces between them, as every parser may write them: without case, quotes, omitted
    parts, and the signs of temporary tables, which most peers drop."""
    return frozenset(map(same_name, names.split()))


def same_name(name: str) -> str:
    """One name; see `same`."""
    parts = (part.strip('[]`"').lstrip("#@") for part in name.casefold().split("."))
    return ".".join(part for part in parts if part and part != "<default>")
