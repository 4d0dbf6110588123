"""A captured text -> the text of its shapes: unwrapped, without literals and secrets."""

from __future__ import annotations

import re
from collections.abc import Callable

from dbt_graft.collectors.statements.text.aliases import protect_aliases
from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.fingerprint import fingerprint, is_plain
from dbt_graft.collectors.statements.text.literals import strip_literals
from dbt_graft.collectors.statements.text.protect import protect_quoted_names
from dbt_graft.collectors.statements.text.remembered import Remembered
from dbt_graft.collectors.statements.text.secrets import redact_secrets
from dbt_graft.collectors.statements.text.template import Template, make_template
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
    stripped = strip_literals(protect_aliases(unwrap(_separate_batches(text))), Dialect.TSQL)
    return redact_secrets(stripped, Dialect.TSQL)


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
