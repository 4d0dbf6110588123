"""Functions of columns, by their names."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from tests.collectors.python_code.follow import follow

functions = pytest.importorskip("pyspark.sql.functions")


def _columns(function: object) -> Iterator[str]:
    """The leading parameters of a function that are columns or their names."""
    assert callable(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if "ColumnOrName" not in str(parameter.annotation) or parameter.kind.name == "KEYWORD_ONLY":
            return
        yield from (
            f"{name}_{at}" for at in range(1 + 2 * (parameter.kind.name == "VAR_POSITIONAL"))
        )


def test_texts_of_spark_functions_are_columns_where_their_signatures_say_so() -> None:
    signatures = {
        name: list(_columns(function))
        for name in functions.__all__
        if inspect.isfunction(function := getattr(functions, name))
    }
    several = {name: columns for name, columns in signatures.items() if len(columns) > 1}
    assert len(several) > 150
    calls = [
        f"F.{name}({', '.join(map(repr, columns))}).alias('{name}')"
        for name, columns in several.items()
    ]
    script = follow(
        "from pyspark.sql import SparkSession, functions as F\n"
        "df = SparkSession.builder.getOrCreate().table('t')\n"
        f"df.select({', '.join(calls)}).write.saveAsTable('x')\n"
    )
    missing = {
        (name, column)
        for name, columns in several.items()
        for column in columns
        if not any((e.column, e.from_column) == (name, column) for e in script.edges)
    }
    assert missing == set()
