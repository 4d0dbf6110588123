"""Variables and `~` in the paths of `graft.yml`."""

from __future__ import annotations

import os
import re
from pathlib import Path

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")


def expand_path(path: str) -> str:
    """A path with its `${NAME}` and `${NAME:-default}` filled in, and a leading `~`.

    As in a shell, an empty variable takes the default.

    Raises:
        ValueError: A variable is not set and has no default.
    """
    text = _VARIABLE.sub(_value, path)
    return str(Path(text).expanduser()) if text.startswith("~") else text


def _value(match: re.Match[str]) -> str:
    name, default = match.groups()
    value = os.environ.get(name) or default
    if not value:
        raise ValueError(f"set the variable {name}, or write a default: ${{{name}:-default}}")
    return value
