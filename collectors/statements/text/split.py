"""A batch -> its statements. T-SQL needs no `;` between them: a keyword that can only begin a
statement does, unless the statement before is not complete (`INSERT INTO t` without its SELECT).
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import KINDS, body, creates_module
from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords, word_at

STARTS = keywords(
    """ALTER BACKUP BEGIN BREAK BULK CHECKPOINT CLOSE COMMIT CONTINUE CREATE DBCC DEALLOCATE
    DECLARE DELETE DENY DROP ELSE END EXEC EXECUTE FETCH GOTO GRANT IF INSERT KILL MERGE OPEN PRINT
    RAISERROR RECONFIGURE RESTORE RETURN REVERT REVOKE ROLLBACK SAVE SELECT SET SHUTDOWN TRUNCATE
    UPDATE USE WAITFOR WHILE WITH"""
)
# The statements that complete one which waits for a query.
_QUERIES = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "EXEC", "EXECUTE"})
# After `SET … ON` the server looks at statements without running them.
_NOT_RUN = keywords("FMTONLY NOEXEC PARSEONLY SHOWPLAN_ALL SHOWPLAN_TEXT SHOWPLAN_XML")
_PERMISSIONS = frozenset({"GRANT", "DENY", "REVOKE"})
# The grantee stands this near to the end of such a statement.
_NEAR = 50
# After one of these, the keyword begins no statement.
_CONTINUED_BY = {
    "SELECT": frozenset({"UNION", "ALL", "EXCEPT", "INTERSECT", "FOR"}),
    "INSERT": frozenset({"THEN", "BULK"}),
    "UPDATE": frozenset({"THEN", "FOR"}),
    "DELETE": frozenset({"THEN"}),
    "SET": frozenset({"UPDATE", "DELETE"}),
    "FETCH": frozenset({"ROW", "ROWS"}),
    "EXEC": frozenset({"WITH"}),
    "EXECUTE": frozenset({"WITH"}),
    "ALTER": frozenset({"OR"}),
    "GRANT": frozenset({"WITH"}),
    "BULK": frozenset({"INSERT"}),
}
# Words that only open a block, and those with a condition up to a second word.
_OPENS = keywords("BEGIN ELSE LOOP REPEAT ATOMIC NOT")
_ASKS = {
    "CASE": "WHEN",
    "ELSEIF": "THEN",
    "FOR": "DO",
    "IF": "THEN",
    "UNTIL": "END",
    "WHEN": "THEN",
    "WHILE": "DO",
}
_LABELLED = keywords("BEGIN FOR LOOP REPEAT WHILE")
_QUERY = keywords("SELECT FROM TABLE")
# The statements that a handler can run.
_HANDLES = keywords(
    "BEGIN SELECT INSERT UPDATE DELETE MERGE SET CREATE DROP TRUNCATE ALTER CALL EXECUTE WITH"
)


def split(tokens: list[Token], dialect: Dialect) -> list[list[Token]]:
    """The statements of a batch, those between `SET FMTONLY ON` and `OFF` left out.

    The head of a procedure, function or trigger is one; its body's statements follow.
    """
    cut = _split_at_semicolons if dialect is Dialect.SPARK else _split_at_keywords
    return list(_executed_statements(statement for statement in cut(tokens) if statement))


def _split_at_semicolons(tokens: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.word == ";":
            yield from _single_statements(statement)
            statement = []
        else:
            statement.append(token)
    yield from _single_statements(statement)


def _split_at_keywords(tokens: list[Token]) -> Iterator[list[Token]]:
    closes = closings(tokens)
    start, at = 0, 0
    cases = 0  # CASE … ELSE … END are open
    waits = False  # the statement is not complete without the query that comes next
    while at < len(tokens):
        word = tokens[at].word
        if at > start and word in STARTS and not (cases and word in ("ELSE", "END")):
            if waits and (word in _QUERIES or _begins_cte(tokens, at)):
                # `WITH c AS (…) INSERT INTO t` still waits for what to insert; other engines also
                # know `INSERT INTO t WITH c AS (…) SELECT …`.
                waits = word in ("INSERT", "WITH")
            elif not _continues(tokens, start, at):
                yield tokens[start:at]
                start = at
        if word == ";":
            yield tokens[start:at]
            start = at + 1
        if at == start and creates_module(tokens[at : at + 4]):
            start = body(tokens, closes, at)
            yield tokens[at:start]
            at = start
            continue
        if at <= start:
            cases, waits = 0, word in ("INSERT", "WITH")
        elif word == "AS":
            waits = waits or _defines(tokens[start : start + 4])
        elif word in ("VALUES", "DEFAULT"):
            waits = False
        cases = max(0, cases + (word == "CASE") - (word == "END"))
        at = closes.get(at, at) + 1
    yield tokens[start:]


def _defines(head: list[Token]) -> bool:
    """Whether `AS` introduces the query of a view or a table in a statement that begins so."""
    words = [token.word for token in head]
    return words[:1] in (["CREATE"], ["ALTER"]) and bool({"VIEW", "TABLE"}.intersection(words))


def _continues(tokens: list[Token], start: int, at: int) -> bool:
    """Whether a keyword continues the statement in which it stands."""
    head, word, before = tokens[start].word, tokens[at].word, tokens[at - 1].word
    after = tokens[at + 1].word if at + 1 < len(tokens) else ""
    near = tokens[max(start, at - _NEAR) : at]
    granting = head in _PERMISSIONS and not _words(near) & {"TO", "FROM"}
    if granting or "." in (before, after) or before in _CONTINUED_BY.get(word, ()):
        return True
    match word:
        case "SET":
            words = _words(tokens[start:at])
            sets = head in ("UPDATE", "ALTER") or (head == "WITH" and "UPDATE" in words)
            return sets and "SET" not in words
        case "WITH":
            return head in ("CREATE", "ALTER") or not _begins_cte(tokens, at)
        case "MERGE":
            return after == "JOIN"
        case "ALTER" | "DROP":
            return head == "ALTER" and after not in ("TABLE", "VIEW", "INDEX", *KINDS)
        case "UPDATE" | "DELETE":
            # `FOREIGN KEY … ON DELETE CASCADE`; `IF UPDATE(a)` in a trigger
            if before in ("DO", "KEY"):  # of other engines: ON CONFLICT … DO UPDATE
                return head in ("INSERT", "WITH")
            return after == "(" or (head in ("CREATE", "ALTER") and before == "ON")
        case "IF":
            # `DROP TABLE IF EXISTS`; of other engines, `CREATE TABLE IF NOT EXISTS t`
            is_created = head == "CREATE" and before in ("TABLE", "VIEW") and after == "NOT"
            return is_created or (at > 1 and tokens[at - 2].word == "DROP")
        case "EXECUTE" | "EXEC":
            return after == "AS"
        case _:
            return False


def _words(tokens: list[Token]) -> set[str]:
    return {token.word for token in tokens}


def _begins_cte(tokens: list[Token], at: int) -> bool:
    """Whether common table expressions begin here: `WITH c AS (` or `WITH c (a) AS (`."""
    following = [token.word for token in tokens[at + 2 : at + 3]]
    named = following == ["AS"] or (following == ["("] and tokens[at + 1].is_name)
    return tokens[at].word == "WITH" and named


def _executed_statements(statements: Iterator[list[Token]]) -> Iterator[list[Token]]:
    """The statements that ran: those between `SET FMTONLY ON` and `OFF` are left out."""
    not_run = ""
    for statement in statements:
        first, option, state = ([token.word for token in statement[:3]] + ["", "", ""])[:3]
        if first == "SET" and option in _NOT_RUN:
            if state == "ON":
                not_run = not_run or option
            elif option == not_run:
                not_run = ""
        elif not not_run:
            yield statement


def _single_statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens between two semicolons -> the queries of conditions, then the statement."""
    closes = closings(tokens)
    at = _behind_label(tokens, 0)
    while at < len(tokens):
        word = tokens[at].word
        if word in _ASKS:
            end = _next(tokens, closes, at + 1, _ASKS[word])
            if word == "FOR":  # SELECT … DO, FOR row AS SELECT … DO
                at += 3 if word_at(tokens, at + 2) == "AS" else 1
            question = tokens[at:end]
            if _QUERY.intersection(token.word for token in question):
                yield question
            end += _ASKS[word] in ("THEN", "DO")
        elif word in _OPENS:
            end = at + 1
        elif word == "DECLARE" and "HANDLER" in _script_words(tokens, at):
            end = _next(tokens, closes, at, *_HANDLES)
        elif word == "CREATE" and "PROCEDURE" in _script_words(tokens, at):
            end = _next(tokens, closes, at, "BEGIN")
            yield tokens[at:end]
        else:
            yield tokens[at:]
            break
        at = _behind_label(tokens, end)


def _behind_label(tokens: list[Token], at: int) -> int:
    _, colon, opens = ([token.word for token in tokens[at : at + 3]] + [""] * 3)[:3]
    return at + 2 if colon == ":" and opens in _LABELLED else at


def _script_words(tokens: list[Token], at: int) -> list[str]:
    return [token.word for token in tokens[at + 1 : at + 4]]


def _next(tokens: list[Token], closes: dict[int, int], at: int, *words: str) -> int:
    """The next place with one of these words, outside brackets and CASE … END."""
    cases = 0
    while at < len(tokens):
        word = tokens[at].word
        if word in words and not cases:
            return at
        cases = max(0, cases + (word == "CASE") - (word == "END"))
        at = closes.get(at, at) + 1
    return len(tokens)
