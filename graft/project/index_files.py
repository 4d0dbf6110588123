"""The index files of a project, beside its artifacts: what a question need not build again.

A file counts only if its key fits: nothing that it is made of has changed. A file that is damaged,
half written or of another version counts as none, and is made again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.state import store_state
from dbt_graft.graft.project.code_stamps import code_stamps, named_files, stamps
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dbt_folders import PROJECT_FILE
from dbt_graft.graft.project.outputs import check_outputs, output_of
from dbt_graft.graft.project.section_file import has_key, read_sections, write_sections
from dbt_graft.graft.project.task_codes import TaskCodes
from dbt_graft.injector.platform import platform, read_connection
from dbt_graft.lineage.errors import GraftError

IMPACT_FILE, LINEAGE_FILE = "impact_index.bin", "lineage_index.bin"
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
        *stamps([config.project_dir / PROJECT_FILE, *(target / name for name in _ARTIFACTS)]),
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


_log = logging.getLogger(__name__)


class IndexFiles:
    """The files of a project as it is now: made before the lineage is read.

    Raises:
        StoreError: A store in a bucket is damaged or cannot be read.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._output = output_of(config, "artifacts")
        self._key = _first_line(config)

    def is_of_now(self, name: str) -> bool:
        """Whether a file is there, and nothing has changed since it was written."""
        return has_key(self._output.path / name, self._key)

    def read(self, name: str) -> dict[str, memoryview] | None:
        """The sections of a file; None if there is none of now."""
        return read_sections(self._output.path / name, self._key)

    def write(self, files: Mapping[str, Mapping[str, bytes]]) -> bool:
        """Write files, unless the project has changed; whether they are written.

        Args:
            files: Names -> sections.
        """
        try:
            # A collect may have come between.
            if _first_line(self.config) != self._key:
                return False
            check_outputs(self.config, self._output.key)
            self._output.claim()
            for name, sections in files.items():
                write_sections(self._output.path / name, self._key, sections)
        except GraftError as error:
            # The next answer takes as long, no more.
            _log.debug("an index is not kept: %s", error)
            return False
        return True


def _first_line(config: Config) -> str:
    return f"dbt-graft index {index_key(config)}"


def outdated_files(config: Config) -> IndexFiles | None:
    """The files, for who is about to read the lineage; None where there is nothing to write."""
    try:
        files = IndexFiles(config)
    except StoreError:
        return None  # What is left of a damaged store is not all.
    return None if all(map(files.is_of_now, (IMPACT_FILE, LINEAGE_FILE))) else files
