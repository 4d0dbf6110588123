"""The SQL dialects of captured text, and their comments, strings and quoted names."""

from __future__ import annotations

from enum import StrEnum


class Dialect(StrEnum):
    """A dialect, by its name in sqlglot."""

    TSQL = "tsql"
    SPARK = "spark"


def _comment(nested: int) -> str:
    """`/* … */` with comments inside comments, as both dialects allow, to a depth."""
    if not nested:
        return r"/\*(?:[^*]++|\*(?!/))*(?:\*/|\Z)"
    return rf"/\*(?:[^*/]++|\*(?!/)|/(?!\*)|{_comment(nested - 1)})*(?:\*/|\Z)"


# Regular expressions for the pieces of a text in which SQL's own characters are plain text. A
# comment or string that does not end was cut off: it goes to the end of the text. Each can be
# matched in one way only (no quote follows the closing one), so that patterns made of them take no
# exponential time; `tests/test_regular_expressions.py` checks all patterns.
COMMENT = rf"--[^\n\r]*+|{_comment(3)}"
TSQL_QUOTED = r"'(?:[^']++|'')*(?:'(?!')|\Z)"
STRING = {
    Dialect.TSQL: rf"(?:(?<![\w@#$])[Nn])?{TSQL_QUOTED}",
    Dialect.SPARK: (
        r"""(?:(?<!\w)[rR](?:'[^']*+(?:'|\Z)|"[^"]*+(?:"|\Z))"""
        r"""|'(?:[^'\\]++|\\(?:.|\Z)|'')*(?:'(?!')|\Z)|"(?:[^"\\]++|\\(?:.|\Z)|"")*(?:"(?!")|\Z))"""
    ),
}
NAME = {
    Dialect.TSQL: r'(?:\[(?:[^\]]++|\]\])*\](?!\])|"(?:[^"]++|"")*"(?!"))',
    Dialect.SPARK: r"`(?:[^`]++|``)*`(?!`)",
}
CUT_NAME = {
    Dialect.TSQL: r'(?:\[(?:[^\]]++|\]\])*|"(?:[^"]++|"")*)\Z',
    Dialect.SPARK: r"`(?:[^`]++|``)*\Z",
}
