"""Types of columns before and after: widened, narrowed, or another."""

from __future__ import annotations

import re

from dbt_graft.analysis.impact.change import ChangeType

_INTEGERS = {
    name: size
    for size, names in enumerate(
        ("tinyint byteint", "smallint int2", "int integer int4", "bigint int8 int64 long")
    )
    for name in names.split()
}
_REALS = {"float4": 1, "real": 1, "float": 1, "double": 2, "float8": 2, "double precision": 2}
_TEXTS = {"varchar", "character varying", "nvarchar", "text", "string", "char", "nchar"}
_SIZED = re.compile(r"([a-z0-9_ ]{1,60}?) ?\( ?(\d{1,9}|max)(?: ?, ?(\d{1,9}))? ?\)")
_MOST = 1 << 40


def type_change(before: str, after: str) -> ChangeType | None:
    """The kind of a change of types, as the catalog writes them; None where there is none."""
    if before == after:
        return None
    old, new = _parts(before), _parts(after)
    if old == new:
        return None
    for family in (_INTEGERS, _REALS):
        if old[0] in family and new[0] in family:
            if family[old[0]] == family[new[0]]:
                return None
            return ChangeType.WIDEN if family[old[0]] < family[new[0]] else ChangeType.NARROW
    if old[0] == new[0] or (old[0] in _TEXTS and new[0] in _TEXTS):
        left_old, left_new = old[1] - old[2], new[1] - new[2]
        if left_old <= left_new and old[2] <= new[2]:
            return ChangeType.WIDEN if old[1:] != new[1:] else None
        if left_old >= left_new and old[2] >= new[2]:
            return ChangeType.NARROW
    return ChangeType.TYPE


def _parts(name: str) -> tuple[str, int, int]:
    """`decimal(10, 2)` as its name, size and scale; a text without a size has no limit."""
    text = " ".join(name.casefold().split())
    if match := _SIZED.fullmatch(text):
        size = _MOST if match[2] == "max" else int(match[2])
        return match[1].strip(), size, int(match[3] or 0)
    return text, _MOST, 0
