"""A text in which words stay apart that sqlglot's parser takes for the same.

It reads the formats of dates as Python's, and forgets which word was written: Spark's `YYYY`, the
year of a week, and `yyyy` are both `%Y`. T-SQL's `real` is its `float`, and `SYSDATETIME()` its
`GETDATE()`. What it takes for the same elsewhere is the same, as far as the lists of its functions,
types and formats show (sqlglot 30.30).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import TokenType

# The function and the word behind which a type stands.
_BEFORE_TYPES = {("cast", "as"), ("try_cast", "as"), ("convert", "("), ("try_convert", "(")}
_SPARK_FORMATS = frozenset(
    {
        *("date_format", "to_date", "try_to_date", "to_timestamp", "try_to_timestamp"),
        *("to_timestamp_ntz", "to_timestamp_ltz"),
        *("unix_timestamp", "to_unix_timestamp", "from_unixtime"),
    }
)
# Functions whose formats in quotes count letter by letter.
_FORMATS = {
    **dict.fromkeys(("spark", "databricks", "hive"), _SPARK_FORMATS),
    "drill": frozenset({"to_char", "to_date", "to_time", "to_timestamp"}),
    "tsql": frozenset({"format"}),
    "redshift": frozenset({"to_char", "to_date", "to_timestamp"}),
}
# Functions that get a name that the parser does not know.
_FUNCTIONS = {
    # `percentile(x, p, frequency)`, `groupConcat(x, separator)` and `TRY_PARSE_JSON(x, 'd')` would
    # lose their last argument.
    **dict.fromkeys(("spark", "databricks"), frozenset({"array_size", "percentile"})),
    "snowflake": frozenset({"try_parse_json"}),
    "tsql": frozenset({"sysdatetime", "sysdatetimeoffset", "suser_name", "suser_sname"}),
    "clickhouse": frozenset({"randcanonical", "groupconcat"}),
    "redshift": frozenset({"getdate"}),
    "singlestore": frozenset(
        f"{kind}_extract_{of}" for kind in ("json", "bson") for of in ("bigint", "double", "string")
    ),
}
# Words without brackets, and types in a CAST: how they are read.
_VALUES = {"tsql": {"system_user": "system_user_()"}}
_TYPES = {
    "tsql": {"real": "float(24)"},
    "mysql": {"real": "double"},
    # Of Spark 4.1: a timestamp to the parser, which so reads no such query.
    **{dialect: {"time": "time_"} for dialect in ("spark", "databricks")},
    # Numbers to the base 2, which are no numbers of the processor.
    "oracle": {"float": "float(126)", "real": "float(63)", "double precision": "float(126)"},
}
_DIALECTS = _FORMATS.keys() | _FUNCTIONS.keys() | _VALUES.keys() | _TYPES.keys()
_LETTER = re.compile(r"[^\W\d_]")


def with_distinct_words(text: str, dialect: str) -> str:
    """The text of a query, with other words where the parser would forget which stood there.

    Raises:
        TokenError: The text ends within a literal or a comment.
    """
    if dialect not in _DIALECTS:
        return text
    parts, end = [], 0
    for first, behind, word in _replacements(text, dialect):
        parts += [text[end:first], word]
        end = behind
    return "".join([*parts, text[end:]])


def _replacements(text: str, dialect: str) -> Iterator[tuple[int, int, str]]:
    """From where to where another word is put in the text."""
    tokens = sqlglot.tokenize(text, read=dialect)
    formats, functions = _FORMATS.get(dialect, ()), _FUNCTIONS.get(dialect, ())
    values, types = _VALUES.get(dialect, {}), _TYPES.get(dialect, {})
    calls: list[str] = []
    before = ""
    for at, token in enumerate(tokens):
        word = token.text.casefold()
        within = calls[-1] if calls else ""
        opens = at + 1 < len(tokens) and tokens[at + 1].token_type == TokenType.L_PAREN
        replacement = ""
        if token.token_type == TokenType.L_PAREN:
            calls.append(before)
        elif token.token_type == TokenType.R_PAREN:
            calls[-1:] = []
        elif token.token_type in (TokenType.STRING, TokenType.NATIONAL_STRING):
            if within in formats and _LETTER.search(token.text):
                replacement = f"'{int.from_bytes(token.text.encode())}'"
        elif opens and word in functions:
            replacement = f"{word}_"
        elif not opens:
            is_type = (within, before) in _BEFORE_TYPES
            replacement = (types if is_type else values).get(" ".join(word.split()), "")
        if replacement:
            yield token.start, token.end + 1, replacement
        before = word
