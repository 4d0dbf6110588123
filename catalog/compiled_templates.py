"""Compiled templates, for all builds of this user: compiling them takes longer than filling them.

They lie where Jinja keeps such: in a temporary folder that nobody else can write to, since Python
runs what lies there. A project's folder would not do: it may come from somebody else.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

from jinja2 import BytecodeCache, FileSystemBytecodeCache
from jinja2.bccache import Bucket


def private_folder() -> Path | None:
    """The temporary folder of this user alone, in which Jinja keeps such; None if there is none."""
    try:
        # Where no temporary folder can be written, Python takes that in which it runs.
        if Path(gettempdir()) == Path.cwd():
            return None
        return Path(FileSystemBytecodeCache().directory)
    except (OSError, RuntimeError):
        return None


class CompiledTemplates(FileSystemBytecodeCache):
    """Bytecode by template, which is of the template's text and of what compiles it."""

    def __init__(self, folder: Path, kind: str, maker: bytes) -> None:
        super().__init__(str(folder), pattern=f"graft_{kind}_%s.cache")
        self._maker = maker.hex()

    def get_source_checksum(self, source: str) -> str:
        """The checksum of a template's text, and of what compiles it."""
        return super().get_source_checksum(self._maker + source)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template; without room for it the next build compiles it again, no more."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def compiled_templates(kind: str, maker: bytes) -> BytecodeCache | None:
    """The compiled templates of a kind; None where there is no folder of this user alone.

    Args:
        maker: Differs once another bytecode comes of the same text.
    """
    return CompiledTemplates(folder, kind, maker) if (folder := private_folder()) else None
