"""Plans as trees of operators, and what else a plan's text holds."""

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
        name: As the text has it: `Scan parquet raw.orders`, `Project`.
        text: What its line says behind the name; empty in the formatted layout.
        fields: Its section in the formatted layout: `Arguments`, `Input`…
        children: What it takes rows from.
        inside: Subqueries, the plan of a cached relation, a command's logical plan.
        reuses: The operator whose rows it takes again.
    """

    name: str
    text: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    children: list[Operator] = field(default_factory=list)
    inside: list[Operator] = field(default_factory=list)
    reuses: Operator | None = None

    @property
    def kind(self) -> str:
        """The operator's class, whoever's engine runs it: `Project` for `GpuProject [a#1]`."""
        found = _WORD.match(self.name)
        return _BRANDS.sub("", found.group()) if found else ""

    @property
    def arguments(self) -> str:
        """What it was made with."""
        return self.fields.get("Arguments", self.text)

    def walk(self) -> Iterator[Operator]:
        """The operator and all below and inside it, each before what it takes from."""
        stack = [self]
        while stack:
            operator = stack.pop()
            yield operator
            stack.extend(reversed(operator.children))
            stack.extend(reversed(operator.inside))


@dataclass(slots=True)
class PlanText:
    """What a plan's text holds.

    Attributes:
        root: The physical plan.
        optimised: The logical plan that the physical one was made of, where the text has one.
        subqueries: The plan of each subquery by its id, where it stands apart.
        is_formatted: It has a section for each operator.
        is_cut: Something is missing: an operator without its section.
    """

    root: Operator | None = None
    optimised: Operator | None = None
    subqueries: dict[int, Operator] = field(default_factory=dict)
    is_formatted: bool = False
    is_cut: bool = False
