"""Secrets that a store holds from before names were cleaned: count them, and take them out.

Addresses go first, for they are known by the names in the batches. What is killed in between is
done by the same command later.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from dataclasses import field, replace
from datetime import timedelta
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from dbt_graft.collectors.store.addresses import has_secret_title, stored_addresses, write_addresses
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store
from dbt_graft.collectors.store.compaction import compact, rewrite_batches
from dbt_graft.collectors.store.fold.files import remove_folds
from dbt_graft.collectors.store.lock import compacting
from dbt_graft.collectors.store.merge import file_chunks
from dbt_graft.collectors.store.secrets import secret_texts
from dbt_graft.collectors.store.taints import TAINTS
from dbt_graft.collectors.store.upgrade import COPIES
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.redaction import redact_json
from dbt_graft.lineage.urls import name_path, owner_path, tag_path, task_path

_BUILDS = "builds"


@frozen
class StoredSecrets:
    """The parts of a store that hold secrets.

    Attributes:
        texts: Names and other texts of records, each once.
        batches: The ids of the batches with them, those that count no more too.
        addresses: Addresses of pages that are given up.
        files: Files with changes of builds, and with taints.
    """

    texts: frozenset[str] = field(default=frozenset(), repr=False)
    batches: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = field(default=(), repr=False)
    files: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.batches or self.addresses or self.files)

    def to_json(self) -> dict[str, int]:
        """The counts, without what they count."""
        return {
            "texts": len(self.texts),
            "batches": len(self.batches),
            "addresses": len(self.addresses),
            "files": len(self.files),
        }


def stored_secrets(store: str, without: Collection[str] = ()) -> StoredSecrets:
    """The secrets in a store; every file is read.

    Args:
        without: Damaged batches to leave out.

    Raises:
        StoreError: It is damaged.
    """
    snapshot = open_store(store, without)
    texts: set[str] = set()
    paths: set[str] = set()
    batches = []
    for batch in (*snapshot.batches, *snapshot.superseded):
        batch_texts, batch_paths = _secrets(snapshot, batch)
        texts |= batch_texts
        paths |= batch_paths
        if batch_texts:
            batches.append(batch.batch_id)
    given_up = [
        address
        for address in stored_addresses(store)
        if address.path in paths or has_secret_title(address)
    ]
    files = [path for path, before, after in _documents(snapshot) if after != before]
    return StoredSecrets(frozenset(texts), tuple(batches), tuple(given_up), tuple(files))


def clean_store(store: str) -> StoredSecrets:
    """Take the secrets out of a store; returns what held them.

    Batches with them are written again and deleted, folds are made again by the next collect,
    copies of earlier formats go. An address with a secret is given up: no page leads on from it.

    Raises:
        StoreError: It is damaged.
    """
    secrets = stored_secrets(store)
    if not secrets:
        return secrets
    _give_up(store, secrets.addresses)
    with compacting(store, wait=True) as hold:
        snapshot = open_store(store)
        for path, _, after in _documents(snapshot):
            if path in secrets.files:
                _write_document(snapshot, path, after)
        remove_folds(snapshot)
        snapshot.files.delete_dir_contents(f"{snapshot.root}/{COPIES}", missing_dir_ok=True)
        rewrite_batches(snapshot, _batches_with_secrets, hold=hold)
    compact(store, timedelta(seconds=-1))
    return secrets


def _batches_with_secrets(snapshot: OpenStore) -> list[StoredBatch]:
    return [batch for batch in snapshot.batches if _secrets(snapshot, batch)[0]]


def _secrets(snapshot: OpenStore, batch: StoredBatch) -> tuple[set[str], set[str]]:
    """The texts with secrets in a batch, and the addresses that pages of these names had."""
    texts: set[str] = set()
    paths: set[str] = set()
    for file in batch.files:
        for rows in file_chunks(snapshot, batch, file):
            secrets = {
                text for name in rows.column_names for text in secret_texts(name, rows[name])
            }
            texts |= secrets
            if secrets:
                paths |= _paths(rows, secrets)
    for text in texts:
        paths |= {task_path(text), tag_path(text), owner_path(text)}
    return texts, paths


def _paths(rows: pa.Table, texts: set[str]) -> set[str]:
    """The addresses of datasets in rows whose namespace or name holds a secret."""
    names = set(_dataset_names(rows))
    dirty = [pair for pair in names if not texts.isdisjoint(pair)]
    return {
        name_path(namespace.casefold(), spelling)
        for namespace, name in dirty
        for spelling in (name, name.casefold())
    }


def _dataset_names(rows: pa.Table) -> Iterator[tuple[str, str]]:
    for column in rows.column_names:
        if column.endswith("namespace"):
            name = f"{column.removesuffix('namespace')}name"
            yield from zip(rows[column].to_pylist(), rows[name].to_pylist(), strict=True)
        elif column == "symlinks":
            links: list[Any] = pc.list_flatten(rows[column]).to_pylist()
            yield from ((link["namespace"], link["name"]) for link in links)


def _give_up(store: str, given_up: Collection[Address]) -> None:
    if given_up:
        paths = {address.path for address in given_up}
        others = [address for address in stored_addresses(store) if address.path not in paths]
        write_addresses(
            store,
            (
                replace(address, moved_to="") if address.moved_to in paths else address
                for address in others
            ),
        )


def _documents(snapshot: OpenStore) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """The JSON files beside the batches: path, content line by line, and that without secrets."""
    for folder in (_BUILDS, TAINTS):
        selector = fs.FileSelector(f"{snapshot.root}/{folder}", allow_not_found=True)
        for info in snapshot.files.get_file_info(selector):
            if info.type is fs.FileType.File and not info.base_name.startswith("."):
                content = _read_document(snapshot, info)
                yield f"{folder}/{info.base_name}", content, redact_json(content)


def _is_compressed(path: str) -> bool:
    return path.endswith(".zst")


def _read_document(snapshot: OpenStore, info: fs.FileInfo) -> list[Any]:
    compression = "zstd" if _is_compressed(info.path) else None
    with snapshot.files.open_input_stream(info.path, compression=compression) as source:
        content = source.read()
    if not _is_compressed(info.path):
        return [orjson.loads(content)]
    return [orjson.loads(line) for line in io.BytesIO(content) if line.strip()]


def _write_document(snapshot: OpenStore, path: str, content: list[Any]) -> None:
    folder, _, name = path.rpartition("/")
    beside = f"{snapshot.root}/{folder}/.clean-{name}"
    compression = "zstd" if _is_compressed(path) else None
    with snapshot.files.open_output_stream(beside, compression=compression) as out:
        out.write(b"\n".join([*map(orjson.dumps, content), b""]))
    snapshot.files.move(beside, f"{snapshot.root}/{path}")
