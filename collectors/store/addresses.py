"""The addresses that were ever published, in one file of the store.

They are no records of logs: no batch has them, and each build replaces the file.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import batch, record
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.redaction import redact_name, redact_text

_FILE = "addresses.parquet"


def addresses(store: str) -> tuple[Address, ...]:
    """The addresses, sorted, but for those that hold a secret; none before the first build.

    Raises:
        StoreError: The file is damaged.
    """
    return tuple(address for address in stored_addresses(store) if not has_secret_title(address))


def has_secret_title(address: Address) -> bool:
    """Whether the heading of a page held a secret, and with it probably its address."""
    title = address.title
    is_name = address.path.startswith("datasets/")
    return (redact_name(title) if is_name else redact_text(title)) != title


def stored_addresses(store: str) -> tuple[Address, ...]:
    """All addresses as they are stored; raises as `addresses`."""
    files, root = filesystem(store)
    path = f"{root}/{_FILE}"
    if files.get_file_info(path).type is fs.FileType.NotFound:
        return ()
    try:
        rows = pq.ParquetFile(path, filesystem=files).read().to_pylist()
        return tuple(record(Address, row) for row in rows)
    except (OSError, ValueError, TypeError, pa.ArrowException) as error:
        raise StoreError(
            "the addresses of the published pages cannot be read",
            place=f"{store}/{_FILE}",
            remedy="restore the file from a backup; without it, links to what is gone break",
        ) from error


def write_addresses(store: str, new_addresses: Iterable[Address]) -> None:
    """Replace the addresses."""
    files, root = filesystem(store)
    files.create_dir(root)
    beside = f"{root}/.{_FILE}.new"
    pq.write_table(pa.Table.from_batches([batch(Address, new_addresses)]), beside, filesystem=files)
    files.move(beside, f"{root}/{_FILE}")
