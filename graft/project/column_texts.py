"""The column edges of dbt's models as the last build wrote them, in a file.

Most models are as they were: their edges need not be made to be written again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from dbt_graft.collectors.dbt.column_cache import FOLLOWING
from dbt_graft.collectors.parsed_file import read_content, write_content

_WRITING = (*FOLLOWING, "dbt_graft.injector")


class ColumnTexts:
    """The JSON of a file, each text by a digest of all that it is made of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._used: dict[str, msgspec.Raw] = {}

    @cached_property
    def _texts(self) -> Mapping[str, msgspec.Raw]:
        content = read_content(self._path, *_WRITING)
        return msgspec.json.decode(content or b"{}", type=dict[str, msgspec.Raw])

    def __call__(self, digest: str, make: Callable[[], bytes]) -> msgspec.Raw:
        """The text of a digest: the known one, else what is made now."""
        text = self._texts.get(digest)
        if text is None:
            text = msgspec.Raw(make())
        self._used[digest] = text
        return text

    def write(self) -> None:
        """Write what this build used, and nothing else: the file does not grow with history."""
        if self._used != self._texts:
            write_content(self._path, msgspec.json.encode(self._used), *_WRITING)
