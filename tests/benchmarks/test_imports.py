"""Benchmarks run seldom, so nobody sees there that a name is in another module now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tests.cases import for_each

FOLDER = Path(__file__).parents[2] / "benchmarks"


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """Our modules that a file imports, each with a name out of it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dbt_graft."):
            yield from ((str(node.module), alias.name) for alias in node.names)


@for_each("path", sorted(FOLDER.rglob("*.py")))
def test_what_a_benchmark_imports_is_there(path: Path) -> None:
    for module, name in imported_names(path):
        if not hasattr(import_module(module), name):
            import_module(f"{module}.{name}")
