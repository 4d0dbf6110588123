"""A digest of what Python files do: comments, layout and docstrings do not count."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def syntax_digest(files: Mapping[str, bytes | None]) -> str:
    """The digest of files by their paths; what is no valid Python counts byte by byte."""
    digest = hashlib.sha256()
    for file, content in sorted(files.items()):
        if content is not None:
            digest.update(f"{file}\n".encode(errors="surrogateescape"))
            digest.update(_syntax(content) if file.endswith(".py") else content)
    return digest.hexdigest()[:32]


def _syntax(content: bytes) -> bytes:
    try:
        tree = ast.parse(content)
        for node in ast.walk(tree):
            if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        return ast.dump(tree).encode(errors="surrogateescape")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return content
