"""The files of a lineage store, each read to its end."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.clean import StoredSecrets, stored_secrets
from dbt_graft.lineage.errors import GraftError

_RESTORE = (
    "restore the store from a backup (docs/publishing.md); without one, `graft collect --again` "
    "reads what the logs still hold and gives the damaged batches up; until then `graft build` "
    "publishes the rest and ends with 1"
)


def damages(store_path: str) -> Iterator[Finding]:
    """A finding for each damaged file, for secrets, and a note with what was read.

    Raises:
        StoreError: The store cannot be read now, or is of a newer version.
    """
    damaged = store.damages(store_path)
    for faults in damaged.values():
        for fault in faults:
            yield Finding("STORE_DAMAGED", Severity.ERROR, store_path, fault, _RESTORE)
    is_readable = True
    for read in (
        lambda: store.read(store_path, results=True, without=tuple(damaged)),
        lambda: store.addresses(store_path),
        lambda: store.build_history(store_path),
    ):
        try:
            read()
        except GraftError as error:
            is_readable = False
            place = error.place or store_path
            yield Finding("STORE_DAMAGED", Severity.ERROR, place, error.problem, error.remedy)
    if is_readable and (secrets := stored_secrets(store_path, tuple(damaged))):
        remedy = "graft store clean, then graft build --full; and change what they open"
        yield Finding("STORE_SECRETS", Severity.ERROR, store_path, secrets_line(secrets), remedy)
    batches = store.batches(store_path, tuple(damaged))
    files = count(sum(len(batch.files) for batch in batches), "file")
    read_text = f"{count(len(batches), 'batch', 'batches')} with {files} read to their end"
    yield Finding("STORE", Severity.NOTE, store_path, read_text)


def secrets_line(secrets: StoredSecrets) -> str:
    """The parts of a store that hold secrets, counted: no name is repeated."""
    return (
        f"passwords or keys in {count(len(secrets.texts), 'name')} of "
        f"{count(len(secrets.batches), 'batch', 'batches')}, "
        f"{count(len(secrets.addresses), 'address', 'addresses')} of pages, "
        f"{count(len(secrets.files), 'file')} beside them"
    )
