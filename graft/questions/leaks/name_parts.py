"""Names that are a part of other names: whoever reads the longer one reads the shorter one, too."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

# `order`, `Line` and `x2` of `order_LineX2`.
_PART = re.compile(r"[A-Z]+(?![a-z])|[^\W_A-Z]+|[A-Z][^\W_A-Z]*")


def part_of_names(names: Iterable[str]) -> Callable[[str], bool]:
    """A question to a name: whether a part of another name begins with it.

    Pages cut long names, and indexes split them. Underscores and other separators do not count, nor
    does case.
    """
    ends = sorted({end for name in names for end in _ends(name)})

    def is_part(name: str) -> bool:
        squashed = _squash(name)
        at = bisect_left(ends, squashed)
        return bool(squashed) and at < len(ends) and ends[at].startswith(squashed)

    return is_part


def _ends(name: str) -> Iterator[str]:
    for part in _PART.finditer(name):
        yield _squash(name[part.start() :])


def _squash(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
