"""Transactions of a session: the texts that begin and end them, and the work they take back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

# All of them for texts without literals.
_SETTINGS = r"(?:SET\s+(?!IMPLICIT_)\w+\s+(?:ON|OFF)\b[\s;]*)*"
_BEGIN = r"BEGIN\s+(?:DISTRIBUTED\s+)?TRAN(?:SACTION)?\b"
_NAME = r"(?P<name>(?!BEGIN\b)\[?\w+\]?)"
_BEGINS = re.compile(rf"{_SETTINGS}{_BEGIN}(?:\s+(?P<name>(?!\w+\s*\()\[?\w+\]?))?", re.I)
# FreeTDS begins the next transaction in the same text.
_ENDS = re.compile(
    r"(?P<maybe>(?:IF\s+)?@@TRANCOUNT\s*>\s*\?\s*)?(?P<verb>COMMIT|ROLLBACK)"
    rf"(?:\s+(?:TRAN|TRANSACTION|WORK)\b(?:\s+{_NAME})?)?[\s;]*(?P<again>{_BEGIN}[\s;]*)?",
    re.I,
)
_SAVES = re.compile(rf"SAVE\s+TRAN(?:SACTION)?\s+{_NAME}[\s;]*", re.I)
_IMPLICIT = re.compile(r"SET\s+IMPLICIT_TRANSACTIONS\s+(?P<on>ON|OFF)\b", re.I)
_BRANCHES = re.compile(r"\b(?:IF|TRY|CATCH|WHILE|COMMIT|GOTO)\b", re.I)
_ENDS_WITH = re.compile(
    r"\b(?P<verb>COMMIT|ROLLBACK)(?:\s+(?:TRAN|TRANSACTION|WORK)\b)?\s*;?\s*\Z", re.I
)
_ENDED = re.compile(r"\b(?:COMMIT|ROLLBACK)\b", re.I)


class Control(StrEnum):
    """The effect of a text on the transaction of its session.

    UNDONE: it began one and took it back itself. SAVE: it set a savepoint. IMPLICIT, EXPLICIT:
    whether each statement is in a transaction, begun or not. UNCLEAR: it may have ended one.
    """

    BEGIN = "begin"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    UNDONE = "undone"
    SAVE = "save"
    IMPLICIT = "implicit"
    EXPLICIT = "explicit"
    UNCLEAR = "unclear"


class TransactionStep(NamedTuple):
    """A text that acts on the transaction of its session.

    Attributes:
        name: Of the transaction that it begins or takes back, or of the savepoint.
        bare: It does nothing else.
        maybe: Only where there is a transaction: `IF @@TRANCOUNT > 0 ROLLBACK`.
        again: After that it begins the next.
    """

    control: Control
    name: str = ""
    bare: bool = False
    maybe: bool = False
    again: bool = False


def transaction_step(text: str) -> TransactionStep | None:
    """The step of a text without literals; None where it does nothing to the transaction."""
    if ends := _ENDS.fullmatch(text):
        control = Control(ends["verb"].lower())
        maybe, again = ends["maybe"] is not None, ends["again"] is not None
        return TransactionStep(
            control, _fold_name(ends["name"]), bare=True, maybe=maybe, again=again
        )
    if saves := _SAVES.fullmatch(text):
        return TransactionStep(Control.SAVE, _fold_name(saves["name"]), bare=True)
    if implicit := _IMPLICIT.match(text):
        control = Control.IMPLICIT if implicit["on"].upper() == "ON" else Control.EXPLICIT
        return TransactionStep(control, bare=not text[implicit.end() :].strip(" ;"))
    if begins := _BEGINS.match(text):
        behind = text[begins.end() :]
        name = _fold_name(begins["name"])
        if not _ENDED.search(behind):
            return TransactionStep(Control.BEGIN, name, bare=not behind.strip(" ;"))
        last = _ENDS_WITH.search(behind)
        if last and last["verb"].upper() == "ROLLBACK" and not _BRANCHES.search(behind):
            return TransactionStep(Control.UNDONE, name)
        return TransactionStep(Control.UNCLEAR)
    last = _ENDS_WITH.search(text)
    if last and last["verb"].upper() == "COMMIT" and not _BRANCHES.search(text[: last.start()]):
        return TransactionStep(Control.COMMIT)
    return TransactionStep(Control.UNCLEAR) if _ENDED.search(text) else None


def _fold_name(name: str | None) -> str:
    return (name or "").strip("[]").casefold()


@dataclass(slots=True)
class Transactions:
    """The transactions of one session, one after the other.

    Statements that are committed or taken back together have one number, their epoch.

    Attributes:
        epoch: That of the next statement.
        depth: How many `BEGIN TRAN` are open.
        undone: Whether an epoch was taken back, as far as that is decided.
    """

    epoch: int = 0
    depth: int = 0
    undone: dict[int, bool] = field(default_factory=dict)
    _first: int = 0
    _name: str | None = None  # None where no transaction is known to be open
    _implicit: bool = False
    _saved: dict[str, int] = field(default_factory=dict)

    def begin(self, name: str = "") -> bool | None:
        """Begin one.

        Returns:
            As all of these methods: whether the statements until now were taken back; None where
            that is not decided yet.
        """
        self.depth += 1
        if self._name is not None:
            return None
        self._name = name
        return self._settle(undone=False)

    def end(self, *, undone: bool) -> bool | None:
        """End the innermost, or all of them by taking them back."""
        self.depth = 0 if undone else max(0, self.depth - 1)
        if self.depth:
            return None
        self._name = "" if self._implicit else None
        return self._settle(undone=undone)

    def reset(self) -> bool | None:
        """End the connection, which takes back an open transaction."""
        undone = self.depth > 0
        self.depth, self._implicit = 0, False
        return self.end(undone=undone)

    def follow(self, step: TransactionStep, *, ok: bool = True) -> bool | None:
        """Go on by a step, whose BEGIN was followed before the text ran.

        Args:
            ok: Whether it ended well.
        """
        decided = None
        match step.control:
            case Control.COMMIT:
                # Drivers ask before they commit where they begin nothing themselves.
                self._implicit |= step.maybe and self._name is None
                decided = self.end(undone=False)
            case Control.ROLLBACK if ok:
                decided = self._take_back(step.name, maybe=step.maybe)
            case Control.UNDONE:
                decided = self.end(undone=True)
            case Control.SAVE:
                self._save(step.name)
            case Control.IMPLICIT:
                self._implicit = True
                if self._name is None:
                    decided = self.end(undone=False)
            case Control.EXPLICIT:
                self._implicit = False
                decided = None if self.depth else self.end(undone=False)
            case Control.UNCLEAR:
                self.depth = 0
        if step.again:
            self.begin()
        return decided

    def _take_back(self, name: str, *, maybe: bool) -> bool | None:
        if name in self._saved:
            self.undone |= dict.fromkeys(range(self._saved[name], self.epoch + 1), True)
            self._save(name)
            return None
        is_known = self._name is not None if maybe else name in ("", self._name)
        return self.end(undone=True) if is_known else None

    def _save(self, name: str) -> None:
        """Set a savepoint: statements from now on can be taken back alone."""
        self.epoch += 1
        self._saved[name] = self.epoch

    def _settle(self, *, undone: bool) -> bool:
        for epoch in range(self._first, self.epoch + 1):
            self.undone.setdefault(epoch, undone)
        self.epoch += 1
        self._first = self.epoch
        self._saved.clear()
        return undone
