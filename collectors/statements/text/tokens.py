"""Tokens of a normalised text: sqlglot's tokenizer, corrected for the names of SQL Server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.tsql import TSQL

from dbt_graft.collectors.statements.text.dialect import Dialect


class Token(NamedTuple):
    """A word, a name or a sign; `start` and `end` are its place in the text.

    Attributes:
        text: As written, a quoted name without its quotes.
        word: In upper case; empty for a quoted name, which is never a keyword.
    """

    text: str
    word: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether it can be a part of a name; keywords can."""
        return not self.word or self.word[0].isalnum() or self.word[0] in "_#@$"


class _TsqlTokenizer(TSQL.Tokenizer):
    # sqlglot makes the rest of EXEC, SHOW… one string; without commands it reads on.
    COMMANDS: ClassVar[set[TokenType]] = set()


class _SparkTokenizer(Spark.Tokenizer):
    COMMANDS: ClassVar[set[TokenType]] = set()


_TOKENIZERS = {Dialect.TSQL: _TsqlTokenizer, Dialect.SPARK: _SparkTokenizer}
_SIGNS = frozenset({"#", "##", "@", "@@"})
# ODBC's escapes, `{fn now()}`: the braces and the word after them name no table.
_ESCAPES = frozenset({"OJ", "FN", "D", "T", "TS", "ESCAPE"})


def keywords(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def tokenise(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of a normalised text.

    Raises:
        sqlglot.errors.TokenError: sqlglot cannot read it.
    """
    tokens: list[Token] = []
    brace, end, last = False, -1, ""  # the end and the word of the token before
    for raw in _TOKENIZERS[dialect]().tokenize(text):
        kind, written, start = raw.token_type, raw.text, raw.start
        after_brace, brace = brace, kind is TokenType.L_BRACE
        if brace or kind is TokenType.R_BRACE:
            continue
        before, end = end, raw.end + 1
        if kind is TokenType.IDENTIFIER:
            last = ""
            tokens.append(Token(written, last, start, end))
            continue
        if after_brace and written.upper() in _ESCAPES:
            continue
        if before == start and _goes_on(last, written):
            joined = tokens[-1].text + written
            last = joined.upper()
            tokens[-1] = Token(joined, last, tokens[-1].start, end)
            continue
        # sqlglot makes one token of `ORDER BY`; to us these are words.
        for word in written.split():
            last = word.upper()
            tokens.append(Token(word, last, start, end))
    return tokens


def _goes_on(word: str, following: str) -> bool:
    """Whether sqlglot made two tokens of one name: `#`, `t`; `2026`, `_orders`."""
    return word in _SIGNS or (
        word[:1].isdigit() and (following[0].isalnum() or following[0] == "_")
    )


def word_at(tokens: Sequence[Token], at: int) -> str:
    """The keyword or sign at a place; empty for a quoted name and outside the tokens."""
    return tokens[at].word if 0 <= at < len(tokens) else ""


def closings(tokens: list[Token]) -> dict[int, int]:
    """Each opening bracket -> its closing one; the end where the text was cut off."""
    closes: dict[int, int] = {}
    waiting: list[int] = []
    for at, token in enumerate(tokens):
        if token.word == "(":
            waiting.append(at)
        elif token.word == ")" and waiting:
            closes[waiting.pop()] = at
    return closes | dict.fromkeys(waiting, len(tokens))


# The words that end a FROM clause.
ENDS_FROM = keywords(
    """WHERE GROUP ORDER HAVING SET UNION EXCEPT INTERSECT OPTION WINDOW LIMIT QUALIFY WHEN VALUES
    FOR SORT CLUSTER DISTRIBUTE LATERAL MINUS |>"""
)
# The words that can follow a table without being its alias.
NO_ALIAS = ENDS_FROM | keywords(
    """ON JOIN INNER LEFT RIGHT FULL CROSS OUTER NATURAL SEMI ANTI APPLY USING WITH PIVOT UNPIVOT
    TABLESAMPLE AS FROM INTO SELECT INSERT UPDATE DELETE MERGE OUTPUT VERSION TIMESTAMP DEFAULT
    EXEC EXECUTE"""
)
