"""Promises of data contracts beside columns: held, broken, or not checked, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from dbt_graft.analysis.checks.contracts import ContractMatches, DataContract, WrittenPromise
from dbt_graft.analysis.quality.deadlines import DeadlineForecast, DeadlineStatus
from dbt_graft.analysis.quality.times import length
from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

# Promises of which forecasts tell.
AGES = ("freshness", "deadline")
_FREQUENCIES = ("frequency", "fy")
_ENDS = ("endoflife", "el", "endofsupport", "es")
# How many times its frequency old a table may be: one delivery may come late.
_LATE = 2
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
    matches: ContractMatches,
    finished: Mapping[DatasetId, Sequence[datetime]],
    forecasts: Sequence[DeadlineForecast],
    now: datetime,
) -> list[CheckedPromise]:
    """The promises of all contracts that mean datasets.

    Args:
        finished: The ends of successful writes of each dataset, the oldest first.
        forecasts: Those of deadlines and ages, of contracts among others.
    """
    return [
        CheckedPromise(contract, dataset, promise.property, promise.value, *state)
        for contract, table, dataset in matches.tables
        for promise, state in (
            *_ages(contract, table.freshness_slo, table.deadline, dataset, forecasts),
            *_status(contract),
            *((p, _state(p, finished.get(dataset, ()), now)) for p in table.promises),
        )
    ]


def _ages(
    contract: DataContract,
    freshness_slo: str,
    deadline: str,
    dataset: DatasetId,
    forecasts: Sequence[DeadlineForecast],
) -> Iterator[tuple[WrittenPromise, _State]]:
    """The freshness SLO and the deadline, as forecasts have them."""
    node_id = f"contract:{contract.id}"
    of_contract = [
        forecast
        for forecast in forecasts
        if forecast.consumer.node_id == node_id and dataset in forecast.consumer.reads
    ]
    for name, value, is_age in zip(AGES, (freshness_slo, deadline), (True, False), strict=True):
        if value:
            matching = [f for f in of_contract if f.is_age is is_age]
            yield WrittenPromise(name, value), _of_forecast(matching[0] if matching else None)


def _of_forecast(forecast: DeadlineForecast | None) -> _State:
    if forecast is None or forecast.status is DeadlineStatus.UNKNOWN:
        return PromiseState.NOT_CHECKED, forecast.reason if forecast else "nothing is known of it"
    # The data may come from what is older.
    if forecast.is_age and forecast.status is DeadlineStatus.MET and forecast.reason:
        return PromiseState.NOT_CHECKED, forecast.reason
    return _OF_FORECAST.get(forecast.status, PromiseState.HELD), forecast.status.value


def _status(contract: DataContract) -> Iterator[tuple[WrittenPromise, _State]]:
    if contract.status and contract.status not in ("active", "current", "production"):
        promise = WrittenPromise("status", contract.status)
        yield promise, (PromiseState.NOT_CHECKED, "a person decides when it is active")


def _state(promise: WrittenPromise, written: Sequence[datetime], now: datetime) -> _State:
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
    is_over = end <= now
    return (PromiseState.BROKEN, "it is over") if is_over else (PromiseState.HELD, "it is to come")
