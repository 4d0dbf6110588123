"""Captured texts, normalised once each: their statements without literals.

Most of a busy log is a few statements with ever new values. Drivers send these as calls that carry
the statement as a string of its own, so it is taken out of the call and looked up; only what was
never seen is normalised.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.runs.noise import noise
from dbt_graft.collectors.sqlserver.runs.parameters import bind_values, declared_parameters
from dbt_graft.collectors.sqlserver.runs.temporaries import (
    TempTableReference,
    temp_table_references,
)
from dbt_graft.collectors.sqlserver.runs.transactions import TransactionStep, transaction_step
from dbt_graft.collectors.statements.normalise import normalise, normalise_quoted
from dbt_graft.collectors.statements.periods.partition_numbers import (
    PartitionShape,
    find_partitions,
)
from dbt_graft.collectors.statements.periods.shape import DateShape, find_dates
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.double_quotes import (
    QUOTES_ARE_NAMES,
    QUOTES_ARE_VALUES,
    setting_after,
)
from dbt_graft.collectors.statements.text.fingerprint import ByFingerprint, literals
from dbt_graft.collectors.statements.text.handles import Handle, HandleAction, handle
from dbt_graft.collectors.statements.text.unwrap import unwrap
from dbt_graft.collectors.statements.text.variables import UNKNOWN, unquote
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited

_log = logging.getLogger(__name__)

# Texts that are remembered, by number and by length of all of them in characters.
_MOST_TEXTS, _MOST_CHARACTERS = 50_000, 32_000_000
_CALL = re.compile(
    r"\s*(?:declare @\w+ int\s+set @\w+=(?P<handle>\d{1,10})\s+)?exec(?:ute)?\s+(?:sys\.)?"
    r"sp_(?P<procedure>executesql|prepexec|prepare)\s+"
    r"(?:@\w+\s+output\s*,\s*(?:NULL|N'[^']*+')\s*,\s*)?"
    r"(?P<statement>N'[^']*+(?:''[^']*+)*'(?!'))",
    re.IGNORECASE,
)
_BY_HANDLE = re.compile(
    r"\s*exec(?:ute)?\s+(?:sys\.)?sp_(?P<act>execute|unprepare)\s+(?P<handle>\d{1,10})\b", re.I
)
_CUT_AT = (4_000, 8_000)
_LAST_NAME = re.compile(r"""(?<![\w@#$.\[\]"])[\w@#$.\[\]"]+\Z""")
# A call begins a text, behind declarations at most.
_BEHIND = 500
_PREPARES = re.compile(r"\bsp_(?:cursor)?prepare\s", re.I)
_RESET = re.compile(r"\s*exec(?:ute)?\s+(?:sys\.)?sp_reset_connection\b", re.I)

_USE = re.compile(r"(?:^|;|\s)USE\s+(?P<name>\[(?:[^\]]|\]\])+\]|[\w@#$]+)", re.I)


class NormalizedText(NamedTuple):
    """A captured text without its literals, and what the fold must know of it.

    Attributes:
        noise: The rule by which it is left out; empty where it is not.
        step: What it does to the transaction of its session.
        database: The database that it ends in by a `USE`; empty without one.
        temporaries: The temporary tables that it names.
        unread: Why it could not be read; empty where it was.
        date_shape: Where the dates of its conditions stand; None where it has none.
        literals: The literals that these dates depend on; they are not stored.
        parameters: The names of its parameters, or, of one call, also their values.
        partition_shape, partition_literals: The same for the numbers of partitions.
        setting: The one for double quotes that it leaves its session with; empty where it is not
            sure, None where it does not set it.
    """

    text: str
    noise: str = ""
    step: TransactionStep | None = None
    database: str = ""
    temporaries: tuple[TempTableReference, ...] = ()
    unread: str = ""
    date_shape: DateShape | None = None
    literals: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    partition_shape: PartitionShape | None = None
    partition_literals: tuple[str, ...] = ()
    setting: str | None = None

    @property
    def has_values(self) -> bool:
        """Whether dates, numbers of partitions or a procedure's variables are among its values."""
        has_shape = self.date_shape is not None or self.partition_shape is not None
        return has_shape or self.text[:4].casefold() == "exec"


_DATE_SHAPES = ByFingerprint(find_dates)
_PARTITION_SHAPES = ByFingerprint(find_partitions)


def normalized_text(text: str, setting: str = "") -> NormalizedText:
    """A captured text, normalised.

    Args:
        setting: The session's for double quotes; empty where it is not known.
    """
    sent = unwrap(text)
    after = setting_after(text)
    # What a text sets itself it also shows.
    is_known = setting and after is None
    normalized = normalise_quoted(sent, setting) if is_known else normalise(text, Dialect.TSQL)
    return NormalizedText(
        text=normalized,
        noise=noise(text) or "",
        step=transaction_step(normalized),
        database=_last_database(normalized),
        temporaries=temp_table_references(normalized),
        date_shape=_DATE_SHAPES(sent),
        partition_shape=_PARTITION_SHAPES(sent),
        setting=after,
    )


def _last_database(normalized: str) -> str:
    database, depth, counted = "", 0, 0
    for use in _USE.finditer(normalized) if "use" in normalized.casefold() else ():
        start = use.start()
        depth += normalized.count("(", counted, start) - normalized.count(")", counted, start)
        counted = start
        if not depth:  # `EXEC (USE Dw; …)` chooses none for what comes behind
            database = use["name"].removeprefix("[").removesuffix("]").replace("]]", "]")
    return database


class RemoteCall(NamedTuple):
    """A remote procedure call.

    Attributes:
        statement: The statement that it carries; None where it names one by its handle.
        handle: The handle that it gets, uses or gives back.
        runs: It runs the statement; `sp_prepare` only names it.
        values_at: Where the values begin of a call by handle.
    """

    statement: NormalizedText | None
    handle: Handle | None
    runs: bool
    values_at: int = 0


class TextNormalizer:
    """Normalises texts: one seen before costs a look-up, one that differs in values little more.

    Args:
        noise: Texts that one of these patterns is found in are left out, beside those that
            always are; the pattern is the rule.

    Attributes:
        unread: How many times a text was sent that could not be read, by reason.
    """

    def __init__(self, noise: Sequence[re.Pattern[str]] = ()) -> None:
        self.unread: Counter[str] = Counter()
        self._noise = noise
        self._normalized = {
            setting: ByFingerprint(partial(normalized_text, setting=setting))
            for setting in ("", QUOTES_ARE_NAMES, QUOTES_ARE_VALUES)
        }
        self._known: dict[tuple[str, str], NormalizedText] = {}
        self._characters = 0

    def batch(self, text: str, setting: str = "") -> NormalizedText:
        """The text of a batch or of a statement in one.

        Args:
            setting: As for `normalized_text`, also below.
        """
        # A column of nvarchar(4000), into which events were loaded, may have cut it.
        text = f"{_LAST_NAME.sub('', text)} {UNKNOWN}" if len(text) in _CUT_AT else text
        return self._find(text, text, setting)

    def _find(self, captured: str, statement: str, setting: str) -> NormalizedText:
        setting = setting if '"' in captured else ""
        key = setting, captured
        normalized = self._known.get(key)
        if normalized is None:
            try:
                normalized = run_limited(self._normalize, captured, statement, setting)
            except UnreadableTextError as error:
                _log.debug("a reject: a text", exc_info=True)
                normalized = NormalizedText("", unread=str(error), setting="")
            self._characters += len(captured)
            if len(self._known) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
                self._known.clear()
                self._characters = len(captured)
            self._known[key] = normalized
        if normalized.unread:
            self.unread[normalized.unread] += 1
        return normalized

    def _normalize(self, captured: str, statement: str, setting: str) -> NormalizedText:
        normalized, taken = self._normalized[setting].with_literals(statement)
        if normalized.has_values:
            values = literals(unwrap(statement)) if taken is None else taken
            normalized = normalized._replace(
                literals=_select_values(values, normalized.date_shape),
                partition_literals=_select_values(values, normalized.partition_shape),
            )
        for pattern in self._noise:
            if pattern.search(captured):
                return normalized._replace(noise=pattern.pattern)
        return normalized

    def call(self, text: str, setting: str = "") -> RemoteCall:
        """The text of a remote procedure call."""
        if call := _CALL.match(text):
            # Values come behind the statement: without them it is the same every time.
            statement = self._find(call["statement"], unquote(call["statement"]), setting)
            if statement.has_values:
                names = declared_parameters(text, call.start("statement"), call.end())
                statement = statement._replace(parameters=bind_values(names, text, call.end()))
            procedure, number = call["procedure"].lower(), call["handle"]
            prepares = number and procedure != "executesql"
            prepared = Handle(int(number), HandleAction.PREPARE) if prepares else None
            return RemoteCall(statement, prepared, runs=procedure != "prepare")
        if by_handle := _BY_HANDLE.match(text):
            runs = by_handle["act"].lower() == "execute"
            act = HandleAction.EXECUTE if runs else HandleAction.UNPREPARE
            return RemoteCall(None, Handle(int(by_handle["handle"]), act), runs, by_handle.end())
        used = handle(text)
        if used is not None and used.act is not HandleAction.PREPARE:
            return RemoteCall(None, used, used.act is HandleAction.EXECUTE)
        runs = _PREPARES.search(text, 0, _BEHIND) is None
        return RemoteCall(self.batch(text, setting), used, runs)


def _select_values(
    values: Sequence[str], shape: DateShape | PartitionShape | None
) -> tuple[str, ...]:
    count = len(values)
    return tuple(
        values[number] if number < count else "" for number in (shape.numbers if shape else ())
    )


def resets_connection(text: str) -> bool:
    """Whether a call gives a pooled connection back, which ends all that the session held."""
    return _RESET.match(text) is not None
