"""The state of a token scan: the tokens, the open scopes, and the tables found so far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, NameAt, common_tables, name_at
from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import COMPUTED, IDENTITY, Direction

QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("})
_BEFORE_TABLE = keywords("APPLY DELETE DIRECTORY EXISTS INTO JOIN MERGE TABLE UPDATE USING VIEW")
_NO_COLUMNS = keywords("CONSTRAINT PRIMARY FOREIGN UNIQUE CHECK INDEX PERIOD")


@frozen
class TableAccess:
    """A statement reads or writes a table.

    Attributes:
        name: The parts of its name as written, without quotes; an omitted one is empty
            (`db..t`). A path is one part.
        operation: A read has that of its statement: `INSERT` reads the rows that it inserts.
        columns: Name and type of the columns that a write names; the type may be empty.
    """

    name: Name
    direction: Direction
    operation: Operation
    kind: Kind = Kind.TABLE
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class ScanScope:
    """The statement itself, or a pair of brackets in it.

    Attributes:
        expects: A table comes next.
        in_from: A comma is followed by another table.
        has_from: A FROM belongs to a query, not to `EXTRACT(… FROM …)`.
        derived: The bracket stands where a table is expected.
        target: The table that INSERT, UPDATE, DELETE or MERGE change.
        rows: VALUES stood where a table was expected.
        outputs: After OUTPUT, INTO names a second target.
        server: The linked server on which this part of the statement runs, and the database there.
    """

    start: int
    end: int
    expects: bool = False
    in_from: bool = False
    has_from: bool = False
    derived: bool = False
    target: NameAt | None = None
    rows: bool = False
    outputs: bool = False
    server: Name = ()


class ScanState:
    """The state of a scan; `at` is always a place among the tokens.

    Attributes:
        operation: What the statement does to the tables that it reads.
        verb: What it does, for statements that are no operation on a table; else empty.
        sources: Places -> the index of the read that stands there, or in the CTE named there.
        returned: Targets whose rows OUTPUT returns.
        functions: Functions that stand in the place of a table, those of SQL Server left out.
        aliases: An alias, folded -> the index of its read.
        lacks_source: A table of the statement itself, in no query inside, is not known.
    """

    def __init__(self, tokens: list[Token], dialect: Dialect) -> None:
        self.tokens = tokens
        self.dialect = dialect
        self.end = len(tokens)
        self.closes = closings(tokens)
        self.ctes = common_tables(tokens, self.closes)
        self.operation = Operation.SELECT
        self.verb = ""
        self.problem = ""
        self.lacks_source = False
        self.reads: list[NameAt] = []
        self.sources: list[tuple[int, int]] = []
        self.writes: list[TableAccess] = []
        self.returned: list[NameAt] = []
        self.functions: list[NameAt] = []
        self.aliases: dict[str, int] = {}
        self.scopes = [ScanScope(-1, self.end)]

    @property
    def scope(self) -> ScanScope:
        """The innermost open scope."""
        return self.scopes[-1]

    @property
    def is_outermost(self) -> bool:
        """Whether no bracket is open."""
        return len(self.scopes) == 1

    def word(self, at: int) -> str:
        """The keyword or sign at a place; empty for a quoted name and outside the statement."""
        return self.tokens[at].word if 0 <= at < self.end else ""

    @cached_property
    def _is_cut(self) -> bool:
        """Whether a bracket is still open at the end."""
        return self.end in self.closes.values()

    def name(self, at: int) -> NameAt | None:
        """The name that begins at a place; None for Spark's IDENTIFIER(…) of a variable.

        A name at the end of a statement that was cut off is none.
        """
        name = name_at(self.tokens, at, self.dialect)
        if name and name.end == self.end and self._is_cut:
            return None  # more of it may have followed
        if name and self.word(at) == "IDENTIFIER" and self.word(name.end) == "(":
            return None
        return name

    def skip(self, at: int, *words: str) -> int:
        """The place after any of these words that stand here; `table.t` is a name, not a word."""
        while self.word(at) in words and self.word(at + 1) != ".":
            at += 1
        return at

    def after(self, at: int) -> int:
        """The place after a token, or after the bracket that it opens."""
        return self.closes.get(at, at) + 1

    def find(self, at: int, *words: str) -> int | None:
        """The next place with one of these words, outside brackets opened after `at`."""
        while at < self.scope.end:
            if self.word(at) in words:
                return at
            at = self.after(at)
        return None

    def columns(self, at: int) -> tuple[tuple[str, str], ...]:
        """The columns in the bracket that opens here: `(a, b)`, `(a int, b varchar(?))`.

        Those that SQL Server fills itself have types that say so: `int identity`, as its own
        `sp_columns` names it, and `computed`.
        """
        if self.word(at) != "(" or self.word(at + 1) in QUERY_STARTS:
            return ()
        columns = []
        end, position, first = self.closes[at], at + 1, True
        while position < end:
            token = self.tokens[position]
            if first and token.is_name and token.word not in _NO_COLUMNS:
                typed = position + 1 < end and self.tokens[position + 1].is_name
                kind = self.tokens[position + 1].text if typed else ""
                columns.append((token.text, COMPUTED if kind.upper() == "AS" else kind))
            elif token.word == "IDENTITY" and columns and columns[-1][1]:
                columns[-1] = (columns[-1][0], columns[-1][1] + IDENTITY)
            first = token.word == ","
            position = self.after(position)
        return tuple(columns)

    @property
    def _server(self) -> Name:
        """The linked server on which the innermost part of the statement runs; mostly none."""
        return next((scope.server for scope in reversed(self.scopes) if scope.server), ())

    def read(self, at: int, table: NameAt) -> None:
        """Add a table that is read."""
        self.sources.append((at, len(self.reads)))
        self.reads.append(table.on_server(self._server))

    def first_read(self, start: int, end: int) -> int | None:
        """The first of the reads in a part of the statement, those in its CTEs too."""
        return next((read for at, read in self.sources if start < at < end), None)

    def table(self, at: int) -> NameAt | None:
        """The table at a place where one should stand; None, which is noted, if none does."""
        table = self.name(at)
        if table is None:
            self.no_table(at)
        return table

    def no_table(self, at: int) -> None:
        """Note that a table should stand at a place, and none that is known does."""
        word = self.word(at - 1)
        word = word if word in _BEFORE_TABLE else "FROM"
        self.problem = self.problem or f"no table found after {word}"
        self.lacks_source |= self.is_outermost

    def linked_server(self, at: int) -> Name | None:
        """The server of `EXEC (…) AT srv`, with the database of `AT srv.db`."""
        close = self.closes.get(at + 1, self.end)
        linked = self.name(close + 2) if self.word(close + 1) == "AT" else None
        return linked and linked.name

    def remote(self, at: int) -> NameAt | None:
        """The first table in `OPENQUERY(srv, SELECT … FROM t)`."""
        if self.word(at) != "OPENQUERY" or self.word(at + 1) != "(":
            return None
        end = self.closes[at + 1]
        places = (near for near in range(at + 2, min(end, self.end)) if self.word(near) == "FROM")
        table, server = self.name(next(places, self.end) + 1), self.name(at + 2)
        return table and server and table.on_server(server.name)._replace(end=end + 1)

    def write(
        self,
        table: NameAt,
        operation: Operation,
        columns: tuple[tuple[str, str], ...] = (),
        kind: Kind = Kind.TABLE,
    ) -> None:
        """Add a table that is written."""
        table = table.on_server(self._server)
        kind = table.kind if table.kind is not Kind.TABLE else kind
        self.writes.append(TableAccess(table.name, Direction.WRITE, operation, kind, columns))
