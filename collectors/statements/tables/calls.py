"""Which procedures a T-SQL statement calls.

    EXEC dbo.load 1      EXEC @rc = dbo.load      INSERT INTO t EXEC dbo.list
    {? = CALL dbo.load(?)}      dbo.load 1, at the beginning of a batch

What a call does, its own events tell; where these were not captured, the procedure's text does.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, NameAt, name_at
from dbt_graft.collectors.statements.text.tokens import Token, keywords
from dbt_graft.lineage.dataset import Kind

_CALLS = frozenset({"EXEC", "EXECUTE", "CALL"})
# In these, EXECUTE is a permission or says on whose behalf.
_NO_CALL = keywords("ALTER CREATE DENY GRANT REVOKE WITH")


def calls(tokens: list[Token], *, alone: bool = False) -> tuple[Name, ...]:
    """The names of the procedures, as written; those in variables and on linked servers left out.

    Args:
        alone: It may be a call without EXEC: it begins its batch with a word that is not known.
    """
    if tokens[0].word in _NO_CALL:
        return ()
    found = list(_called(tokens))
    if alone and (first := name_at(tokens, 0, Dialect.TSQL)) and _is_call(tokens, first):
        found.append(first)
    return tuple(dict.fromkeys(one.name for one in found if one.kind is Kind.TABLE))


def _called(tokens: list[Token]) -> Iterator[NameAt]:
    for at, token in enumerate(tokens):
        behind = at + 1
        if token.word not in _CALLS or behind == len(tokens) or tokens[behind].word == "AS":
            continue
        if [one.word for one in tokens[behind + 1 : behind + 2]] == ["="]:
            behind += 2  # EXEC @rc = dbo.load
        if found := name_at(tokens, behind, Dialect.TSQL):
            yield found


def _is_call(tokens: list[Token], name: NameAt) -> bool:
    """Whether arguments or nothing at all stand behind a name."""
    if name.end == len(tokens):
        return True
    word = tokens[name.end].word
    return word[:1] in ("?", "@", "-") or word in ("NULL", "DEFAULT")
