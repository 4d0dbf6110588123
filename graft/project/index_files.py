"""The index files of a project, beside its artifacts: what a question need not build again.

A file counts only if its key fits: nothing that it is made of has changed. A file that is damaged,
half written or of another version counts as none, and is made again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.index_key import index_key
from dbt_graft.graft.project.outputs import check_outputs, output_of
from dbt_graft.graft.project.section_file import has_key, read_sections, write_sections
from dbt_graft.lineage.errors import GraftError

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
