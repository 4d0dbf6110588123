"""Date columns: those whose values may be stored as dates of data, and those that must not.

A column is one by configuration, as the partition column of a data contract, by its name, or by its
type, in this order. Columns about people (`birth_date`, `dob`) never are.
"""

from __future__ import annotations

import re
from enum import IntEnum
from fnmatch import fnmatchcase

from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

_PERSONAL = re.compile(
    r"birth|(?<![a-z])(?:born|dob)(?![a-z])|death|deceased|geburt|naissance|nacimiento|nascita"
    r"|passport|licen[cs]e|hire|terminat|marriage|wedding|divorce|diagnos|admission|discharge"
    r"|medical|ssn|patient",
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GRAINS = {
    Grain.HOUR: re.compile(r"(?:.+_)?(?:hr|hh|hour|hourly)"),
    Grain.DAY: re.compile(
        r"(?:.+_)?(?:ds|dt|day|date|yyyymmdd|dte|datum)(?:_?(?:key|id|sk|part|partition))?"
        r"|(?:p|part|partition|dt|date|day)_.+_?(?:ds|dt|day|date)|date_.+"
    ),
    Grain.WEEK: re.compile(r"(?:.+_)?(?:week|wk|yearweek)(?:_(?:start|date))?"),
    Grain.MONTH: re.compile(r"(?:.+_)?(?:month|mth|yyyymm|period|yearmonth)(?:_?(?:key|id))?"),
    Grain.QUARTER: re.compile(r"(?:.+_)?(?:quarter|qtr)"),
    Grain.YEAR: re.compile(r"(?:.+_)?(?:year|yr|yyyy)"),
}
_DATES = re.compile(r"date|(?:small)?datetime2?|datetimeoffset|timestamp(?:_ntz|_ltz|tz)?\b", re.I)


class DateRank(IntEnum):
    """The reason why a column is a date column, weakest first."""

    NONE = 0
    TYPE = 1
    NAME = 2
    CONTRACT = 3
    CONFIGURED = 4


@frozen
class DateColumns:
    """The rules for columns; patterns as of files (`*_on`), compared without case.

    Attributes:
        include: Date columns beside those known by their name or type.
        exclude: Columns that are about people, or are no dates of data: never stored.
        contracted: The names of partition columns in data contracts.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    contracted: tuple[str, ...] = ()

    def rank(self, column: str, type_: str = "") -> DateRank:
        """The reason why a column is a date column; NONE where it is none."""
        folded = column.casefold()
        if any(fnmatchcase(folded, pattern.casefold()) for pattern in self.exclude):
            return DateRank.NONE
        if any(fnmatchcase(folded, pattern.casefold()) for pattern in self.include):
            return DateRank.CONFIGURED
        if is_personal(column):
            return DateRank.NONE
        if any(folded == name.casefold() for name in self.contracted):
            return DateRank.CONTRACT
        if name_grain(column):
            return DateRank.NAME
        return DateRank.TYPE if _DATES.match(type_) else DateRank.NONE


NO_RULES = DateColumns()


def is_personal(column: str) -> bool:
    """Whether a column's name says that it is about a person."""
    return bool(_PERSONAL.search(_words(column)))


def name_grain(column: str) -> Grain | None:
    """The grain that a column's name shows: `ds`, `order_date`, `LoadDate`, `month`, `hr`."""
    words = _words(column)
    return next((grain for grain, names in _GRAINS.items() if names.fullmatch(words)), None)


def has_time(type_: str) -> bool:
    """Whether values of a type have a time: `datetime2(7)`, `timestamp`."""
    return bool(_DATES.match(type_)) and type_.strip().casefold() != "date"


def _words(column: str) -> str:
    """A name in lower case, with `_` between its words: `LoadDate` is `load_date`."""
    return _CAMEL.sub("_", column.strip('`[]"')).casefold().replace("-", "_").replace(" ", "_")
