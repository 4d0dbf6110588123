"""Write and remove files of a store, so that nothing is ever there in part."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.schema import batch
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.tables import RECORD, TABLES, Batch, BatchFile


def put_rows(snapshot: OpenStore, path: str, rows: pa.Table) -> None:
    """Write a file under another name first, so that it is never there in part."""
    folder, _, name = f"{snapshot.root}/{path}".rpartition("/")
    snapshot.files.create_dir(folder)
    beside = f"{folder}/.{name}.new"
    pq.write_table(rows, beside, filesystem=snapshot.files)
    snapshot.files.move(beside, f"{folder}/{name}")


def put_record(snapshot: OpenStore, batch_id: str, record: Batch) -> None:
    """Write the record of a batch, which makes it visible."""
    rows = pa.Table.from_batches([batch(Batch, [record])])
    put_rows(snapshot, f"batches/batch_id={batch_id}/{RECORD}", rows)


def batch_files(snapshot: OpenStore, batch_id: str) -> Iterable[BatchFile]:
    """The files that lie in the folders of a batch: origins, and what the snapshot shows of it."""
    part = f"/batch_id={batch_id}/"
    tables = {path.partition("/")[0] for path in snapshot.times if part in path}
    for table in sorted(tables & TABLES.keys() - {"batches"} | {"origins"}):
        folder = f"{snapshot.root}/{table}/batch_id={batch_id}"
        selector = fs.FileSelector(folder, allow_not_found=True)
        for info in snapshot.files.get_file_info(selector):
            if info.base_name.endswith(".parquet") and not info.base_name.startswith((".", "_")):
                rows = pq.read_metadata(info.path, filesystem=snapshot.files).num_rows
                path = f"{table}/batch_id={batch_id}/{info.base_name}"
                yield BatchFile(table, path, rows, info.size)


def delete_batch(snapshot: OpenStore, batch_id: str, files: Iterable[BatchFile]) -> bool:
    """Delete the folders of a batch, its record first; whether all of it is gone.

    Leftovers, as those of another account, are those of a batch without a record.
    """
    folders = {file.path.rpartition("/")[0]: None for file in files}
    for folder in (f"batches/batch_id={batch_id}", *folders):
        try:
            snapshot.files.delete_dir(f"{snapshot.root}/{folder}")
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True
