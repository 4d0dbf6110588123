"""The key of the index files: all that a lineage is made of, as one text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from glob import has_magic
from hashlib import blake2b
from importlib import metadata
from pathlib import Path

from dbt_graft import __version__, analysis, collectors, graft, injector, lineage
from dbt_graft.collectors.store.state import store_state
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
        f"{__version__} sqlglot {metadata.version('sqlglot')}",
        *_code(),
        f"{config.folder} {store_path} {target} {config.project_dir}",
        repr(config),
        store_state(store_path),
        *_stamps(target / name for name in _ARTIFACTS),
        *_stamps(sorted((target / "index").glob("*.parquet"))),
        *_connection(config),
        *TaskCodes(config).digests(),
        *(
            line
            for entry in _written_paths(config)
            for line in _stamps(_named_files(config.path(entry)))
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


def _named_files(path: str) -> Iterable[Path]:
    """The files that a path, a folder or a pattern means."""
    named_path = Path(path)
    if has_magic(path):
        return sorted(Path(named_path.anchor).glob(str(named_path.relative_to(named_path.anchor))))
    return sorted(named_path.rglob("*.y*ml")) if named_path.is_dir() else [named_path]


def _stamps(files: Iterable[Path | os.DirEntry[str]]) -> Iterator[str]:
    """Files with their sizes and times; one that is replaced by an equal one is another."""
    for file in files:
        name = os.fspath(file)
        try:
            status = file.stat()
            yield f"{name} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
        except OSError:
            yield f"{name} is missing"


def _connection(config: Config) -> Iterator[str]:
    """The part that is used of dbt's profile, and nothing else: it may hold a password."""
    connection = read_connection(config.project_dir, os.environ)
    adapter = connection.get("type").lower()
    yield f"{adapter} {platform(adapter, connection).namespace} {connection.get('external_root')}"


@cache
def _code() -> tuple[str, ...]:
    """The modules as they are when the process asks first."""
    rooms = (lineage, analysis, collectors, injector, graft)
    return tuple(
        _stamps(module for room in rooms for folder in room.__path__ for module in _modules(folder))
    )


def _modules(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _modules(entry.path)
            elif entry.name.endswith(".py"):
                yield entry
