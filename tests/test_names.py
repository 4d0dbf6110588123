"""Names in the source folders: each class has its own, and none is private English."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.cases import for_each

ROOMS = (
    *(
        "lineage",
        "analysis",
        "collectors",
        "injector",
        "catalog",
        "exporters",
        "graft",
        "dbt_graft",
    ),
    "graft_airflow",
)
# Words with a meaning of our own, which no reader would search for.
PRIVATE = {
    *("told", "tell", "tells", "said", "says", "stretch", "care", "kept", "spared"),
    *("meaning", "nameless", "whole"),
}
# Words for anything, as names of variables and arguments: a reader has no noun to hold.
GENERIC = {
    *("one", "found", "some", "every", "known", "mine", "about", "more", "given", "own", "thing"),
    *("things", "stuff", "both"),
}
PRIVATE_PHRASES = ("here_and_there",)
QUESTION = re.compile(r"(What|How|Where|When|Which|Who|Why)\b")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Module(NamedTuple):
    """A module's names, and what its docstrings begin with; the trees of all need much memory.

    Attributes:
        identifiers: Those that it defines or passes by keyword.
        local_names: Those of variables and arguments, each as often as it is bound.
    """

    path: str
    classes: list[tuple[str, int]]
    identifiers: list[tuple[str, int]]
    local_names: list[str]
    docstrings: list[tuple[str, int]]


def modules(root: Path, rooms: Sequence[str] = ROOMS) -> Iterator[Module]:
    for room in rooms:
        for path in sorted((root / room).rglob("*.py")):
            yield module(path, str(path.relative_to(root)))


@cache
def module(path: Path, name: str) -> Module:
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    classes = [(node.name, node.lineno) for node in nodes if isinstance(node, ast.ClassDef)]
    return Module(name, classes, [*identifiers(nodes)], [*local_names(nodes)], [*docstrings(nodes)])


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.alias():
                yield node.asname or node.name, node.lineno
            case ast.keyword(arg=str(name)):
                yield name, node.lineno


def local_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.arg():
                yield node.arg


def private_words(name: str) -> set[str]:
    """The words of a snake_case or CamelCase name that are private English."""
    words = [word.lower() for word in WORDS.findall(name)]
    joined = "_".join(words)
    return PRIVATE.intersection(words) | {one for one in PRIVATE_PHRASES if one in joined}


def docstrings(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                line, *_ = (ast.get_docstring(node) or "").splitlines() or [""]
                yield line, getattr(node, "lineno", 1)


def test_no_two_classes_share_a_name(root: Path) -> None:
    places = defaultdict(list)
    for module in modules(root):
        for name, line in module.classes:
            places[name].append(f"{module.path}:{line}")
    assert {name: place for name, place in places.items() if len(place) > 1} == {}


def test_no_identifier_is_private_english(root: Path) -> None:
    found = [
        f"{module.path}:{line}: {name}"
        for module in modules(root)
        for name, line in module.identifiers
        if private_words(name)
    ]
    assert found == []


# Of tests the share may only fall.
@for_each("rooms, per_thousand", [(ROOMS, 10), (("tests", "benchmarks"), 44)])
def test_hardly_any_variable_has_a_name_for_anything(
    root: Path, rooms: Sequence[str], per_thousand: int
) -> None:
    names = [name for module in modules(root, rooms) for name in module.local_names]
    generic = [name for name in names if name in GENERIC]
    assert len(generic) * 1000 <= len(names) * per_thousand


def test_docstrings_begin_with_the_thing_itself(root: Path) -> None:
    found = [
        f"{module.path}:{line}: {text}"
        for module in modules(root, (*ROOMS, "tests", "benchmarks"))
        for text, line in module.docstrings
        if QUESTION.match(text)
    ]
    assert found == []


@for_each(
    "name, words",
    [
        ("told_until", {"told"}),
        ("_Said", {"said"}),
        ("here_and_there", {"here_and_there"}),
        ("HereAndThere", {"here_and_there"}),
        ("WholeFiles", {"whole"}),
        ("intelligent", set()),
        ("stretched", set()),
        ("SQLTell", {"tell"}),
    ],
)
def test_private_words_are_found_as_words(name: str, words: set[str]) -> None:
    assert private_words(name) == words
