"""Plans as trees of operators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WORD = re.compile(r"[\w$.]+")
# Prefixes and suffixes that other engines add to Spark's names of operators.
_BRANDS = re.compile(
    r"^(?:GpuFile)?(?:Gpu|Photon|Comet|Native)(?=[A-Z])|(?<=\w)(?:Exec)?Transformer$"
)


@dataclass(slots=True, eq=False)
class Operator:
    """An operator of a plan.

    Attributes:
        name: Its name in the text: `Scan parquet raw.orders`, `Project`.
        text: The rest of its line; empty in the formatted layout.
        fields: Its section in the formatted layout: `Arguments`, `Input`…
        sizes: The length of those of its fields that are lists.
        inside: Subqueries, the plan of a cached relation, a command's logical plan.
    """

    name: str
    text: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    children: list[Operator] = field(default_factory=list)
    inside: list[Operator] = field(default_factory=list)
    reuses: Operator | None = None

    @property
    def kind(self) -> str:
        """The operator's class without an engine's prefix: `Project` for `GpuProject [a#1]`."""
        match = _WORD.match(self.name)
        return _BRANDS.sub("", match.group()) if match else ""

    @property
    def arguments(self) -> str:
        """Its arguments, as text."""
        return self.fields.get("Arguments", self.text)

    def walk(self) -> Iterator[Operator]:
        """The operator and all below and inside it, each before its inputs."""
        stack = [self]
        while stack:
            operator = stack.pop()
            yield operator
            stack.extend(reversed(operator.children))
            stack.extend(reversed(operator.inside))


@dataclass(slots=True)
class PlanText:
    """The plans of a text.

    Attributes:
        optimised: The optimised logical plan, where the text has one.
        subqueries: The plans of subqueries with trees of their own, by id.
        is_formatted: The text has a section for each operator.
        is_cut: An operator lacks its section.
    """

    root: Operator | None = None
    optimised: Operator | None = None
    subqueries: dict[int, Operator] = field(default_factory=dict)
    is_formatted: bool = False
    is_cut: bool = False
