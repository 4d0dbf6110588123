"""What a scan of a statement has at hand: its tokens, what is open, and what was found so far."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, NameAt, common_tables, name_at
from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Direction

QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("})
_NO_COLUMNS = keywords("CONSTRAINT PRIMARY FOREIGN UNIQUE CHECK INDEX PERIOD")


@dataclass(frozen=True, slots=True)
class TableAccess:
    """A statement reads or writes a table.

    Attributes:
        name: The parts of its name as written, without quotes; an omitted one is empty
            (`db..t`). A path is one part.
        operation: What the statement does there, as SQL names it.
        columns: Name and type of the columns that a write names; the type may be empty.
    """

    name: Name
    direction: Direction
    operation: str
    kind: Kind = Kind.TABLE
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Scope:
    """What is open at a place: the statement itself, or a pair of brackets in it."""

    start: int
    end: int
    expects: bool = False  # a table comes next
    in_from: bool = False  # a comma is followed by another table
    has_from: bool = False  # a FROM belongs to a query, not to EXTRACT(… FROM …)
    derived: bool = False  # the bracket stands where a table is expected
    target: NameAt | None = None  # what INSERT, UPDATE, DELETE or MERGE change
    rows: bool = False  # VALUES stood where a table was expected
    outputs: bool = False  # behind OUTPUT, INTO names a second target
    server: str = ""  # the linked server on which this part of the statement runs


@dataclass(frozen=True, slots=True)
class Read:
    """A table that stands where it is read."""

    at: int
    found: NameAt


class Walk:
    """The state of a scan; `at` is always a place among the tokens."""

    def __init__(self, tokens: list[Token], dialect: Dialect) -> None:
        self.tokens = tokens
        self.dialect = dialect
        self.end = len(tokens)
        self.closes = closings(tokens)
        self.ctes = common_tables(tokens, self.closes)
        self.operation = "SELECT"
        self.reads: list[Read] = []
        self.sources: list[tuple[int, int]] = []  # places -> reads that stand there or behind a CTE
        self.writes: list[TableAccess] = []
        self.returned: list[NameAt] = []  # targets whose rows OUTPUT hands on
        self.aliases: dict[str, int] = {}  # -> the read that it stands for
        self.scopes = [Scope(-1, self.end)]

    @property
    def scope(self) -> Scope:
        """The innermost that is open."""
        return self.scopes[-1]

    @property
    def is_outermost(self) -> bool:
        """Whether no bracket is open."""
        return len(self.scopes) == 1

    def word(self, at: int) -> str:
        """The keyword or sign at a place; empty for a quoted name and outside the statement."""
        return self.tokens[at].word if 0 <= at < self.end else ""

    def name(self, at: int) -> NameAt | None:
        """The name that begins at a place."""
        return name_at(self.tokens, at, self.dialect)

    def skip(self, at: int, *words: str) -> int:
        """The place behind any of these words that stand here."""
        while self.word(at) in words:
            at += 1
        return at

    def behind(self, at: int) -> int:
        """The place behind a token, or behind the bracket that it opens."""
        return self.closes.get(at, at) + 1

    def find(self, at: int, *words: str) -> int | None:
        """The next place with one of these words that is in no bracket opened behind `at`."""
        while at < self.scope.end:
            if self.word(at) in words:
                return at
            at = self.behind(at)
        return None

    def columns(self, at: int) -> tuple[tuple[str, str], ...]:
        """The columns in the bracket that opens here: `(a, b)`, `(a int, b varchar(?))`."""
        if self.word(at) != "(" or self.word(at + 1) in QUERY_STARTS:
            return ()
        columns = []
        end, place, first = self.closes[at], at + 1, True
        while place < end:
            token = self.tokens[place]
            if first and token.is_name and token.word not in _NO_COLUMNS:
                typed = place + 1 < end and self.tokens[place + 1].is_name
                columns.append((token.text, self.tokens[place + 1].text if typed else ""))
            first = token.word == ","
            place = self.behind(place)
        return tuple(columns)

    @property
    def _server(self) -> str:
        """The linked server on which the innermost part of the statement runs; mostly none."""
        return next((scope.server for scope in reversed(self.scopes) if scope.server), "")

    def read(self, at: int, found: NameAt) -> None:
        """Note a table that is read."""
        self.sources.append((at, len(self.reads)))
        self.reads.append(Read(at, found.on(self._server)))

    def first_read(self, start: int, end: int) -> int | None:
        """The first of the reads in a part of the statement, those behind its CTEs too."""
        return next((read for at, read in self.sources if start < at < end), None)

    def linked_server(self, at: int) -> str | None:
        """The server of `EXEC (…) AT srv`."""
        close = self.closes.get(at + 1, self.end)
        linked = self.word(close + 1) == "AT" and close + 2 < self.end
        return self.tokens[close + 2].text if linked else None

    def remote(self, at: int) -> NameAt | None:
        """The first table in `OPENQUERY(srv, SELECT … FROM t)`."""
        if self.word(at) != "OPENQUERY" or self.word(at + 1) != "(":
            return None
        end = self.closes[at + 1]
        places = (near for near in range(at + 2, min(end, self.end)) if self.word(near) == "FROM")
        found = self.name(next(places, self.end) + 1)
        return found and found.on(self.tokens[at + 2].text)._replace(end=end + 1)

    def write(
        self,
        found: NameAt,
        operation: str,
        columns: tuple[tuple[str, str], ...] = (),
        kind: Kind = Kind.TABLE,
    ) -> None:
        """Note a table that is written."""
        found = found.on(self._server)
        kind = found.kind if found.kind is not Kind.TABLE else kind
        self.writes.append(TableAccess(found.name, Direction.WRITE, operation, kind, columns))
