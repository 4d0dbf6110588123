"""Names that jobs have by run: `load_orders-2026-11-21T05:00` is the job `load_orders`.

openlineage-spark writes `load_orders_2026_11_21_t05_00` for it: in small letters, with `_` for all
that is neither letter nor digit, and between a digit and the `T`.
"""

from __future__ import annotations

import re

_UUID = r"[0-9a-fA-F]{8}[-_]?(?:[0-9a-fA-F]{4}[-_]?){3}[0-9a-fA-F]{12}"
_YEAR, _MONTH = r"(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])"
_DAY = rf"(?:{_YEAR}[-_./]?[01]\d[-_./]?[0-3]\d|[0-3]\d([-_./])[0-3]\d\1{_YEAR})"
_SECONDS = r"(?:[:_.-]?[0-5]\d)?(?:[._]\d+)?(?:Z|_z|[+_-]\d\d[:_]?\d\d)?"
_CLOCK = rf"(?:_t|[T_ :-])?[0-2]\d(?:[:_.-]?[0-5]\d{_SECONDS})?"
_PART_OF_YEAR = rf"{_YEAR}(?:[-_./]?{_MONTH}|[-_]?W[0-5]\d)"
_EPOCH = r"1\d{9}(?:\d{3})?"
_RUN_SUFFIX = re.compile(
    r"[\s_.:@#\[(-]+(?:(?:backfill|manual|scheduled)__?)?"
    rf"(?:{_UUID}|{_DAY}(?:{_CLOCK})?|{_PART_OF_YEAR}|{_EPOCH})[\])]?$"
)


def is_run_id(name: str) -> bool:
    """Whether a name is nothing but the id of a run."""
    return bool(re.fullmatch(_UUID, name))


def cut_run_suffix(name: str) -> str:
    """A name without the dates, times and ids at its end, which distinguish runs."""
    while (shorter := _RUN_SUFFIX.sub("", name)) != name:
        name = shorter
    return name
