"""The key of the index files: all that a lineage is made of, as one text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from dbt_graft.collectors.store.state import store_state
from dbt_graft.graft.project.code_stamps import code_stamps, named_files, stamps
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.task_codes import TaskCodes
from dbt_graft.injector.platform import platform, read_connection

_ARTIFACTS = ("manifest.json", "catalog.json", "sources.json")


def index_key(config: Config) -> str:
    """A digest of the store's state, dbt's artifacts and connection, settings, files and the code.

    Raises:
        StoreError: The store is damaged or cannot be read.
    """
    store_path, target = config.path(config.store), config.target_dir
    parts = (
        *stamps([Path(spec.origin)] if (spec := find_spec("sqlglot")) and spec.origin else ()),
        *code_stamps(),
        f"{config.folder} {store_path} {target} {config.project_dir}",
        repr(config),
        store_state(store_path),
        *stamps(target / name for name in _ARTIFACTS),
        *stamps(sorted((target / "index").glob("*.parquet"))),
        *_connection(config),
        *TaskCodes(config).digests(),
        *(
            line
            for entry in _written_paths(config)
            for line in stamps(named_files(config.path(entry)))
        ),
    )
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(f"{part}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _written_paths(config: Config) -> Iterator[str]:
    """The entries of graft.yml that name files which people write: declared lineage, contracts."""
    yield from (entry.declared.path for entry in config.collect if entry.declared)
    yield from config.contracts


def _connection(config: Config) -> Iterator[str]:
    """The part that is used of dbt's profile, and nothing else: it may hold a password."""
    connection = read_connection(config.project_dir, os.environ)
    adapter = connection.get("type").lower()
    yield f"{adapter} {platform(adapter, connection).namespace} {connection.get('external_root')}"
