"""Regular expressions take no exponential time, on no text, and are matched rightly everywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.ambiguity import is_exponential
from tests.cases import for_each

ROOMS = ("lineage", "analysis", "collectors", "injector", "catalog", "exporters", "graft")
# Debian's Python 3.11.2 matches repeated groups wrongly when they are possessive, `(…)*+`, or
# atomic, `(?>…)`; after a single character they are sound.
_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+(?![+*?])|\(\?>")


def modules(root: Path) -> Iterator[Path]:
    """All modules of the package."""
    for room in ROOMS:
        yield from sorted((root / room).rglob("*.py"))


def patterns(value: Any) -> Iterator[re.Pattern[Any]]:
    """The patterns in a module's constant."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from patterns(one)
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from patterns(one)


def inline(tree: ast.Module) -> Iterator[re.Pattern[Any]]:
    """Patterns that stand where they are used: `re.sub(r"…", …)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("re")), args=[ast.Constant(str(text)), *_]
            ):
                yield re.compile(text)


def test_no_regular_expression_repeats_a_group_possessively(root: Path) -> None:
    found = [
        f"{module.relative_to(root)}:{number}: {line.strip()}"
        for module in modules(root)
        for number, line in enumerate(module.read_text("utf-8").splitlines(), 1)
        if re.search(r"r?f?[\"']", line) and _POSSESSIVE_GROUP.search(line)
    ]
    assert found == []


def test_no_regular_expression_can_take_exponential_time(root: Path) -> None:
    found, checked = [], set()
    for path in modules(root):
        module = path.relative_to(root).with_suffix("")
        constants = vars(import_module(".".join(("dbt_graft", *module.parts))))
        named = [
            (name, pattern) for name, value in constants.items() for pattern in patterns(value)
        ]
        tree = ast.parse(path.read_text("utf-8"))
        for name, one in [*named, *(("inline", one) for one in inline(tree))]:
            if one not in checked and is_exponential(one):
                found.append(f"{path.relative_to(root)}: {name}")
            checked.add(one)
    assert len(checked) > 200
    assert found == []


@for_each(
    "pattern, exponential",
    [
        (r"(a*)*", True),
        (r"(a|aa)*b", True),
        (r"(?:'(?:[^']++|'')*(?:'|\Z))*", True),
        (r"(?:'(?:[^']++|'')*(?:'(?!')|\Z))*", False),
        (r"(?:[^']+|'')*", True),
        (r"(?:[^']++|'')*", False),
        (r"(?:[^']++|'')+'", False),
        (r"(\w+\s+)*", False),
        (r"(\w+\s*)*", True),
        (r"(a?a?)*", True),
        (r"(\s*,\s*)*", True),
        (r"(\s*,\s*a)*", False),
        (r"(?i:ab|AB)*", True),
        (r"(?:a|b){0,5}", False),
        (r"((a+)\2b)*", True),
        (r"(?:x|(?=x)y)*", False),
    ],
)
def test_a_pattern_is_exponential_where_a_loop_can_be_gone_in_two_ways(
    pattern: str, exponential: bool
) -> None:
    assert is_exponential(re.compile(pattern)) is exponential
