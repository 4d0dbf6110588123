"""Types of columns, which platforms, catalogs and logs write in several ways."""

from __future__ import annotations

import re
from dataclasses import replace

from dbt_graft.lineage.frozen import frozen

# Names of one type, in Spark, in databases and in their catalogs.
_NAMES = {
    "int": "integer int4 int32 signed",
    "bigint": "long int8",
    "smallint": "short int2 int16",
    "tinyint": "byte byteint",
    "float": "real float4 float32",
    "double": "float8 double_precision",
    "decimal": "dec numeric number bignumeric fixed money smallmoney",
    "boolean": "bool bit logical",
    "binary": "varbinary bytes bytea blob raw image",
    "date": "date32",
    "time": "time_without_time_zone",
    "uuid": "uniqueidentifier",
    # Spark's plans have `string` for all of them; their lengths are not compared.
    "string": "varchar char text nvarchar nchar character_varying character varchar2 nvarchar2 "
    "bpchar character_large_object clob nclob ntext fixedstring",
    "timestamp": "timestamp_ltz timestamp_without_time_zone datetime datetime2 datetime64 "
    "smalldatetime",
    "timestamptz": "timestamp_tz timestamp_with_time_zone datetimeoffset",
    "struct": "row record",
}
_OF = {name: type_ for type_, names in _NAMES.items() for name in names.split()}
_KNOWN = _OF.keys() | _NAMES.keys()
# BigQuery writes INT64 and INTEGER, FLOAT64 and FLOAT, of the same column. SQL Server's and
# Snowflake's `float` is Spark's double, and a time without a zone may be either of Spark's.
_ALIKE = {
    "int64": ("int", "bigint"),
    "float64": ("float", "double"),
    "float": ("double",),
    "timestamp_ntz": ("timestamp",),
}
# Types that Spark reads as strings; JDBC dialects of Spark, its connector for Snowflake.
_READ_AS_STRING = frozenset(
    {
        *("uuid", "json", "jsonb", "xml", "interval", "inet", "cidr", "macaddr", "hstore"),
        *("citext", "sql_variant", "variant", "object", "super"),
    }
)
_WITHOUT_SIZES = frozenset({"string", "timestamp", "timestamptz", "timestamp_ntz", "time", "float"})
# ClickHouse's wrappers.
_WRAPPERS = ("nullable", "lowcardinality")
_TOKEN = re.compile(r"\s*([<>(),:]|[^<>(),:\s`\"]+)[`\"]?")
# Spark leaves out fields of long structs.
_CUT = re.compile(r"\.\.\. ?(?:\d+ more fields)?")
_MOST = 20_000  # characters
_OPENING, _CLOSING, _SIGNS = "<(", ">)", "<>(),:"


@frozen
class _Type:
    name: str
    arguments: tuple[_Type, ...] = ()
    # Of a field of a struct.
    field: str = ""


def is_same_type(left: str, right: str) -> bool:
    """Whether two names may be of one type: so where one of them says less, or is cut."""
    if any(_CUT.search(text) or len(text) > _MOST for text in (left, right)):
        return True
    try:
        return _is_same(_parse_type(left), _parse_type(right))
    except RecursionError:
        return True


def _is_same(left: _Type, right: _Type) -> bool:
    alike = right.name in _ALIKE.get(left.name, ()) or left.name in _ALIKE.get(right.name, ())
    names = {left.name, right.name}
    alike |= "string" in names and not names.isdisjoint(_READ_AS_STRING)
    if left.name != right.name and not alike:
        return False
    if left.name in _WITHOUT_SIZES or not (left.arguments and right.arguments):
        return True
    first, second = left.arguments, right.arguments
    if left.name == "struct":
        first, second = (
            tuple(sorted(arguments, key=lambda a: a.field)) for arguments in (first, second)
        )
        if [a.field for a in first] != [b.field for b in second]:
            return False
    return len(first) == len(second) and all(map(_is_same, first, second))


def _parse_type(text: str) -> _Type:
    """`struct<a:int,b:array<string>>`, `decimal(10, 2)`, `Nullable(String)`."""
    tokens = [match[1] for match in _TOKEN.finditer(text.casefold())][::-1]
    return _read_type(tokens)


def _read_type(tokens: list[str]) -> _Type:
    """The type that the tokens begin with, which are in reverse order and used up."""
    words: list[str] = []
    while tokens and tokens[-1] not in _SIGNS:
        words.append(tokens.pop())
    name = "_".join(words[:4])
    arguments: tuple[_Type, ...] = ()
    if tokens and tokens[-1] in _OPENING:
        tokens.pop()
        arguments = _read_arguments(tokens, is_struct=_OF.get(name, name) == "struct")
        # `timestamp(6) with time zone`
        while tokens and tokens[-1] not in _SIGNS:
            words.append(tokens.pop())
        name = "_".join(words[:4])
    if name in _WRAPPERS and len(arguments) == 1:
        return arguments[0]
    # Postgres writes `int4[]`, and in its catalog `_int4`.
    if name.endswith("[]") or (name.startswith("_") and name[1:] in _KNOWN):
        item = name.removesuffix("[]").removeprefix("_")
        return _Type("array", (_Type(_OF.get(item, item), arguments),))
    return _Type(_OF.get(name, name), arguments)


def _read_arguments(tokens: list[str], *, is_struct: bool) -> tuple[_Type, ...]:
    arguments: list[_Type] = []
    while tokens and tokens[-1] not in _CLOSING:
        if tokens[-1] in ",:":
            tokens.pop()
            continue
        if is_struct:
            field = tokens.pop()
            if tokens and tokens[-1] == ":":
                tokens.pop()
            arguments.append(replace(_read_type(tokens), field=field))
        else:
            before = len(tokens)
            arguments.append(_read_type(tokens))
            if len(tokens) == before:
                tokens.pop()
    if tokens:
        tokens.pop()
    return tuple(arguments)
