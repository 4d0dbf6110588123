"""Strings of Spark SQL that are no values: a path, a name or a statement in quotes.

`INSERT OVERWRITE DIRECTORY '/x'`, `read_files('/x')`, `IDENTIFIER('a.b')`, `EXECUTE IMMEDIATE
'SELECT …'`: they would be lost with the literals, so here they become names and statements. A path
is written as Spark itself writes one in the place of a table: files.`/x`. Passwords and signatures
in URLs are taken out.

So are the tables that procedures of table formats take as arguments: `CALL system.snapshot('a',
'b')`. Maintenance (rewrite_data_files, expire_snapshots…) leaves the data as it is and is not
listed, as OPTIMIZE and VACUUM are no access either. After Iceberg's reference, "Spark procedures".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect

READ, WRITE, TEMPORARY = "read", "write", "temporary"

# The arguments that are tables, in the order in which they stand.
PROCEDURES: Mapping[str, Mapping[str, str]] = {
    "add_files": {"table": WRITE, "source_table": READ},
    "cherrypick_snapshot": {"table": WRITE},
    "create_changelog_view": {"table": READ, "changelog_view": TEMPORARY},
    "fast_forward": {"table": WRITE},
    "migrate": {"table": WRITE},
    "publish_changes": {"table": WRITE},
    "register_table": {"table": WRITE},
    "rollback_to_snapshot": {"table": WRITE},
    "rollback_to_timestamp": {"table": WRITE},
    "set_current_snapshot": {"table": WRITE},
    "snapshot": {"source_table": READ, "table": WRITE},
}

# The others look for their `table` in the catalog that they are called of: `CALL lake.system.…`.
OF_CURRENT_CATALOG = frozenset({"migrate", "snapshot"})


_DEEPEST = 3
_STRING = STRING[Dialect.SPARK]
# A letter that begins no raw string, so that one can be read in one way only.
_RAW = r"[rR](?!['\"])"
_PART = rf"(?:{_STRING}|[\w.:]++)"
_TEXT = rf"{_PART}(?:\s*\|\|\s*{_PART})*"
# Table functions of Databricks whose first argument is a path or a table; Databricks SQL reference.
_OF_PATH, _OF_TABLE = "read_files|cloud_files", "table_changes"

_PROCEDURES = "|".join(PROCEDURES)

# Most texts have none of these words, and need no more.
_CARRIERS = f"directory|inpath|copy|identifier|immediate|options|{_OF_PATH}|{_OF_TABLE}".split("|")
CARRIERS = (*_CARRIERS, *PROCEDURES)
CARRIES = rf"\b(?:{'|'.join(CARRIERS)})\b|://"
_HINT = re.compile(CARRIES, re.IGNORECASE)
_PLACES = re.compile(
    rf"(?P<skip>{COMMENT})|(?P<name>{NAME[Dialect.SPARK]})"
    rf"|(?P<before>\b(?:DIRECTORY|INPATH|COPY\s+INTO\s[^'\";]{{0,1000}}?\bFROM"
    rf"|VIEW\s[^'\";]{{0,300}}?\bUSING\s+[\w.]++\s+OPTIONS\s*\((?:[^'\"();rR]|{_RAW}|{_STRING}){{0,50}}?\bpath"
    rf")\s*=?\s*)(?P<path>{_STRING})"
    rf"|\b(?P<function>{_OF_PATH}|{_OF_TABLE})\s*\(\s*(?:\w++\s*=>\s*)?(?P<place>{_STRING})"
    rf"|\bIDENTIFIER\s*\(\s*(?P<identifier>{_TEXT})\s*\)"
    rf"|\b(?P<call>CALL\s+(?:[\w`]++\.)*(?:{_PROCEDURES})\s*\()(?P<arguments>(?:[^'\"()rR]++|{_RAW}|{_STRING}|\([^()]*+\))*)"
    rf"|\bEXECUTE\s+IMMEDIATE\s+(?P<statement>{_TEXT})(?:[^;'\"rR]++|{_RAW}|{_STRING})*"
    rf"|\b(?P<variable>\w++)(?:\s+STRING)?\s*(?:=|\bDEFAULT\b)\s*(?P<value>{_TEXT})(?=\s*(?:;|\Z))"
    rf"|{_STRING}",
    re.IGNORECASE | re.DOTALL,
)
# `${hiveconf:db}.orders`: the value that Spark puts there is not known.
_SUBSTITUTED = re.compile(r"\$\{[^{}]*+\}")
_ONE_PART = re.compile(_PART, re.DOTALL)
_ONE_STRING = re.compile(_STRING, re.DOTALL)
_NAME = re.compile(
    rf"\s*(?:\w+|{NAME[Dialect.SPARK]})(?:\s*\.\s*(?:\w+|{NAME[Dialect.SPARK]}))*\s*"
)
_PASSWORD = re.compile(r"(?<=://)[^/@:]*:[^/@]*@|\?\w+=.*", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def protect_quoted_names(text: str, depth: int = 0) -> str:
    """A Spark SQL text in which paths, names and statements in quotes stand without them."""
    text = _SUBSTITUTED.sub("?", text)
    if depth == _DEEPEST or not _HINT.search(text):
        return text
    variables: dict[str, str] = {}  # the texts of variables

    def rewrite(match: re.Match[str]) -> str:
        unchanged = match.group()
        if match["name"]:
            return (
                without_password(unchanged.removesuffix("`")) + "`"
                if "://" in unchanged
                else unchanged
            )
        if match["path"]:
            return match["before"] + _path(match["path"])
        if match["function"]:
            of_path = match["function"].casefold() in _OF_PATH
            table = _path(match["place"]) if of_path else _name(_unquote(match["place"]))
            return f"{match['function']}(TABLE {table}" if table else unchanged
        if match["identifier"]:
            return _name(_value(match["identifier"], variables)) or unchanged
        if match["call"]:
            return match["call"] + _ONE_STRING.sub(_argument, match["arguments"])
        if match["statement"]:
            statement = _value(match["statement"], variables)
            return f"{protect_quoted_names(statement, depth + 1)} " if statement else unchanged
        if match["variable"]:
            variables[match["variable"].casefold()] = _value(match["value"], variables)
        return unchanged

    return _PLACES.sub(rewrite, text)


def without_password(path: str) -> str:
    """A path without the user, and without the signature behind `?`."""
    return _PASSWORD.sub("", path)


def _argument(match: re.Match[str]) -> str:
    """A procedure's argument, a name where it can be one."""
    return _name(_unquote(match.group())) or match.group()


def _path(string: str) -> str:
    path = without_password(_unquote(string)).replace("`", "``")
    return f"files.`{path}`" if path else string


def _name(text: str) -> str:
    """A text that is a name, else nothing."""
    return text.strip() if _NAME.fullmatch(text) else ""


def _value(text: str, variables: dict[str, str]) -> str:
    """The text of `'a' || b`: `?` for a part that is not known, empty where none is known."""
    values = [
        _unquote(part) if part[-1] in "'\"" or part[:1] in "'\"" else variables.get(part.casefold())
        for part in _ONE_PART.findall(text)
    ]
    return "".join("?" if value is None else value for value in values) if any(values) else ""


def _unquote(string: str) -> str:
    quote = "'" if "'" in string[:2] else '"'
    raw, _, body = string.partition(quote)
    # Without its closing quote the string was cut off there.
    body = body.removesuffix(quote).replace(quote * 2, quote)
    return body if raw else _ESCAPED.sub(r"\1", body)
