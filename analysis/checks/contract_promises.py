"""Promises of data contracts beside columns: held, broken, or not checked, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from dbt_graft.analysis.checks.contracts import (
    KIND,
    ContractMatches,
    ContractTable,
    DataContract,
    WrittenPromise,
)
from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.quality.deadlines import DeadlineForecast, DeadlineStatus, forecasts
from dbt_graft.analysis.quality.times import length
from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen

# Promises of which forecasts tell.
AGES = ("freshness", "deadline")
_FREQUENCIES = ("frequency", "fy")
_ENDS = ("endoflife", "el", "endofsupport", "es")
# How many times its frequency old a table may be: one delivery may come late.
_LATE = 2
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d")
_NOT_CHECKED: Mapping[str, str] = {
    "retention": "no log tells which rows are there",
    "re": "no log tells which rows are there",
    "bounds": "values are not read; tests of dbt do",
    "quality rules": "rules of contracts are not run; tests of dbt are",
    "availability": "nobody asks the server",
}


class PromiseState(StrEnum):
    """State of a promise; AT_RISK: it is not broken yet, and is late."""

    HELD = "held"
    AT_RISK = "at risk"
    BROKEN = "broken"
    NOT_CHECKED = "not checked"


_OF_FORECAST = {
    DeadlineStatus.MISSED: PromiseState.BROKEN,
    DeadlineStatus.STALE: PromiseState.BROKEN,
    DeadlineStatus.WILL_MISS: PromiseState.AT_RISK,
    DeadlineStatus.LATE: PromiseState.AT_RISK,
}
_State = tuple[PromiseState, str]


@frozen
class CheckedPromise:
    """A promise of a contract for a dataset, and its state.

    Attributes:
        reason: Why it is in that state.
    """

    contract: DataContract
    dataset: DatasetId
    property: str
    value: str
    state: PromiseState
    reason: str = ""


def checked_promises(
    matches: ContractMatches, history: WriteHistory, now: datetime
) -> list[CheckedPromise]:
    """The promises of all contracts that mean datasets."""
    finished = history.finished
    return [
        CheckedPromise(contract, dataset, promise.property, promise.value, *state)
        for contract, table, dataset in matches.tables
        for promise, state in (
            *_ages(table, dataset, history, now),
            *_status(contract),
            *((p, _state(p, finished.get(dataset, ()), now)) for p in table.promises),
        )
    ]


def _ages(
    table: ContractTable, dataset: DatasetId, history: WriteHistory, now: datetime
) -> Iterator[tuple[WrittenPromise, _State]]:
    """The freshness SLO and the deadline of one table: others of the contract may have missed."""
    reader = Consumer(
        *("", "", KIND, (dataset,)), freshness_slo=table.freshness_slo, deadline=table.deadline
    )
    for forecast in forecasts(history, [reader], now):
        name, value = AGES[not forecast.is_age], (table.deadline, table.freshness_slo)
        yield WrittenPromise(name, value[forecast.is_age]), _of_forecast(forecast)


def _of_forecast(forecast: DeadlineForecast) -> _State:
    if forecast.status is DeadlineStatus.UNKNOWN:
        return PromiseState.NOT_CHECKED, forecast.reason
    # The data may come from what is older.
    if forecast.is_age and forecast.status is DeadlineStatus.MET and forecast.reason:
        return PromiseState.NOT_CHECKED, forecast.reason
    return _OF_FORECAST.get(forecast.status, PromiseState.HELD), forecast.status.value


def _status(contract: DataContract) -> Iterator[tuple[WrittenPromise, _State]]:
    if contract.status and contract.status not in ("active", "current", "production"):
        promise = WrittenPromise("status", contract.status)
        yield promise, (PromiseState.NOT_CHECKED, "a person decides when it is active")


def _state(promise: WrittenPromise, written: Sequence[datetime], now: datetime) -> _State:
    if promise.unchecked:
        return PromiseState.NOT_CHECKED, promise.unchecked
    word = promise.property.casefold()
    if word in _FREQUENCIES:
        return _frequency(promise.value, [at for at in written if at <= now], now)
    if word in _ENDS:
        return _end(promise.value, now)
    reason = _NOT_CHECKED.get(word, "graft does not know this promise")
    return PromiseState.NOT_CHECKED, reason


def _frequency(value: str, written: Sequence[datetime], now: datetime) -> _State:
    most = length(value)
    if most is None:
        return PromiseState.NOT_CHECKED, "it is not a length of time"
    if not written:
        return PromiseState.NOT_CHECKED, "no write is known"
    last = f"written last on {time_text(written[-1])} UTC"
    broken = now - written[-1] > _LATE * most
    return PromiseState.BROKEN if broken else PromiseState.HELD, last


def _end(value: str, now: datetime) -> _State:
    try:
        end = datetime.fromisoformat(value)
    except ValueError:
        return PromiseState.NOT_CHECKED, "it is not a date"
    end = end if end.tzinfo else end.replace(tzinfo=UTC)
    # A day is over at its end; that of 31 December 9999 is no time.
    is_over = end <= now - timedelta(days=_DATE.fullmatch(value) is not None)
    return (PromiseState.BROKEN, "it is over") if is_over else (PromiseState.HELD, "it is to come")
