"""Options of a graft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal, TypeAlias, get_args

from dbt_graft.lineage.frozen import frozen

# Tags of a grafted node: `python_task` itself, the engines, `task:<name>`, the tags of the tasks.
TagKind: TypeAlias = Literal["python_task", "engine", "task", "team"]
TAG_KINDS: tuple[TagKind, ...] = get_args(TagKind)


class LabelPlace(StrEnum):
    """Places of a label in the artifacts.

    META: `meta.classification` of the column. TAGS: tags of the column and of its node.
    """

    META = "meta"
    TAGS = "tags"


@frozen
class GraftOptions:
    """Options of a graft.

    Attributes:
        namespace: The namespace of dbt's warehouse: `spark`, `mssql://crm:1433`.
        site: The URL of the published site, ending in a slash, for links in the artifacts; empty
            if it is not known.
        tags: The kinds of tags that grafted nodes get.
        inspect: Report defects that dbt's artifacts already have.
        code: Task -> the text of its Python file, shown as code of the models it builds.
    """

    namespace: str
    site: str = ""
    tags: tuple[TagKind, ...] = TAG_KINDS
    inspect: bool = True
    code: Mapping[str, str] = field(default_factory=dict)
