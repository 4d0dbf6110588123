"""Errors of a store: what is damaged, what is only out of reach, what is gone, what is too new."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.errors import GraftError

NEWER = "install the version of dbt-graft that wrote it, or a later one"
RESTORE = (
    "restore the store from a backup; without one, `graft collect --again` reads what the logs "
    "still hold"
)


class StoreError(GraftError):
    """The store is damaged, incomplete, of a newer version of graft, or cannot be read now."""


class UnreadableStoreError(StoreError):
    """A store that may be whole, but is out of reach: its server, or the rights of its files."""


class NewerStoreError(StoreError):
    """A store that a newer version of dbt-graft wrote."""


class MissingFileError(StoreError):
    """A file that a batch lists is not there; compaction may have deleted it meanwhile."""


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Errors of pyarrow about a missing or damaged file, as errors with its place."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError("is missing", place=path, remedy=RESTORE) from error
    except pa.ArrowException as error:
        raise StoreError("is no complete Parquet file", place=path, remedy=RESTORE) from error
    except OSError as error:
        raise StoreError("is damaged", place=path, remedy=RESTORE) from error


def unreadable_error(path: str, error: OSError) -> UnreadableStoreError:
    """The error for a file or folder that the system or its server does not let us read."""
    return UnreadableStoreError(
        f"cannot be read: {system_reason(error)}",
        place=path,
        remedy="let `store` in graft.yml name a folder or bucket that this account can read",
    )
