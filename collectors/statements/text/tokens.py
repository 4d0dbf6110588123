"""Words of a folded text: sqlglot's tokenizer, put right for names as SQL Server writes them."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.tsql import TSQL

from dbt_graft.collectors.statements.text.dialect import Dialect


class Token(NamedTuple):
    """A word, a name or a sign; `start` and `end` are where it stands in the text.

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
    # sqlglot gives up on EXEC, SHOW… and makes the rest one string; we read on.
    COMMANDS: ClassVar[set[TokenType]] = set()


class _SparkTokenizer(Spark.Tokenizer):
    COMMANDS: ClassVar[set[TokenType]] = set()


_TOKENIZERS = {Dialect.TSQL: _TsqlTokenizer, Dialect.SPARK: _SparkTokenizer}
_SIGNS = frozenset({"#", "##", "@", "@@"})
# ODBC's escapes, `{fn now()}`: the braces and these words behind them say nothing on tables.
_ESCAPES = frozenset({"OJ", "FN", "D", "T", "TS", "ESCAPE"})


def keywords(text: str) -> frozenset[str]:
    """A set of words as it is easiest to read."""
    return frozenset(text.split())


def tokenise(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of a folded text.

    Raises:
        sqlglot.errors.TokenError: sqlglot cannot read it.
    """
    tokens: list[Token] = []
    brace = False
    for raw in _TOKENIZERS[dialect]().tokenize(text):
        after_brace, brace = brace, raw.token_type is TokenType.L_BRACE
        if brace or raw.token_type is TokenType.R_BRACE:
            continue
        if raw.token_type is TokenType.IDENTIFIER:
            tokens.append(Token(raw.text, "", raw.start, raw.end + 1))
            continue
        if after_brace and raw.text.upper() in _ESCAPES:
            continue
        last = tokens[-1] if tokens else None
        if last and last.end == raw.start and _goes_on(last.word, raw.text):
            joined = last.text + raw.text
            tokens[-1] = Token(joined, joined.upper(), last.start, raw.end + 1)
            continue
        # sqlglot makes one token of `ORDER BY`; to us these are words.
        tokens += [Token(word, word.upper(), raw.start, raw.end + 1) for word in raw.text.split()]
    return tokens


def _goes_on(word: str, behind: str) -> bool:
    """Whether sqlglot made two of one name: `#`, `t`, a temporary table; `2026`, `_orders`."""
    return word in _SIGNS or (word[:1].isdigit() and (behind[0].isalnum() or behind[0] == "_"))


def closings(tokens: list[Token]) -> dict[int, int]:
    """For each opening bracket where it closes; at the end where the text was cut off."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for at, token in enumerate(tokens):
        if token.word == "(":
            waiting.append(at)
        elif token.word == ")" and waiting:
            found[waiting.pop()] = at
    return found | dict.fromkeys(waiting, len(tokens))
