"""The keys of a `graft.yml` as they were checked once, in a file beside the artifacts.

Pydantic, YAML and their checks take longer than all that most questions do. The file counts only
for the same text, variables and code. Who writes it sees to it that it has no secret.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dbt_graft.graft.project.code_stamps import code_stamps
from dbt_graft.graft.project.output_folder import MARKER
from dbt_graft.graft.project.own_values import dump_values, load_values
from dbt_graft.graft.project.section_file import read_sections, write_sections
from dbt_graft.graft.project.texts import expand_path
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

CONFIG_FILE = "config_cache.bin"
DEFAULT_ARTIFACTS = ".graft/artifacts"
_SECTION = "config"
# As most people write it; the place is only known once a file is read.
_ARTIFACTS = re.compile(r"^artifacts:[ ]+([\w./~${}:-]+)[ ]*(?:#.*)?\r?$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{(\w+)")


@frozen
class ConfigCache:
    """The file with the keys of one text, in the folder of artifacts that it seems to name."""

    path: Path
    text: str
    artifacts: Path

    @property
    def _key(self) -> str:
        digest = blake2b(digest_size=16)
        names = sorted({*_VARIABLE.findall(self.text)})
        for part in (*code_stamps(), *(f"{name}={os.environ.get(name)}" for name in names)):
            digest.update(f"{part}\n".encode(errors="surrogateescape"))
        digest.update(self.text.encode())
        return f"dbt-graft config {digest.hexdigest()}"

    def read(self) -> Any:
        """The keys; None if they are not kept."""
        sections = read_sections(self.artifacts / CONFIG_FILE, self._key)
        return load_values(sections[_SECTION]) if sections else None

    def write(self, keys: object, artifacts: str) -> None:
        """Keep the keys, where there is a folder of artifacts already.

        Args:
            artifacts: The folder that they name.
        """
        is_ours = self.artifacts == Path(artifacts) and (self.artifacts / MARKER).is_file()
        if not is_ours:
            return
        # Where it cannot be written, the next command checks them again, no more.
        with suppress(OSError, GraftError):
            if self.path.read_text(encoding="utf-8") == self.text:
                values = {_SECTION: dump_values(keys)}
                write_sections(self.artifacts / CONFIG_FILE, self._key, values)


def config_cache(path: Path) -> ConfigCache | None:
    """The cache of a file; None where it cannot be read, or names its artifacts in a rare way."""
    try:
        text = path.read_text(encoding="utf-8")
        match = _ARTIFACTS.search(text)
        written = expand_path(match[1]) if match else DEFAULT_ARTIFACTS
        return ConfigCache(path, text, (path.resolve().parent / written).resolve())
    except (OSError, ValueError):
        return None
