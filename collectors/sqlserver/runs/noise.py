"""Texts without lineage, by rule: questions of drivers and tools to the server, health checks.

A rule must be sure: a text that might touch a user's table, call a procedure or end a transaction
is no noise. Texts that are left out are counted.
"""

from __future__ import annotations

import re

from sqlglot.errors import TokenError

from dbt_graft.collectors.sqlserver.names import full_name
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.tables.scan import scan
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import keywords, tokenise

DRIVER, FORMAT, HEALTH, CATALOG = "driver", "format only", "health check", "system catalog"

# Longer texts are a user's work.
_LONGEST = 20_000
_BLANK = r"(?:\s|;|--[^\n]*(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/)*"
# Procedures that describe types, statements and tables; all of them are documented under "catalog
# stored procedures", "database engine stored procedures" or in [MS-TDS].
_DESCRIBES = (
    "column_privileges|columns|cursor_list|databases|datatype_info|describe_cursor"
    "|describe_first_result_set|describe_parameter_encryption|describe_undeclared_parameters"
    "|fkeys|help|helpconstraint|helpdb|helpindex|helptext|oledb_ro_usrname|oledb_language"
    "|pkeys|procedure_params_rowset|reset_connection|server_info|special_columns|sproc_columns"
    "|statistics|stored_procedures|table_privileges|table_types|tablecollations|tables|who|who2"
)
_BEGINS = re.compile(
    rf"{_BLANK}(?:"
    r"(?:EXEC(?:UTE)?\s+)?(?:\[?(?:sys|master)\]?\.(?:\[?(?:sys|dbo)?\]?\.)?)?"
    rf"\[?sp_(?P<driver>{_DESCRIBES})(?:_\d+)?\b"
    r"|(?P<format>(?:SET\s+(?:FMTONLY\s+OFF|NO_BROWSETABLE\s+\w+)[\s;]+)*SET\s+FMTONLY\s+ON\b)"
    r"|(?P<asks>(?:SELECT|WITH|IF|DECLARE|SET)\b)"
    r")",
    re.IGNORECASE,
)
_WRAPPED = re.compile(r"\s*EXEC(?:UTE)?\s+(?:sys\.)?sp_executesql\s+N?'", re.IGNORECASE)
_FORMAT_ENDS = re.compile(
    r"\bSET\s+FMTONLY\s+OFF\b(?P<rest>(?:[\s;]|SET\s+NO_BROWSETABLE\s+OFF\b)*\Z)?", re.IGNORECASE
)
_SYSTEM = re.compile(
    r"\b(?:sys\w*|INFORMATION_SCHEMA|fn_listextendedproperty|master|msdb)\b", re.IGNORECASE
)
_CALL_OF_USER = re.compile(r"(?<!\bsys)\.\s*(?:\w+|\[[^\]]*\])\s*\(", re.IGNORECASE)
# A text with one of these does more than ask.
_DOES = keywords(
    """ALTER BACKUP BULK CALL COMMIT CREATE DELETE DENY DROP EXEC EXECUTE GRANT
    IMPLICIT_TRANSACTIONS INSERT INTO KILL MERGE RESTORE REVOKE ROLLBACK SAVE TRAN TRANSACTION
    TRUNCATE UPDATE USE"""
)
_DOES_OR_ASKS = _DOES | {"SELECT"}
_MAY_DO = re.compile(rf"\b(?:{'|'.join(sorted(_DOES_OR_ASKS))})\b", re.IGNORECASE)


def noise(text: str) -> str | None:
    """The rule by which a captured text is left out; None for one that may have lineage.

    It does not depend on the values in the text.
    """
    return _rule(text) if len(text) <= _LONGEST else None


def _rule(text: str) -> str | None:
    if wrapped := _WRAPPED.match(text):
        text = text[wrapped.end() :].replace("''", "\0").partition("'")[0].replace("\0", "'")
    begins = _BEGINS.match(text)
    if begins is None:
        return None
    if begins["driver"]:
        return None if _does_more(text[begins.end() :]) else DRIVER
    if begins["format"]:
        ends = _FORMAT_ENDS.search(text, begins.end())
        return FORMAT if ends is None or ends["rest"] is not None else None
    return _query_rule(text)


def _does_more(behind: str) -> bool:
    """Whether a text behind a procedure's name is more than its arguments."""
    if not _MAY_DO.search(behind):
        return False
    try:
        tokens = tokenise(normalise(behind, Dialect.TSQL), Dialect.TSQL)
    except TokenError:
        return True
    return not _DOES_OR_ASKS.isdisjoint(token.word for token in tokens)


def _query_rule(text: str) -> str | None:
    """The rule for a text that only asks: it has no table, or only the server's own."""
    has_tables = re.search(r"\bFROM\b(?!\s+DUAL\b)", text, re.IGNORECASE)
    if has_tables and not _SYSTEM.search(text):
        return None
    try:
        tokens = tokenise(normalise(text, Dialect.TSQL), Dialect.TSQL)
    except TokenError:
        return None
    words = {token.word for token in tokens}
    if _DOES & words or "SELECT" not in words:
        return None
    tables = [
        table
        for statement in split(tokens, Dialect.TSQL)
        for table in scan(statement, Dialect.TSQL)[1]
        if table.name != ("DUAL",)
    ]
    if not all(full_name(table.name, "").is_system for table in tables):
        return None
    if not tables and _CALL_OF_USER.search(text):
        return None
    return CATALOG if has_tables else HEALTH
