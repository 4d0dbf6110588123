"""Errors of a store: what is damaged, what is only out of reach, what is gone, what is too new."""

from __future__ import annotations

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
