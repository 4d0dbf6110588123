"""Spark's plans as trees: `sparkPlanInfo`, and the formatted plan text.

`sparkPlanInfo` is a tree of physical operators with their metrics. A command that has a logical
plan inside (`Execute SaveAsV1TableCommand`) says nothing there but its name; the text does:

    == Physical Plan ==
    Execute CreateViewCommand (1)
       +- CreateViewCommand (2)
             +- LogicalRelation (3)

    (2) CreateViewCommand
    Arguments: `spark_catalog`.`ml`.`v`, …
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_TREE_LINE = re.compile(
    r"(?P<indent>(?:   |:  )*(?:[+:]- )?)(?:\* )?(?P<name>\S.*?)\s+\((?P<number>\d+)\)(?: \(.*\))?"
)
_SECTION = re.compile(r"\((?P<number>\d+)\) \S.*")
_FIELD = re.compile(r"(?P<key>[A-Z][A-Za-z ]*?)(?: \[\d+\])?\s*: ?(?P<value>.*)", re.DOTALL)
_PART = re.compile(r"`(?P<quoted>(?:[^`]|``)*)`|(?P<plain>[^`.,\s\[\]()]+)")
_ATTRIBUTE = re.compile(r"(?P<name>.+)#(?P<id>\d+)(?P<long>L?)")
_MORE = re.compile(r"\.\.\. \d+ more fields?")


@dataclass(frozen=True, slots=True)
class Node:
    """A physical operator of `sparkPlanInfo`; `metrics` are accumulator ids by metric name."""

    name: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """The node and all below it, each before its children."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


@dataclass(slots=True)
class Operator:
    """An operator of the formatted text with the fields of its section (`Arguments`, `Input`)."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)
    children: list[Operator] = field(default_factory=list)

    def walk(self) -> Iterator[Operator]:
        """The operator and all below it, each before its children."""
        stack = [self]
        while stack:
            operator = stack.pop()
            yield operator
            stack.extend(reversed(operator.children))


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column in a plan (`amount#12`, `id#3L`): its name, and an id unique in the application."""

    name: str
    id: int
    is_long: bool = False


def from_info(info: Mapping[str, Any]) -> Node:
    """The tree of a `sparkPlanInfo`; built from the leaves up, for plans can be deep."""
    order: list[Mapping[str, Any]] = [info]
    for at in order:
        order.extend(at.get("children", ()))
    built: dict[int, Node] = {}
    for at in reversed(order):
        built[id(at)] = Node(
            name=at["nodeName"].strip(),
            text=at.get("simpleString", ""),
            metadata=at.get("metadata") or {},
            metrics={m["name"]: m["accumulatorId"] for m in at.get("metrics", ())},
            children=tuple(built[id(child)] for child in at.get("children", ())),
        )
    return built[id(info)]


def parse_text(text: str) -> Operator | None:
    """The tree of a formatted plan with the fields of each operator; None for other texts."""
    root: Operator | None = None
    numbered: dict[str, Operator] = {}
    above: list[tuple[int, Operator]] = []
    section: Operator | None = None
    key = ""
    for line in text.splitlines():
        if head := _SECTION.fullmatch(line):
            section, key = numbered.get(head["number"]), ""
        elif section is not None:
            if not line:
                key = ""
            elif found := _FIELD.fullmatch(line):
                key = found["key"]
                section.fields[key] = found["value"]
            elif key:
                section.fields[key] += "\n" + line
        elif node := _TREE_LINE.fullmatch(line):
            operator = numbered[node["number"]] = Operator(node["name"])
            depth = len(node["indent"])
            while above and above[-1][0] >= depth:
                above.pop()
            if above:
                above[-1][1].children.append(operator)
            root = root or operator
            above.append((depth, operator))
    return root


def split_arguments(text: str) -> list[str]:
    """The arguments of an operator, split at the commas outside of brackets and backquotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, char in enumerate(text):
        if char == "`":
            quoted = not quoted
        elif not quoted and char in "[({":
            depth += 1
        elif not quoted and char in "])}":
            depth -= 1
        elif char == "," and not depth and not quoted and text[at + 1 : at + 2] == " ":
            parts.append(text[start:at].strip())
            start = at + 2
    return [*parts, text[start:].strip()]


def identifier(text: str) -> tuple[str, ...]:
    """The parts of the name a text starts with: `` `spark_catalog`.`raw`.`orders` ``, `raw.orders`.

    Empty where it starts with none.
    """
    parts: list[str] = []
    at = 0
    while found := _PART.match(text, at):
        quoted = found["quoted"]
        parts.append(found["plain"] if quoted is None else quoted.replace("``", "`"))
        at = found.end()
        if text[at : at + 1] != ".":
            break
        at += 1
    return tuple(parts)


def bracketed(text: str) -> list[str]:
    """The items of `[a, b]`, also written `[a,b]`; those that Spark left out are missing."""
    inner = text.strip().removeprefix("[").removesuffix("]")
    items = (item.strip() for item in split_arguments(inner.replace(",", ", ")))
    return [item for item in items if item and not _MORE.fullmatch(item)]


def attributes(text: str) -> list[Attribute]:
    """The columns of `[id#3L, name#4]`; what is no column is left out."""
    found = (_ATTRIBUTE.fullmatch(item) for item in bracketed(text))
    return [Attribute(a["name"], int(a["id"]), bool(a["long"])) for a in found if a]
