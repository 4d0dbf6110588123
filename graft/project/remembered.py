"""A value that was made of files once, in a file beside the artifacts: read again where it fits."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dbt_graft.graft.project.code_stamps import code_stamps
from dbt_graft.graft.project.output_folder import MARKER
from dbt_graft.graft.project.section_file import read_sections, write_sections
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.own_values import dump_values, load_values

_SECTION = "value"


@frozen
class RememberedValue:
    """The file of a value of our own types, which has no secret.

    Attributes:
        folder: That of the artifacts.
        key: Of all that the value is made of.
    """

    folder: Path
    name: str
    key: str

    def read(self) -> Any:
        """The value; None if it is not kept, or of another key."""
        sections = read_sections(self.folder / self.name, self.key)
        return load_values(sections[_SECTION]) if sections else None

    def write(self, value: object) -> None:
        """Keep a value, where there is a folder of artifacts already."""
        # Where it cannot be written, the next command makes it again, no more.
        with suppress(OSError, GraftError):
            if (self.folder / MARKER).is_file():
                sections = {_SECTION: dump_values(value)}
                write_sections(self.folder / self.name, self.key, sections)


def value_key(parts: Iterable[str]) -> str:
    """The key of a value that our code makes of these."""
    digest = blake2b(digest_size=16)
    for part in (*code_stamps(), *parts):
        digest.update(f"{part}\n".encode(errors="surrogateescape"))
    return f"dbt-graft value {digest.hexdigest()}"
