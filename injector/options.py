"""How to graft: what a team chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

# What the tags of a grafted node tell: that a Python task builds it, on which engine, which task,
# and what its team tagged the task with.
TagKind: TypeAlias = Literal["python_task", "engine", "task", "team"]
TAG_KINDS: tuple[TagKind, ...] = get_args(TagKind)


@dataclass(frozen=True, slots=True)
class Options:
    """How to graft.

    Attributes:
        namespace: Where dbt's warehouse lies in the lineage: `spark`, `mssql://crm:1433`.
        site: The way from the docs page to the site's home, ending in a slash.
        tags: Which tags grafted nodes get beside those that people gave them.
        inspect: Look for defects that dbt's artifacts have already, to report them.
        code: Task -> the text of its Python file, shown as the code of what it builds.
    """

    namespace: str
    site: str = "../"
    tags: tuple[TagKind, ...] = TAG_KINDS
    inspect: bool = True
    code: Mapping[str, str] = field(default_factory=dict)
