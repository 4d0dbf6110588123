"""Archives that tests make, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(file: Path, folder: Path) -> None:
    """Unpack an archive of tar; Python before 3.11.4, as Debian 12 has it, knows no filters."""
    with tarfile.open(file) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)  # noqa: S202 - it is our own
