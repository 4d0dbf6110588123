"""Fixtures of the tests of the .xel reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel, xel_splits


@pytest.fixture(scope="session")
def read_file() -> Callable[..., Chunk]:
    """Reads a file in splits of a size, as one chunk."""

    def read_parts(path: Path, wanted: EventFilter | None = None, size: int = 32 << 20) -> Chunk:
        (log,) = log_files(str(path), path.name)
        joined = Chunk()
        for part in xel_splits(log, size):
            for chunk in read_xel(part, wanted or EventFilter()):
                joined = Chunk(
                    joined.events + chunk.events,
                    joined.seen + chunk.seen,
                    joined.damages + chunk.damages,
                )
        return joined

    return read_parts


@pytest.fixture(scope="session")
def read_bytes(
    tmp_path_factory: pytest.TempPathFactory, read_file: Callable[..., Chunk]
) -> Callable[..., Chunk]:
    """As `read_file`, for a file of these bytes."""
    path = tmp_path_factory.mktemp("xel") / "a.xel"

    def read_from(data: bytes, wanted: EventFilter | None = None, size: int = 32 << 20) -> Chunk:
        path.write_bytes(data)
        return read_file(path, wanted, size)

    return read_from
