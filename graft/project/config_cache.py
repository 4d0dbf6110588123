"""The keys of a `graft.yml` as they were checked once, in a file beside the artifacts.

Pydantic, YAML and their checks take longer than all that most questions do. The file counts only
for the same text, variables and code. Who writes it sees to it that it has no secret.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbt_graft.graft.project.section_file import RememberedValue, value_key
from dbt_graft.graft.project.texts import expand_path
from dbt_graft.lineage.frozen import frozen

CONFIG_FILE = "config_cache.bin"
DEFAULT_ARTIFACTS = ".graft/artifacts"
# As most people write it; the place is only known once a file is read.
_ARTIFACTS = re.compile(r"^artifacts:[ ]+([\w./~${}:-]+)[ ]*(?:#.*)?\r?$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{(\w+)")


@frozen
class ConfigCache:
    """The file with the keys of one text, in the folder of artifacts that it seems to name."""

    path: Path
    text: str
    artifacts: Path

    def _remembered(self) -> RememberedValue:
        names = sorted({*_VARIABLE.findall(self.text)})
        variables = (f"{name}={os.environ.get(name)}" for name in names)
        return RememberedValue(self.artifacts, CONFIG_FILE, value_key((*variables, self.text)))

    def read(self) -> Any:
        """The keys; None if they are not kept."""
        return self._remembered().read()

    def write(self, keys: object, artifacts: str) -> None:
        """Keep the keys, where there is a folder of artifacts already.

        Args:
            artifacts: The folder that they name.
        """
        if self.artifacts == Path(artifacts):
            with suppress(OSError):
                if self.path.read_text(encoding="utf-8") == self.text:
                    self._remembered().write(keys)


def config_cache(path: Path) -> ConfigCache | None:
    """The cache of a file; None where it cannot be read, or names its artifacts in a rare way."""
    try:
        text = path.read_text(encoding="utf-8")
        match = _ARTIFACTS.search(text)
        written = expand_path(match[1]) if match else DEFAULT_ARTIFACTS
        return ConfigCache(path, text, (path.resolve().parent / written).resolve())
    except (OSError, ValueError):
        return None
