"""Read a damaged lineage store: the rest of it is published, and what is damaged is named.

Only commands that publish do so. Collecting and checks need all of it: a position that is lost
would let logs be read twice, and lineage that is lost would look like a change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from dbt_graft.collectors.store.batches import damages
from dbt_graft.collectors.store.errors import NewerStoreError, StoreError, UnreadableStoreError
from dbt_graft.lineage.records import Reject

T = TypeVar("T")
_REASON = "damaged in the lineage store; what only this file had is not shown"


def read_rest(
    store_folder: str, read: Callable[[Collection[str]], T]
) -> tuple[T, tuple[Reject, ...]]:
    """The answer of a store without its damaged batches, and a reject for each of their files.

    Args:
        read: Reads the store without some batches.

    Raises:
        StoreError: The store cannot be read now, or is of a newer version.
    """
    try:
        return read(()), ()
    except StoreError as error:
        if not is_damage(error):
            raise
        damaged = damages(store_folder)
        if not damaged:
            raise
        faults = (fault for batch_faults in damaged.values() for fault in batch_faults)
        rejects = (Reject(fault.removeprefix(f"{store_folder}/"), "", _REASON) for fault in faults)
        return read(tuple(damaged)), tuple(rejects)


def is_damage(error: StoreError) -> bool:
    """Whether an error is about a damaged store, and not one out of reach or too new."""
    return not isinstance(error, NewerStoreError | UnreadableStoreError)


def damaged_files(rejects: Iterable[Reject]) -> tuple[str, ...]:
    """Of rejects those of `read_rest`: the files, each with what is wrong with it."""
    return tuple(reject.origin for reject in rejects if reject.reason == _REASON)
