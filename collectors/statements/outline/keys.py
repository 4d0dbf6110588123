"""Keys in outlines, and rules of dialects for them: without a parser, as cached outlines are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

# The spelling by which a quoted name is the name without quotes; elsewhere letters' case is
# nothing.
PLAIN_NAMES: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("snowflake", "oracle", "exasol"), str.upper),
    **dict.fromkeys(("postgres", "materialize", "risingwave", "clickhouse"), str.lower),
}
# The length of a column's type is written, and ignored.
NO_LENGTHS = frozenset({"duckdb", "sqlite"})
# Here a name without quotes is as it is written, too.
_AS_WRITTEN = "clickhouse"
# Begins the digests of columns that are the same where an outer join may make NULL of them.
_NULLABLE = "="


def digest(*parts: str) -> str:
    """The digest of texts and digests, in their order."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()


def column_digest(*parts: str) -> str:
    """The digest of a column of a table, which is as it is or NULL, and no expression."""
    return f"{_NULLABLE}{digest(*parts)}"


def or_null(column: str) -> str:
    """The digest of a column where an outer join may have no row of its source.

    Of a table's column it is the same; of an expression, which is not computed then, another.
    """
    return column if column.startswith(_NULLABLE) else column_digest("or null", column)


def name_key(name: str, dialect: str, *, quoted: bool) -> str:
    """A name, folded; in quotes if it is another one than the folded name."""
    plain = PLAIN_NAMES.get(dialect)
    if plain is None or not (quoted or dialect == _AS_WRITTEN) or plain(name) == name:
        return name.casefold()
    return f'"{name}"'
