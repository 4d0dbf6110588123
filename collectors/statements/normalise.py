"""A captured text -> the text of its shapes: unwrapped, without literals and secrets.

Secrets that are no literals: `SET k=…`, `ADD JAR s3a://KEY:SECRET@…`, options, `$$…$$`, URLs.

A second line of defence behind `literals`: what no table or column can stand in becomes `?`,
whether it is quoted or not. A second time changes nothing.

Strings without quotes: `EXEC dbo.p Jane, @city = [New York]` calls with two texts. T-SQL takes a
name among the arguments of a procedure for a string, unless it is a word that begins the next
statement. Only `sp_rename` means a table by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from dbt_graft.collectors.statements.text.aliases import protect_aliases
from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.double_quotes import bracket_names
from dbt_graft.collectors.statements.text.fingerprint import fingerprint, is_plain
from dbt_graft.collectors.statements.text.literals import strip_literals
from dbt_graft.collectors.statements.text.protect import protect_quoted_names
from dbt_graft.collectors.statements.text.remembered import Remembered
from dbt_graft.collectors.statements.text.template import Template, make_template
from dbt_graft.collectors.statements.text.unwrap import unwrap

_KEYWORDS = (
    *("alter", "as", "at", "backup", "begin", "break", "bulk", "checkpoint", "close", "commit"),
    *("continue", "create", "dbcc", "deallocate", "declare", "default", "delete", "deny", "drop"),
    *("else", "end", "exec", "execute", "fetch", "go", "goto", "grant", "if", "insert", "kill"),
    *("merge", "null", "open", "out", "output", "print", "raiserror", "restore", "return"),
    *("revoke", "rollback", "save", "select", "set", "throw", "truncate", "update", "use"),
    *("waitfor", "while", "with"),
)
_IN_QUOTES = NAME[Dialect.TSQL]
_CALL = re.compile(
    rf"\bEXEC(?:UTE)?\s+(?!(?:AS|ON)\b)(?:@\w++\s*=\s*)?(?P<name>(?:[\w@#$.]|{_IN_QUOTES})+)\s+",
    re.IGNORECASE,
)
_BARE_ARGUMENT = re.compile(
    r"\s*(?:@\w++\s*=\s*)?"
    r"(?:@\w++(?:\s+OUT(?:PUT)?\b)?|[-+]?\s*\?|(?:NULL|DEFAULT)\b"  # the other literals are `?`
    rf"|(?P<bare>(?:(?!(?:{'|'.join(_KEYWORDS)})\b)[^\W\d][\w@#$]*+|{_IN_QUOTES})"
    r"(?!\s*[.:(=])))\s*",
    re.IGNORECASE,
)
_RENAMES = "sp_rename"


@lru_cache(maxsize=10_000)  # Without their other literals, calls of a procedure are mostly equal.
def strip_bare_arguments(text: str) -> str:
    """A T-SQL text, without its other literals, with `?` for these strings."""
    parts, end = [], 0
    for call in _CALL.finditer(text):
        at = call.end()
        if call["name"].casefold().rpartition(".")[2].strip("[]") == _RENAMES:
            continue
        while argument := _BARE_ARGUMENT.match(text, at):
            if argument["bare"]:
                parts += [text[end : argument.start("bare")], "?"]
                end = argument.end("bare")
            at = argument.end()
            if text[at : at + 1] != ",":
                break
            at += 1
    return "".join([*parts, text[end:]])


_BODIES = {
    dialect: re.compile(
        rf"(?P<name>{NAME[dialect]})|(?<![\w$@#])\$\$.*?(?:\$\$|\Z)", re.DOTALL | re.IGNORECASE
    )
    for dialect in Dialect
}
# `s3a://KEY:SECRET@bucket`, `https://TOKEN@host`; in `abfss://container@account` it is a place.
_USER = re.compile(
    r"(?:(?P<scheme>\b(?:https?|s?ftps?|s3[an]?|gs|hdfs|webhdfs):)//[^/@\s`\]\"]*+@"
    r"|//[^/@:\s`\]\"]*+:[^/@\s`\]\"]*+@)",
    re.IGNORECASE,
)
_QUERY = re.compile(r"(?P<place>://[^\s`\]\"?]*+)\?\w++=[^\s`\]\"]*+")
# Statements of Spark that hold settings and places of code, and no table.
_SETTING = re.compile(
    r"(?P<key>(?:\A|;) *SET (?:VAR(?:IABLE)? )?[^\s=;()]++ ?= ?)"
    r"(?! |\(|\?(?: ?;|\Z)|[^;]*\bSELECT\b)[^;]*+",
    re.IGNORECASE,
)
_RESOURCE = re.compile(
    r"(?P<verb>(?:\A|;) *ADD (?:JAR|FILE|ARCHIVE)S?) (?!\?(?: ?;|\Z))[^;]*+", re.IGNORECASE
)
_OPTIONS = re.compile(
    r"\b(?P<word>(?:OPTIONS|(?:TBL|DB|SERDE)?PROPERTIES) ?)\((?P<items>(?:[^()]++|\([^()]*+\))*)\)",
    re.IGNORECASE,
)
_PATH = re.compile(r"files\.`")
_NAMED = re.compile(
    r"(?P<key>\s*[^\s=`]++|\s*(?:`[^`]*+`\.?)+)(?P<sign>\s*=\s*|\s+)(?P<value>.+)", re.DOTALL
)
# Logins and credentials of SQL Server.
_PASSWORD = re.compile(
    r"(?P<key>\b(?:(?:WITH|BY) PASSWORD|OLD_PASSWORD|IDENTITY ?= ?\?, ?SECRET) ?= ?)"
    r"(?!\?[\s,;)]|\?\Z)[^\s,;()]++",
    re.IGNORECASE,
)
_ARGUMENT = r"(?:@\w++ ?= ?)?[^\s,;=]++"
_LOGIN = re.compile(
    r"(?P<call>\bsp_(?:addlogin|password|addlinkedsrvlogin|addapprole|setapprole|approlepassword|OACreate))"
    rf" {_ARGUMENT}(?: ?, ?{_ARGUMENT})*",
    re.IGNORECASE,
)


def redact_secrets(text: str, dialect: Dialect) -> str:
    """A text without literals, and without what may be a secret all the same."""
    if "$$" in text:
        text = _BODIES[dialect].sub(lambda match: match["name"] or "?", text)
    if "//" in text:
        text = _QUERY.sub(r"\g<place>", _USER.sub(r"\g<scheme>//", text))
    folded = text.casefold()
    if dialect is Dialect.SPARK:
        text = _RESOURCE.sub(r"\g<verb> ?", _SETTING.sub(r"\g<key>?", text))
    elif "password" in folded or "secret" in folded or "sp_" in folded:
        text = _LOGIN.sub(r"\g<call> ?", _PASSWORD.sub(r"\g<key>?", text))
    if "options" in folded or "properties" in folded:
        text = _OPTIONS.sub(_redact_items, text)
    return text


def _redact_items(match: re.Match[str]) -> str:
    items = ",".join(map(_item, match["items"].split(",")))
    return f"{match['word']}({items})"


def _item(item: str) -> str:
    """`key = ?` of an option; a path that is read is a table, and stays."""
    named = _NAMED.fullmatch(item)
    if named is None or _PATH.match(named["value"]):
        return item
    return f"{named['key']}{named['sign']}?"


_GO = r"^[^\S\n]*GO(?:[^\S\n]+\d+)?[^\S\n]*;?[^\S\n]*\r?$"
_BATCH_SEPARATOR = re.compile(
    rf"(?P<skip>{COMMENT}|{STRING[Dialect.TSQL]}|{NAME[Dialect.TSQL]})|{_GO}", re.I | re.M | re.S
)
_MAY_SEPARATE = re.compile(_GO, re.I | re.M)


def normalise(text: str, dialect: Dialect) -> str:
    """A captured text, unwrapped and without literals: texts that differ in values become one.

    Never raises, takes time in proportion to the text, and changes nothing the second time.
    """
    return _NORMALISE[dialect](text)


def normalise_quoted(text: str, setting: str) -> str:
    """A T-SQL text, normalised by a setting for double quotes.

    Names are in brackets, since the text is read again without the setting.
    """
    normalised = normalise(setting + text, Dialect.TSQL)
    return bracket_names(normalised.removeprefix(setting.strip()).lstrip())


def _normalise_spark(text: str) -> str:
    stripped = strip_literals(protect_quoted_names(text), Dialect.SPARK)
    return redact_secrets(stripped, Dialect.SPARK)


def _normalise_tsql(text: str) -> str:
    stripped = strip_literals(protect_aliases(unwrap(_separate_batches(text))), Dialect.TSQL)
    return strip_bare_arguments(redact_secrets(stripped, Dialect.TSQL))


def _separate_batches(text: str) -> str:
    """A text in which `GO`, the batch separator of SQL Server's tools, stands between `;`."""
    if not _MAY_SEPARATE.search(text):
        return text
    return _BATCH_SEPARATOR.sub(lambda match: match["skip"] or "; GO ;", text)


class _Normaliser:
    """Normalises texts, each of those once that differ in values and names only."""

    def __init__(self, work: Callable[[str], str], dialect: Dialect) -> None:
        self._work, self._dialect = work, dialect
        self._by_fingerprint: Remembered[str] = Remembered()
        self._by_template: Remembered[str] = Remembered()

    def __call__(self, text: str) -> str:
        key = fingerprint(text, self._dialect)
        known = self._by_fingerprint.get(key)
        if known is not None:
            return known
        if not is_plain(text, key, self._dialect):
            return self._work(text)
        return self._by_fingerprint.add(key, self._by_names(text, make_template(key)))

    def _by_names(self, text: str, template: Template | None) -> str:
        if template is None:
            return self._work(text)
        alike = self._by_template.get(template.text)
        if alike is not None:
            return template.restore(alike)
        normalised = self._work(text)
        result = make_template(normalised)
        if result and result.names == template.names:
            self._by_template.add(template.text, result.text)
        return normalised


_NORMALISE = {
    Dialect.SPARK: _Normaliser(_normalise_spark, Dialect.SPARK),
    Dialect.TSQL: _Normaliser(_normalise_tsql, Dialect.TSQL),
}
