"""Earlier statements of a session: `SELECT a INTO #t FROM s`, before `SELECT * FROM #t`.

No catalog has the columns of such a table; the statement that made it has. A table that may have
been made in two ways (in the branches of an IF) has no columns that are known. Of variables it is
only known whether they were filled from a table.

Variables of T-SQL that hold data: `SELECT @a = b FROM t`, `FETCH c INTO @a`, `EXEC p @a OUTPUT`.

What a statement writes out of such a variable comes from a table that the statement does not name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.tables.verbs import declared_tables
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import module_name
from dbt_graft.collectors.statements.text.names import Name, fold_name
from dbt_graft.collectors.statements.text.tokens import Token
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Outcome

_ASSIGNS = frozenset({"SELECT", "SET", "UPDATE", "WITH"})
_ENDS = frozenset({"FROM", "WHERE"})
_CALLS = frozenset({"EXEC", "EXECUTE"})


def variables_with_data(tokens: list[Token], reads: bool, known: frozenset[str]) -> frozenset[str]:
    """The variables, folded, that hold data after a statement.

    Args:
        reads: The statement reads a table, or may do.
        known: Those that held data before.
    """
    if not any(token.word[:1] == "@" for token in tokens):
        return known
    words = [token.word for token in tokens]
    if words[0] == "DECLARE":
        return known | {name for name, value in _declared(words) if _is_data(value, reads, known)}
    reads = reads or words[0] == "UPDATE"  # its own table
    if not reads and words[0] in _ASSIGNS:
        reads = not known.isdisjoint(map(str.casefold, words))
    return known | {variable.casefold() for variable in _assigned(words, reads)}


def _declared(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The variables of a DECLARE, folded, with the words of the values that they begin with."""
    depth, begin = 0, 1
    for at, word in enumerate([*words, ","]):
        depth += (word == "(") - (word == ")")
        if at == len(words) or (word == "," and not depth):
            name, *value = words[begin:at] or [""]
            if name[:1] == "@" and "=" in value:
                yield name.casefold(), value[value.index("=") :]
            begin = at + 1


def _is_data(value: list[str], reads: bool, known: frozenset[str]) -> bool:
    """Whether a value comes from a table: by a query, a function of users, or a variable."""
    may_read = reads and not {"SELECT", "."}.isdisjoint(value)
    return may_read or not known.isdisjoint(map(str.casefold, value))


def _assigned(words: list[str], reads: bool) -> Iterator[str]:
    head = words[0]
    if head == "FETCH" and "INTO" in words:
        yield from (word for word in words[words.index("INTO") :] if word[:1] == "@")
    elif head in _CALLS:
        yield from (words[1:2] if words[1:2] and words[1][:1] == "@" else ())
        yield from (
            word
            for word, behind in pairwise(words)
            if word[:1] == "@" and behind in ("OUT", "OUTPUT")
        )
    elif reads and head in _ASSIGNS:
        depth = 0
        for at, word in enumerate(words):
            depth += (word == "(") - (word == ")")
            if word in _ENDS and not depth:
                break  # WHERE @a = b assigns nothing
            if word[:1] == "@" and not depth and "=" in words[at + 1 : at + 3]:
                yield word


# The database that `USE` chose earlier in the text, and a table as a statement names it -> the
# table's columns; empty where they are not known.
ColumnLookup = Callable[[str | None, Name], Sequence[str]]
Columns = tuple[str, ...]
# The columns of a function that returns one value and reads nothing.
COMPUTED = ("",)

_CHANGES = frozenset({Operation.ALTER, Operation.RENAME, Operation.TRANSFER, Operation.RESTORE})
_MAKES = frozenset(
    {
        Operation.CREATE_TABLE,
        Operation.CREATE_TABLE_AS,
        Operation.CREATE_TABLE_LIKE,
        Operation.CREATE_VIEW,
        Operation.CACHE_TABLE,
        Operation.SELECT_INTO,
    }
)
# `CREATE TABLE IF NOT EXISTS t`: nobody knows whether this statement made it.
_MAYBE, _NEAR = ["IF", "NOT", "EXISTS"], 8


class EarlierStatements:
    """The statements of a text so far, as the next one finds them.

    Args:
        columns: The columns of tables that were there before.

    Attributes:
        made: The tables that were made, folded; empty columns where these are not known.
        holding_data: The variables, folded, that were filled from tables or by a caller.
        module: The procedure, function or trigger in whose definition the next statement stands.
    """

    def __init__(self, columns: ColumnLookup = lambda database, table: ()) -> None:
        self._before = columns
        self.made: dict[Name, Columns] = {}
        self.holding_data: frozenset[str] = frozenset()
        self.module: str | None = None
        self._place = 0
        self._around: tuple[str | None, frozenset[str]] = (None, self.holding_data)

    def go_to(self, place: int) -> None:
        """Go to the statements of the `EXEC (…)` at a place, or behind it, where modules end."""
        if place != self._place:
            if self._place:
                self.module, self.holding_data = self._around
            self._place, self._around = place, (self.module, self.holding_data)

    def columns(self, database: str | None, table: Name) -> Sequence[str]:
        """The columns of a table; empty where they are not known."""
        made = self.made.get(fold_name(table))
        return self._before(database, table) if made is None else made

    @property
    def temporaries(self) -> tuple[tuple[str, Columns], ...]:
        """The temporary tables that were made and are still there, with their columns."""
        left = ((name[-1], columns) for name, columns in self.made.items())
        return tuple(entry for entry in left if entry[0][:1] == "#")

    def known_to(self, tokens: Iterable[Token]) -> tuple[object, ...]:
        """The tables and variables that a statement may name, to compare what it means."""
        if not self.made:
            return (self.holding_data,)
        words = {token.text.casefold() for token in tokens}
        return (self.holding_data, *(made for made in self.made.items() if made[0][-1] in words))

    def follow(
        self,
        tokens: list[Token],
        accesses: Sequence[TableAccess],
        result: Columns,
        dialect: Dialect,
        outcome: Outcome,
    ) -> None:
        """Go on by one statement.

        Args:
            result: The columns of the query in it; empty where one is not known.
        """
        if dialect is Dialect.TSQL:
            reads = any(access.direction is Direction.READ for access in accesses)
            reads = reads or outcome is not Outcome.PARSED
            self.holding_data = variables_with_data(tokens, reads, self.holding_data)
            if tokens[0].word == "DECLARE":
                self.made |= {fold_name(name): columns for name, columns in declared_tables(tokens)}
        words = [token.word for token in tokens[:_NEAR]]
        if any(words[at : at + 3] == _MAYBE for at in range(len(words))):
            return
        self.make(accesses, result)

    def make(self, accesses: Iterable[TableAccess], result: Columns) -> None:
        """Take the tables that a statement makes, changes or drops."""
        for access in accesses:
            if access.direction is Direction.WRITE:
                self._follow_write(access, result)

    def _follow_write(self, access: TableAccess, result: Columns) -> None:
        name = fold_name(access.name)
        if access.operation is Operation.DROP:
            self.made.pop(name, None)
        elif access.operation in _CHANGES:
            self.made[name] = ()
        elif access.operation in _MAKES:
            columns = result or tuple(column for column, _ in access.columns)
            known = self.made.get(name, columns)
            is_replaced = access.operation is Operation.CREATE_VIEW
            self.made[name] = columns if is_replaced or known == columns else ()

    def begin_module(self, head: list[Token]) -> None:
        """Take the parameters of a procedure, function or trigger: its caller fills them.

        What a function returns is a table variable of its head: `RETURNS @t TABLE (a int)`.
        """
        self.module = module_name(head)
        names = (token.text.casefold() for token in head)
        self.holding_data = frozenset(name for name in names if name[:1] == "@")
        self.made |= {fold_name(name): columns for name, columns in declared_tables(head)}

    def end_batch(self) -> None:
        """Variables end with their batch; tables stay."""
        self.holding_data, self.module = frozenset(), None
        self.made = {name: columns for name, columns in self.made.items() if name[-1][:1] != "@"}
