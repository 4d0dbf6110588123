"""Secrets that are no literals: `SET k=…`, `ADD JAR s3a://KEY:SECRET@…`, options, `$$…$$`, URLs.

A second line of defence behind `literals`: what no table or column can stand in becomes `?`,
whether it is quoted or not. A second time changes nothing.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import NAME, Dialect

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
