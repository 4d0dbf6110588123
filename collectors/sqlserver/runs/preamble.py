"""Texts that stand before a statement, and say what its variables and temporary tables hold.

A statement may be recorded by itself: one of a batch, or inside of a procedure. Its dates depend on
what was assigned and staged before it, by the procedure, its callers and earlier requests, in the
order in which they ran, and on the arguments of calls, which are recorded behind the statements
that they ran. All of that becomes text in front of the statement, which is read as one batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.runs.parameters import Parameters
from dbt_graft.collectors.statements.periods.shape import BEGIN

_VARIABLE = re.compile(r"(?<![@\w])@(?=[\w#$])")
_FIRST_WORD = re.compile(r"\s*(SET|DECLARE|SELECT|UPDATE|FETCH|EXEC|EXECUTE)\b", re.IGNORECASE)
_ASSIGNED = re.compile(r"(@[\w@#$]+)\s*[-+*/%&|^]?=")
_NAME = re.compile(r"@[\w@#$]+")
_OUTPUT = re.compile(r"(@[\w@#$]+)\s+OUT(?:PUT)?\b", re.IGNORECASE)
_OTHERS = {"FETCH": _NAME, "EXEC": _OUTPUT, "EXECUTE": _OUTPUT}
_DECLARED = re.compile(r"(@[\w@#$]+)\s+(?:AS\s+)?[\w.\[\]]+(?:\s*\([^)]*\))?\s*=", re.IGNORECASE)
_TEMPORARY = re.compile(r"(?<![\w@#$])#[\w#$@]+")
_BEGINS_TABLE = re.compile(
    r"(?:(?P<adds>\b(?:INSERT|MERGE)\s+)?\bINTO|\b(?:CREATE|DROP|TRUNCATE)\s+TABLE(?:\s+IF\s+EXISTS)?)"
    r"\s+\[?(?P<name>#[\w#$@]+)",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\bOUTPUT\b", re.IGNORECASE)
_SETS = re.compile(r"\s*(?:SET|DECLARE)\b", re.IGNORECASE)
_QUERY = re.compile(r"\bSELECT\b", re.IGNORECASE)
# What may read a table, in a text without literals: a query, or a function of users.
_READS = re.compile(r"\b(?:FROM|UPDATE)\b|\.\s*[\w\[\]]+\s*\(", re.IGNORECASE)
# SQL Server nests calls so deep.
_DEEPEST = 32
# In characters, of a text that later requests need.
_LONGEST = 10_000
# A temporary table that more texts name is filled row by row.
_MOST_FILLS = 6
# More are those of a loop, whose variables have no one value.
_MOST = 50


@dataclass(slots=True)
class Preamble:
    """The texts before one statement.

    Attributes:
        scope: The procedure that the first of it is of; empty for what a client sends.
        text: One declaration, assignment or filled table behind the other.
        depth: How many calls it goes through; the variables of each get names of their own.
    """

    scope: str
    text: str = ""
    depth: int = 0

    @classmethod
    def of(cls, statement: str, procedure: str, assigned: Sequence[str]) -> Preamble:
        """Those that a statement of a procedure may depend on."""
        used = _temporaries(statement) if "#" in statement else set[str]()
        texts = (text for text in assigned if _SETS.match(text) or used & _temporaries(text))
        return cls(procedure, _join(*texts))

    def enter(self, scope: str, assigned: Sequence[str], arguments: Parameters) -> None:
        """Put those of the caller before them, and the arguments of its call.

        Args:
            scope: The caller.
        """
        outer = self.depth + 1
        if outer > _DEEPEST:
            return
        declared = (
            f"DECLARE {_rename(name, self.depth)} sql_variant = {_rename(value, outer)}"
            for name, value in arguments
        )
        self.text = _join(*(_rename(text, outer) for text in assigned), *declared, self.text)
        self.scope, self.depth = scope, outer

    def begin_with(self, text: str) -> None:
        """Put a text of the same scope before them."""
        self.text = _join(text, self.text)

    def before(self, statement: str) -> str:
        """The text of a batch: a statement behind what is declared."""
        return _join(self.text, BEGIN, statement)


@dataclass(slots=True)
class _OpenProcedure:
    """A procedure that is running.

    Attributes:
        begin: The number of statements that the request showed before its first one.
        assigned: What it assigned to variables so far.
        holding_data: Its variables, folded, and whether they were filled from a table.
    """

    name: str
    begin: int
    assigned: list[str] = field(default_factory=list)
    holding_data: dict[str, bool] = field(default_factory=dict)

    def holds_data(self, name: str) -> bool:
        """Whether a variable was filled from a table, or by a caller, as parameters are."""
        is_parameter = bool(self.name) and not name.startswith("@@")
        return self.holding_data.get(name.casefold(), is_parameter)


class RequestContext:
    """Assignments and temporary tables of a request so far.

    They stand by the procedures that it is inside of, each of them called by the one before.

    Attributes:
        are_used: The request was inside of one, assigned a variable or used a temporary table.
        temporaries: Texts of earlier requests that filled temporary tables.
    """

    def __init__(self, temporaries: Sequence[str] = ()) -> None:
        """Begin a request.

        Args:
            temporaries: Texts of earlier ones that filled temporary tables.
        """
        self.temporaries = tuple(temporaries)
        self._stack = [_OpenProcedure("", 0, [*temporaries])]
        self.are_used = bool(temporaries)

    def __bool__(self) -> bool:
        """Whether the request is inside of a procedure."""
        return len(self._stack) > 1

    def go_on(self, procedure: str, called: str, shown: int) -> int | None:
        """Go on with a statement of a procedure, which ends those that it called.

        Args:
            procedure: Empty for what the client sent.
            called: The procedure that the statement calls; empty where it calls none.
            shown: The number of statements that the request showed before.

        Returns:
            The number of the first statement inside of these; None where none has ended.
        """
        places = {opened.name: place for place, opened in enumerate(self._stack)}
        is_new = procedure not in places
        if not is_new:
            first = places[procedure] + 1
        else:
            # What calls a procedure that runs is outside of it, even if it has shown nothing yet.
            first = places[called] if called and called in places else len(places)
        ended = self._stack[first:]
        del self._stack[first:]
        if is_new:
            self.are_used = True
            if len(self._stack) > _DEEPEST:
                del self._stack[1:]
            self._stack.append(_OpenProcedure(procedure, ended[0].begin if ended else shown))
        if ended:  # they may have filled its temporary tables
            here, inside = self._stack[-1].assigned, (t for p in ended for t in p.assigned)
            here += map(_filled_often, sorted(_named(here) & _named(inside)))
        return ended[0].begin if ended else None

    def assign(self, text: str) -> None:
        """Note the assignments of a statement of the innermost procedure."""
        first = _FIRST_WORD.match(text) if "@" in text else None
        if "#" in text and not _SETS.match(text):
            self.fill(text)
        if first is None:
            return
        self.are_used = True
        assigned = self._stack[-1].assigned
        assigned += _assignments(first[1].upper(), text)
        if len(assigned) > _MOST:
            names = dict.fromkeys(n.casefold() for text in assigned for n in _NAME.findall(text))
            assigned[:] = map(_unknown, names)

    def fill_variables(self, text: str) -> None:
        """Note whether the variables that a text without literals assigns hold data of tables."""
        opened = self._stack[-1]
        for fill in _variable_fills(text) if "@" in text else ():
            is_data = fill.reads or any(map(opened.holds_data, fill.others))
            opened.holding_data[fill.name] = is_data

    def variables_with_data(self, text: str) -> str:
        """The variables of a statement that hold data of tables, folded, with commas."""
        names = _variable_names(text) if "@" in text else ()
        return ",".join(filter(self._stack[-1].holds_data, names))

    def fill(self, text: str) -> None:
        """Note a text that may fill temporary tables."""
        if not _TEMPORARY.search(text):
            return
        self.are_used = True
        assigned = self._stack[-1].assigned
        # What a table held before counts no longer.
        begins = _BEGINS_TABLE.finditer(text) if not _ADDS.search(text) else ()
        begun = {begin["name"].casefold() for begin in begins if not begin["adds"]}
        assigned[:] = [old for old in assigned if not begun & _temporaries(old)]
        names = _temporaries(text)
        # What one holds whose beginning was not seen, or is forgotten, is not known.
        assigned += map(_filled_often, sorted(names - begun - _named(assigned)))
        if all(_filled_often(name) in assigned for name in names):
            return
        assigned.append(text.strip("; \n\r\t"))
        for name in names:
            texts = [old for old in assigned if name in _temporaries(old)]
            if len(texts) > _MOST_FILLS:
                assigned[:] = [old for old in assigned if old not in texts]
                assigned.append(_filled_often(name))

    @property
    def has_declared(self) -> bool:
        """Whether a statement that the client sent has shown its declarations."""
        return any(text[:7].upper() == "DECLARE" for text in self._stack[0].assigned)

    def end(self) -> RequestContext:
        """Begin the next request of the session; its variables are others."""
        fills = [text for text in self._stack[0].assigned if not _SETS.match(text)]
        lost = _named(text for text in fills if "@" in text or len(text) > _LONGEST)
        texts = [text for text in fills if not lost & _temporaries(text)]
        return RequestContext([*texts, *map(_filled_often, sorted(lost))][-_MOST:])

    def assignments(self, procedure: str) -> list[str]:
        """Those of a procedure so far, in their order."""
        return next((p.assigned for p in self._stack if p.name == procedure), [])


class _VariableFill(NamedTuple):
    """A variable that a text assigns.

    Attributes:
        name: Folded.
        reads: Its value comes from a table.
        others: The variables that its value is made of.
    """

    name: str
    reads: bool
    others: tuple[str, ...]


# A log repeats few texts.
@lru_cache(1024)
def _variable_names(text: str) -> tuple[str, ...]:
    """The variables that a text names, folded and sorted."""
    return tuple(sorted({name.casefold() for name in _NAME.findall(text)}))


@lru_cache(1024)
def _variable_fills(text: str) -> tuple[_VariableFill, ...]:
    first = _FIRST_WORD.match(text)
    if first is None:
        return ()
    verb = first[1].upper()
    if verb != "DECLARE":
        values = dict.fromkeys(_OTHERS.get(verb, _ASSIGNED).findall(text), text)
    else:
        begins = [*_DECLARED.finditer(text)]
        ends = [*(begin.start() for begin in begins[1:]), len(text)]
        values = {
            begin[1]: text[begin.end() : end] for begin, end in zip(begins, ends, strict=False)
        }
    return tuple(
        _VariableFill(
            name.casefold(),
            verb in _OTHERS or _READS.search(value) is not None,
            tuple(set(_NAME.findall(value)) - values.keys()),
        )
        for name, value in values.items()
    )


def _assignments(first: str, text: str) -> Iterator[str]:
    if first in ("SET", "DECLARE") and not _QUERY.search(text):
        if "=" in text:
            yield text.strip("; \n\r\t")
    else:
        for name in _OTHERS.get(first, _ASSIGNED).findall(text):
            yield _unknown(name)


def _filled_often(name: str) -> str:
    """A text after which the dates of a temporary table are not known."""
    fill = f"INSERT INTO {name} (a) SELECT a FROM b"  # noqa: S608 (it is never run)
    return f"{fill}; {fill}"


def _named(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _temporaries(text)}


def _temporaries(text: str) -> set[str]:
    return {name.casefold() for name in _TEMPORARY.findall(text)}


def _unknown(name: str) -> str:
    """An assignment whose value no text shows."""
    return f"SET {name} = unknown"


def _rename(text: str, depth: int) -> str:
    return _VARIABLE.sub(f"@outer{depth}_", text) if depth else text


def _join(*texts: str) -> str:
    # A comment may end a text.
    return "\n;\n".join(filter(None, texts))
