"""Comparison of the tables' cases: the names read, and `OPERATION name` of what is written."""

from collections.abc import Callable, Iterable

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Direction

Tables = tuple[list[str], list[str]]


def _tables(sql: str, dialect: Dialect) -> Tables:
    """The names that a text reads, and what it writes, each once; as words."""
    accesses = [access for shape in parse(sql, dialect) for access in shape.accesses]
    return (
        _words({".".join(a.name) for a in accesses if a.direction is Direction.READ}),
        _words(
            {
                f"{a.operation} {'.'.join(a.name)}"
                for a in accesses
                if a.direction is Direction.WRITE
            }
        ),
    )


def _words(names: Iterable[str]) -> list[str]:
    """All words of some names, so that names with spaces compare too."""
    return sorted(word for name in names for word in name.split())


def _compares(dialect: Dialect) -> Callable[[str, str, str], None]:
    def compare(sql: str, reads: str, writes: str) -> None:
        assert _tables(sql, dialect) == (_words([reads]), _words([writes]))

    return compare


@pytest.fixture
def tables() -> Callable[[str, str, str], None]:
    """A Spark text reads and writes exactly these."""
    return _compares(Dialect.SPARK)


@pytest.fixture
def tsql_tables() -> Callable[[str, str, str], None]:
    """A T-SQL text reads and writes exactly these."""
    return _compares(Dialect.TSQL)
