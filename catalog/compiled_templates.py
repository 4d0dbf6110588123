"""Compiled templates of the theme, for all sites that a process builds.

MkDocs makes an environment of Jinja for each build; to compile the theme's templates takes longer
than to fill them.
"""

from __future__ import annotations

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from mkdocs.plugins import BasePlugin


class CompiledTemplates(BytecodeCache):
    """Bytecode by template; Jinja compares it with the checksum of the template's text."""

    def __init__(self) -> None:
        self._bytecodes: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bytecode := self._bytecodes.get(bucket.key):
            bucket.bytecode_from_string(bytecode)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._bytecodes[bucket.key] = bucket.bytecode_to_string()


_COMPILED = CompiledTemplates()


class CompiledTemplatesPlugin(BasePlugin):  # type: ignore[misc]
    """Gives MkDocs' environment what earlier builds compiled."""

    def on_env(self, env: Environment, **_: object) -> Environment:
        env.bytecode_cache = _COMPILED
        return env
