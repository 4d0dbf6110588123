"""Two versions of data contracts -> what is promised otherwise.

What is no longer promised may still be there: readers cannot rely on it, and nothing is certain to
fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo

from dbt_graft.analysis.checks.contracts import KIND, ContractTable, DataContract
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.quality.times import length, time_of_day
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.analysis.review.promises import added_column, promise_changes
from dbt_graft.lineage.dataset import DatasetId

_V = ReviewVerdict
# Table of a contract -> the datasets that it means: one, or none.
Meant = Mapping[tuple[str, str], Collection[DatasetId]]


def contract_reviews(
    before: Collection[DataContract], after: Collection[DataContract], meant: Meant
) -> tuple[NodeReview, ...]:
    """The contracts that differ.

    Args:
        meant: By the id of the contract and the last name of the table.
    """
    old, new = ({contract.id: contract for contract in contracts} for contracts in (before, after))
    reviews = []
    for key in sorted({*old, *new}):
        first, second = old.get(key), new.get(key)
        contract = second or first
        changes = list(_changes(first, second, meant))
        if contract and changes:
            ordered = sorted(
                set(changes),
                key=lambda change: (-change.verdict, change.datasets, change.column, change.text),
            )
            reviews.append(
                NodeReview(f"contract:{contract.name}", KIND, contract.file, tuple(ordered))
            )
    return tuple(reviews)


def _changes(
    before: DataContract | None, after: DataContract | None, meant: Meant
) -> Iterator[NodeChange]:
    if before and after:
        yield from _tables(before, after, meant)
        shown = [
            (contract.version, contract.owner, contract.text, contract.tags)
            for contract in (before, after)
        ]
        if shown[0] != shown[1]:
            yield NodeChange(_V.METADATA, "its version, owner, purpose or tags")
    elif after:
        yield NodeChange(_V.ADDITIVE, "new contract", None, "", _all_meant(after, meant))
    elif before:
        text = "the contract is removed, or has ended"
        kind = ChangeType.SEMANTICS
        yield NodeChange(_V.BREAKING, text, kind, "", _all_meant(before, meant))


def _all_meant(contract: DataContract, meant: Meant) -> tuple[DatasetId, ...]:
    return tuple(
        sorted({d for table in contract.tables for d in meant.get(_key(contract, table), ())})
    )


def _key(contract: DataContract, table: ContractTable) -> tuple[str, str]:
    return contract.id, table.names[-1]


def _tables(before: DataContract, after: DataContract, meant: Meant) -> Iterator[NodeChange]:
    old, new = ({table.names[-1].casefold(): table for table in c.tables} for c in (before, after))
    for name in sorted({*old, *new}):
        table = new.get(name) or old[name]
        datasets = tuple(sorted(meant.get(_key(after, table), ())))
        if name not in new:
            text = f"no longer promises {table.names[-1]}"
            yield NodeChange(_V.BREAKING, text, ChangeType.SEMANTICS, "", datasets)
        elif name not in old:
            yield NodeChange(_V.ADDITIVE, f"promises {table.names[-1]}, too", None, "", datasets)
        else:
            for change in _table(old[name], new[name]):
                yield replace(change, datasets=datasets)


def _table(before: ContractTable, after: ContractTable) -> Iterator[NodeChange]:
    old, new = ({column.name.casefold(): column for column in t.columns} for t in (before, after))
    for name, column in old.items():
        if name not in new:
            yield NodeChange(_V.BREAKING, "no longer promised", ChangeType.SEMANTICS, name)
        else:
            yield from promise_changes(name, column.promise, new[name].promise, enforced=True)
    for name, column in new.items():
        if name not in old:
            yield added_column(name, column.promise)
    yield from _freshness(before.freshness_slo, after.freshness_slo)
    yield from _deadline(before.deadline, after.deadline)


def _freshness(before: str, after: str) -> Iterator[NodeChange]:
    yield from _promise_changes("freshness", before, after, length(before), length(after))


def _deadline(before: str, after: str) -> Iterator[NodeChange]:
    old, new = (_since_midnight(time_of_day(text)) for text in (before, after))
    yield from _promise_changes("deadline", before, after, old, new)


def _promise_changes(
    name: str, before: str, after: str, old: timedelta | None, new: timedelta | None
) -> Iterator[NodeChange]:
    """A promise of time: a later one breaks it, an earlier one is harmless."""
    if before == after or (old is not None and old == new):
        return
    text = f"{name} {after}, no longer {before}"
    if not before:
        yield NodeChange(_V.ADDITIVE, f"promises a {name}: {after}")
    elif not after:
        text = f"no longer promises a {name}: {before}"
        yield NodeChange(_V.BREAKING, text, ChangeType.FRESHNESS)
    elif old is None or new is None:
        yield NodeChange(_V.UNKNOWN, text, ChangeType.FRESHNESS)
    elif new > old:
        yield NodeChange(_V.BREAKING, text, ChangeType.FRESHNESS)
    else:
        yield NodeChange(_V.ADDITIVE, text)


def _since_midnight(at: tuple[time, tzinfo] | None) -> timedelta | None:
    """The time of day, from midnight in UTC on."""
    if at is None:
        return None
    clock, zone = at
    day = datetime(2024, 1, 1, tzinfo=zone)  # any day: of two times the clocks change alike
    offset = day.utcoffset() or timedelta()
    return timedelta(hours=clock.hour, minutes=clock.minute) - offset
