"""Types of columns before and after: widened, narrowed, or another."""

from __future__ import annotations

import re

from dbt_graft.analysis.impact.change import ChangeType


def _ranks(*sizes: str) -> dict[str, int]:
    """The types of a family, the smallest first; names of one size stand beside each other."""
    return {name.replace("_", " "): n for n, names in enumerate(sizes) for name in names.split()}


_FAMILIES = (
    _ranks("int8", "int16", "int32", "int64", "int128", "int256"),  # of ClickHouse
    _ranks("tinyint byteint byte", "smallint int2 short", "int integer int4", "bigint int8 long")
    | {"int64": 3, "hugeint": 4, "int128": 4},
    _ranks("uint8", "uint16", "uint32", "uint64", "uint128", "uint256"),
    # SQL Server's float has eight bytes, Spark's and MySQL's four, as real has in most.
    _ranks("float4 real float32", "float", "double float8 double_precision float64"),
    _ranks("decimal dec numeric", "bignumeric bigdecimal"),
    _ranks("varchar character_varying text string varchar2", "nvarchar nvarchar2"),
    _ranks("char character bpchar", "nchar"),
    _ranks("smalldatetime", "datetime", "datetime2"),
    _ranks("bool boolean"),
    _ranks("timestamp timestamp_without_time_zone"),
    _ranks("timestamptz timestamp_with_time_zone"),
    _ranks("time time_without_time_zone"),
    _ranks("timetz time_with_time_zone"),
)
_INTEGERS = _FAMILIES[1].keys() - {"int64", "hugeint", "int128"}
# Other names of it.
_INT64_OF_BIGQUERY = {"int64", "tinyint", "byteint", "smallint", "int", "integer", "bigint"}
_SIZED = re.compile(
    r"([a-z0-9_ ]{1,60}?) ?\( ?(\d{1,9}|max)(?: ?, ?(\d{1,9}))? ?\)( with(?:out)? time zone)?"
)
_MOST = 1 << 40
_MOST_OF_SNOWFLAKE = 1 << 24
# Sizes and scales of types that are written without.
_DEFAULTS = {
    "number": (38, 0),
    "smalldatetime": (0, 0),
    "datetime": (3, 0),
    **dict.fromkeys(("datetime2", "datetimeoffset"), (7, 0)),
    **dict.fromkeys(("timestamp_ntz", "timestamp_ltz", "timestamp_tz"), (9, 0)),
}
_LOW_CARDINALITY = re.compile(r"lowcardinality\((.*)\)")  # how ClickHouse stores it


def type_change(before: str, after: str) -> ChangeType | None:
    """The kind of a change of types, as the catalog writes them; None where there is none."""
    if before == after:
        return None
    (old, old_size, old_scale), (new, new_size, new_scale) = _parts(before), _parts(after)
    if old != new:
        if "int64" in (old, new) and {old, new} <= _INT64_OF_BIGQUERY:
            return None
        family = next((ranks for ranks in _FAMILIES if old in ranks and new in ranks), None)
        if family is None:
            return ChangeType.TYPE
        step = family[new] - family[old]
        if step > 0 and old_size <= new_size:
            return ChangeType.WIDEN
        if step:
            return ChangeType.NARROW
    left_old, left_new = old_size - old_scale, new_size - new_scale
    if left_old <= left_new and old_scale <= new_scale:
        is_same = (old_size, old_scale) == (new_size, new_scale)
        return None if is_same else ChangeType.WIDEN
    if left_old >= left_new and old_scale >= new_scale:
        return ChangeType.NARROW
    return ChangeType.TYPE


def _parts(name: str) -> tuple[str, int, int]:
    """`decimal(10, 2)` as its name, size and scale; a text without a size has no limit."""
    text = " ".join(name.casefold().split())
    if match := _LOW_CARDINALITY.fullmatch(text):
        text = match[1]
    if match := _SIZED.fullmatch(text):
        size = _MOST if match[2] == "max" else int(match[2])
        if (
            size >= _MOST_OF_SNOWFLAKE or match[1] in _INTEGERS
        ):  # MySQL's `int(11)` is as it is shown
            size = _MOST
        return match[1].strip() + (match[4] or ""), size, int(match[3] or 0)
    return text, *_DEFAULTS.get(text, (_MOST, 0))
