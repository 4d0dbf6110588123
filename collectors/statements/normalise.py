"""A captured text -> the text of its shapes: unwrapped, without literals and secrets."""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.fingerprint import ByFingerprint
from dbt_graft.collectors.statements.text.literals import strip_literals
from dbt_graft.collectors.statements.text.protect import protect_quoted_names
from dbt_graft.collectors.statements.text.secrets import redact_secrets
from dbt_graft.collectors.statements.text.unwrap import unwrap

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


def _normalise_spark(text: str) -> str:
    stripped = strip_literals(protect_quoted_names(text), Dialect.SPARK)
    return redact_secrets(stripped, Dialect.SPARK)


def _normalise_tsql(text: str) -> str:
    stripped = strip_literals(unwrap(_separate_batches(text)), Dialect.TSQL)
    return redact_secrets(stripped, Dialect.TSQL)


def _separate_batches(text: str) -> str:
    """A text in which `GO`, the batch separator of SQL Server's tools, stands between `;`."""
    if not _MAY_SEPARATE.search(text):
        return text
    return _BATCH_SEPARATOR.sub(lambda match: match["skip"] or "; GO ;", text)


_NORMALISE = {
    Dialect.SPARK: ByFingerprint(_normalise_spark, Dialect.SPARK),
    Dialect.TSQL: ByFingerprint(_normalise_tsql, Dialect.TSQL),
}
