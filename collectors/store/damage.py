"""Errors of reading a file, as errors of the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from dbt_graft.collectors.store.errors import (
    RESTORE,
    MissingFileError,
    StoreError,
    UnreadableStoreError,
)
from dbt_graft.collectors.system_reason import system_reason


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Errors of pyarrow about a missing or damaged file, as errors with its place."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError("is missing", place=path, remedy=RESTORE) from error
    except pa.ArrowException as error:
        raise StoreError("is not a complete Parquet file", place=path, remedy=RESTORE) from error
    except OSError as error:
        raise StoreError("is damaged", place=path, remedy=RESTORE) from error


def unreadable_error(path: str, error: OSError) -> UnreadableStoreError:
    """The error for a file or folder that the system or its server does not let us read."""
    if "://" in path:
        remedy = "check the network, the bucket of `store` in graft.yml, and this account's rights"
    else:
        remedy = "let `store` in graft.yml name a folder that this account can read"
    return UnreadableStoreError(
        f"cannot be read: {system_reason(error)}", place=path, remedy=remedy
    )
