"""Whether a regular expression can take exponential time: it is ambiguous inside a loop.

A pattern backtracks without end when one text leads around a loop in two ways, as `''''` does in
`('(''|[^'])*')*`. So each pattern becomes an automaton whose states are its characters, and two
walkers go through it by the same text: if they can part and meet again where they began, it is
ambiguous. Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.

Possessive repeats and lookaheads of one character count, as limits of the character that follows;
other lookarounds are taken as passed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

# ASCII, and a letter, a space and a sign beyond it: enough to tell classes apart.
_ALPHABET = [*range(128), 0xE9, 0x2003, 0x20AC]
_ALL = (1 << len(_ALPHABET)) - 1
_LOOPS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
# A repeat of more is a loop.
_MANY = 12
_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}
_SETS = {
    category: sum(1 << at for at, code in enumerate(_ALPHABET) if re.match(text, chr(code)))
    for category, text in _CATEGORIES.items()
}
# A place among the characters, and the characters that may follow it there.
_Ends = dict[int, int]


@dataclass
class Automaton:
    """The characters of a pattern, and which follows which.

    Attributes:
        accepts: The characters that each state stands for, as bits.
        follows: State -> state -> the characters by which it is reached.
        doubled: Steps that can be made in two ways, as in `(a*)*`.
    """

    accepts: list[int] = field(default_factory=lambda: [0])
    follows: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    doubled: set[tuple[int, int]] = field(default_factory=set)

    def state(self, accepts: int) -> int:
        self.accepts.append(accepts)
        return len(self.accepts) - 1

    def link(self, ends: _Ends, firsts: _Ends) -> None:
        for source, allowed in ends.items():
            for target, limited in firsts.items():
                by = allowed & limited & self.accepts[target]
                if by and target in self.follows[source]:
                    self.doubled.add((source, target))
                if by:
                    self.follows[source][target] = self.follows[source].get(target, 0) | by


@dataclass
class _Piece:
    """A part of a pattern: its first and last states, and the limit of what follows if empty."""

    firsts: _Ends
    lasts: _Ends
    empty: int | None


class _Builder:
    def __init__(self, flags: int) -> None:
        self.automaton = Automaton()
        self.groups: dict[int, Any] = {}
        self.ignores_case = bool(flags & re.IGNORECASE)
        self.dot = _ALL if flags & re.DOTALL else _ALL & ~self.characters([(ops.LITERAL, 10)])

    def characters(self, items: Iterable[tuple[Any, Any]]) -> int:
        """The characters of a class, as bits."""
        found, negated = 0, False
        for op, value in items:
            if op is ops.NEGATE:
                negated = True
            elif op is ops.CATEGORY:
                found |= _SETS[value]
            else:
                low, high = (value, value) if op is ops.LITERAL else value
                for at, code in enumerate(_ALPHABET):
                    same = {code}
                    if self.ignores_case:
                        same |= {ord(one) for one in (chr(code).lower(), chr(code).upper())}
                    found |= any(low <= one <= high for one in same) << at
        return _ALL & ~found if negated else found

    def single(self, op: Any, value: Any) -> int | None:
        """The characters that a step of a pattern stands for; None where it is no character."""
        match op:
            case ops.LITERAL:
                return self.characters([(op, value)])
            case ops.NOT_LITERAL:
                return self.characters([(ops.NEGATE, None), (ops.LITERAL, value)])
            case ops.IN:
                return self.characters(value)
            case ops.ANY:
                return self.dot
        return None

    def sequence(self, pattern: Iterable[tuple[Any, Any]]) -> _Piece:
        whole = _Piece({}, {}, _ALL)
        for op, value in pattern:
            whole = self.joined(whole, self.piece(op, value))
        return whole

    def joined(self, first: _Piece, second: _Piece) -> _Piece:
        self.automaton.link(first.lasts, second.firsts)
        firsts, lasts = dict(first.firsts), dict(second.lasts)
        if first.empty is not None:
            firsts |= {at: allowed & first.empty for at, allowed in second.firsts.items()}
        if second.empty is not None:
            lasts |= {at: allowed & second.empty for at, allowed in first.lasts.items()}
        both = first.empty is not None and second.empty is not None
        return _Piece(firsts, lasts, first.empty & second.empty if both else None)  # type: ignore[operator]

    def piece(self, op: Any, value: Any) -> _Piece:
        if (characters := self.single(op, value)) is not None:
            at = self.automaton.state(characters)
            return _Piece({at: _ALL}, {at: _ALL}, None)
        if op in _LOOPS:
            return self.repeated(op, *value)
        match op:
            case ops.SUBPATTERN:
                self.groups[value[0]] = value[3]
                outside = self.ignores_case
                self.ignores_case = bool(outside or value[1] & re.IGNORECASE)
                inside = self.sequence(value[3])
                self.ignores_case = outside
                return inside
            case ops.GROUPREF:
                return self.sequence(self.groups[value])
            case ops.ATOMIC_GROUP:
                return self.sequence(value)
            case ops.BRANCH:
                parts = [self.sequence(branch) for branch in value[1]]
                empties = [part.empty for part in parts if part.empty is not None]
                return _Piece(
                    {at: by for part in parts for at, by in part.firsts.items()},
                    {at: by for part in parts for at, by in part.lasts.items()},
                    reduce(or_, empties) if empties else None,
                )
            case ops.GROUPREF_EXISTS:
                return self.piece(ops.BRANCH, (None, [value[1], value[2] or []]))
            case ops.ASSERT_NOT if value[0] == 1 and len(value[1]) == 1:
                not_next = self.single(*value[1][0])
                return _Piece({}, {}, _ALL if not_next is None else _ALL & ~not_next)
            case ops.AT if value is ops.AT_END_STRING:
                return _Piece({}, {}, 0)  # nothing follows
        return _Piece({}, {}, _ALL)  # another anchor or lookaround

    def repeated(self, op: Any, least: int, most: int, pattern: Any) -> _Piece:
        whole = _Piece({}, {}, _ALL)
        for _ in range(min(least, _MANY)):
            whole = self.joined(whole, self.sequence(pattern))
        if most > _MANY:
            loop = self.sequence(pattern)
            self.automaton.link(loop.lasts, loop.firsts)
            alone = self.single(*pattern[0]) if len(pattern) == 1 else None
            limit = _ALL & ~alone if op is ops.POSSESSIVE_REPEAT and alone is not None else _ALL
            lasts = {at: allowed & limit for at, allowed in loop.lasts.items()}
            return self.joined(whole, _Piece(loop.firsts, lasts, limit))
        for _ in range(most - min(least, _MANY)):
            once = self.sequence(pattern)
            whole = self.joined(whole, _Piece(once.firsts, once.lasts, _ALL))
        return whole


def automaton(pattern: re.Pattern[Any]) -> Automaton:
    """The automaton of a pattern."""
    builder = _Builder(pattern.flags)
    whole = builder.sequence(_parser.parse(pattern.pattern, pattern.flags))
    builder.automaton.link({0: _ALL}, whole.firsts)
    return builder.automaton


def is_exponential(pattern: re.Pattern[Any]) -> bool:
    """Whether a text exists that leads around a loop of the pattern in two ways."""
    built = automaton(pattern)
    for loop in _components(range(len(built.accepts)), built.follows):
        inside = {at: {to: by for to, by in built.follows[at].items() if to in loop} for at in loop}
        if any(source in loop and to in inside[source] for source, to in built.doubled):
            return True
        if all(len(steps) < 2 for steps in inside.values()):
            continue
        pairs = _Pairs(inside)
        for met in _components([(at, at) for at in loop], pairs):
            if any(a == b for a, b in met) and any(a != b for a, b in met):
                return True
    return False


class _Pairs(dict[Any, Any]):
    """The steps of two walkers who read the same text."""

    def __init__(self, steps: dict[int, dict[int, int]]) -> None:
        super().__init__()
        self._steps = steps

    def __missing__(self, pair: tuple[int, int]) -> list[tuple[int, int]]:
        first, second = (self._steps[at].items() for at in pair)
        return [(a, b) for a, by in first for b, or_by in second if by & or_by]


def _components(starts: Iterable[Any], follows: Any) -> Iterator[set[Any]]:
    """The strongly connected parts of a graph in which a walk can go around; Kosaraju's."""
    finished: list[Any] = []
    into: dict[Any, list[Any]] = defaultdict(list)
    seen: set[Any] = set()
    for start in starts:
        for at in _finished(start, follows, seen):
            finished.append(at)
            for to in follows[at]:
                into[to].append(at)
    seen = set()
    for start in reversed(finished):
        part = set(_finished(start, into, seen))
        if len(part) > 1 or start in follows[start]:
            yield part


def _finished(start: Any, follows: Any, seen: set[Any]) -> Iterator[Any]:
    """The places first seen from here, each after those that it leads to."""
    work = [] if start in seen else [(start, iter(follows[start]))]
    seen.add(start)
    while work:
        at, steps = work[-1]
        to = next((step for step in steps if step not in seen), None)
        if to is None:
            work.pop()
            yield at
        else:
            seen.add(to)
            work.append((to, iter(follows[to])))
