"""The procedures that a T-SQL statement calls, and dynamic SQL that is not resolved.

    EXEC dbo.load 1      EXEC @rc = dbo.load      INSERT INTO t EXEC dbo.list
    {? = CALL dbo.load(?)}      dbo.load 1, at the beginning of a batch

The statements of a procedure have events of their own; where these were not captured, its text
stands in for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, NameAt, name_at
from dbt_graft.collectors.statements.text.split import STARTS
from dbt_graft.collectors.statements.text.tokens import Token, keywords
from dbt_graft.collectors.statements.text.unwrap import STATEMENT_AT
from dbt_graft.lineage.dataset import Kind

_CALLS = frozenset({"EXEC", "EXECUTE", "CALL"})
# In these, EXECUTE is a permission or names the user as whom something runs.
_NO_CALL = keywords("ALTER CREATE DENY GRANT REVOKE WITH")
_SYSTEM_PREFIXES = ("sp_", "xp_")
# Where a text that they run can be seen, the statement stands in place of the call.
_RUN_A_TEXT = frozenset(
    {*STATEMENT_AT, "sp_execute_external_script", "sp_msforeachdb", "sp_msforeachtable"}
)


def called_procedures(tokens: list[Token], *, alone: bool = False) -> tuple[Name, ...]:
    """The names of the procedures, as written; those in variables and on linked servers left out.

    Args:
        alone: It may be a call without EXEC: it begins its batch with a word that is no verb.
    """
    if tokens[0].word in _NO_CALL:
        return ()
    names = [name_at(tokens, at, Dialect.TSQL) for at in _procedure_places(tokens)]
    if alone and (first := name_at(tokens, 0, Dialect.TSQL)) and _is_call(tokens, first):
        names.append(first)
    return tuple(dict.fromkeys(name.name for name in names if name and name.kind is Kind.TABLE))


def is_dynamic(tokens: list[Token], calls: Iterable[Name]) -> bool:
    """Whether a statement runs a text or a procedure that is not known: it is in a variable."""
    if tokens[0].word in _NO_CALL:
        return False
    if any(name[-1].casefold() in _RUN_A_TEXT for name in calls):
        return True
    return any(_is_unknown(tokens[at : at + 2]) for at in _procedure_places(tokens))


def _is_unknown(tokens: list[Token]) -> bool:
    """Whether these follow EXEC: `(@sql)`, `@procedure`, `IMMEDIATE sql`; not `(SELECT …) AT s`."""
    first, last = tokens[0].word, tokens[-1].word
    if first == "(":
        return last not in STARTS
    return first == "IMMEDIATE" or first[:1] == "@"


def _procedure_places(tokens: list[Token]) -> Iterator[int]:
    """The places after EXEC, EXECUTE and CALL, and after the variable that takes the result."""
    for at, token in enumerate(tokens):
        if token.word not in _CALLS or (token.word == "CALL" and not _begins(tokens, at)):
            continue
        words = [token.word for token in tokens[at + 1 : at + 3]]
        position = at + (3 if words[1:] == ["="] else 1)  # EXEC @rc = dbo.load
        if position < len(tokens) and words[0] != "AS":
            yield position


def _begins(tokens: list[Token], at: int) -> bool:
    """Whether a call begins here: `CALL p`, `? = CALL p`; elsewhere CALL is a name."""
    return at == 0 or tokens[at - 1].word == "="


def _is_call(tokens: list[Token], name: NameAt) -> bool:
    """Whether a name is followed by arguments or by nothing at all."""
    if name.end == len(tokens) or name.name[-1].casefold().startswith(_SYSTEM_PREFIXES):
        return True
    word = tokens[name.end].word
    return word[:1] in ("?", "@", "-") or word in ("NULL", "DEFAULT")
