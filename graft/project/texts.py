"""Checked texts of graft.yml: paths, patterns, addresses, names of variables."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dbt_graft.lineage.redaction import has_secret
from dbt_graft.lineage.section import Checked, Text, written_as

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


def _pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


def _task_pattern(pattern: str) -> str:
    if "task" not in re.compile(pattern).groupindex:
        raise ValueError("must name the task: (?P<task>…)")
    return pattern


def _timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone: write one such as Europe/Berlin") from error
    return name


def _path(path: str) -> str:
    if not path.isprintable():
        raise ValueError("write a path without control characters")
    if "{{" in path:
        raise ValueError("this file has no Jinja: write ${NAME} for an environment variable")
    expand_path(path)
    return path


def _log_path(path: str) -> str:
    """A path or URL of logs: the store keeps it with what it has of them."""
    address = expand_path(path)
    if "://" in address:
        parts = urlsplit(address)
        user, at, _ = parts.netloc.rpartition("@")
        if parts.password or has_secret(address.replace(f"{user}{at}", "", 1)):
            raise ValueError(
                "write no password, token or key into a URL: see docs/configuration.md for "
                "credentials"
            )
    return path


def _folder(path: str) -> str:
    if "://" in expand_path(path):
        raise ValueError("write a folder of this machine, and copy it from there")
    return path


PathText = Annotated[Text, Checked(_path)]
LogPath = Annotated[PathText, Checked(_log_path)]
FolderPath = Annotated[PathText, Checked(_folder)]
Pattern = Annotated[str, Checked(_pattern)]
TaskPattern = Annotated[Pattern, Checked(_task_pattern)]
Timezone = Annotated[str, Checked(_timezone)]
Variable = Annotated[str, written_as(r"env:\S+", "write env:NAME: this file holds no secrets")]
SiteUrl = Annotated[
    str,
    written_as(
        r"(https?://[^\s/?#@\"'<>\\`]+(/[^\s?#\"'<>\\`]*)?)?",
        "write the address of the published site: http(s)://<host>/<path>/",
    ),
]
