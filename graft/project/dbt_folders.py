"""The folders of a dbt project as dbt finds them: its own file, and the variables `DBT_…`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from dbt_graft.injector.platform import load_yaml
from dbt_graft.lineage.errors import GraftError

PROJECT_FILE = "dbt_project.yml"
# Folders of packages, and those that a build writes.
SKIPPED = frozenset(
    {"dbt_packages", "dbt_modules", "node_modules", "site-packages", "target", "venv", "build"}
)
# The one kind of Jinja that paths in a dbt_project.yml use.
_ENV_VAR = re.compile(
    r"""\{\{\s*env_var\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]*)['"]\s*)?\)\s*\}\}"""
)


def files_below(folder: Path, name: str) -> list[Path]:
    """The files of a name that lie one or two folders further down, in no package."""
    return [
        path
        for pattern in ("*", "*/*")
        for path in sorted(folder.glob(f"{pattern}/{name}"))
        if is_own(path, folder)
    ]


def is_own(path: Path, folder: Path) -> bool:
    """Whether a file below a folder is of who made that, in no package or environment."""
    parts = path.relative_to(folder).parts
    return not any(part in SKIPPED or part.startswith(".") for part in parts)


def project_dir(written: str | None) -> str:
    """The project's folder: as graft.yml writes it, else `DBT_PROJECT_DIR`, else beside it."""
    variable = os.environ.get("DBT_PROJECT_DIR")
    return written or (str(Path(variable).absolute()) if variable else ".")


def target_dir(project: Path) -> Path:
    """The target folder of a project: `DBT_TARGET_PATH`, else its `target-path`, else `target`."""
    path = os.environ.get("DBT_TARGET_PATH") or ""
    if not path and (project / PROJECT_FILE).is_file():
        try:
            path = target_path(read_project(project / PROJECT_FILE))
        except GraftError:
            path = ""  # the artifacts need no project file; `graft doctor` reports it
    return project / (path or "target")


def environment() -> dict[str, str]:
    """dbt's variables with paths that hold wherever dbt is started."""
    profiles = os.environ.get("DBT_PROFILES_DIR")
    return {"DBT_PROFILES_DIR": str(Path(profiles).expanduser().absolute())} if profiles else {}


def target_path(settings: dict[str, Any]) -> str:
    """The `target-path` of a project's settings; empty if it has none."""
    path = settings.get("target-path")
    return _ENV_VAR.sub(_value, path) if isinstance(path, str) else ""


def _value(match: re.Match[str]) -> str:
    return os.environ.get(match[1], match[2] or "")


def read_project(path: Path) -> dict[str, Any]:
    """Read a `dbt_project.yml`.

    Raises:
        GraftError: It is missing or no YAML, or holds no keys.
    """
    try:
        settings = load_yaml(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise GraftError("is not valid YAML", place=place, remedy="run `dbt parse`") from error
    except UnicodeDecodeError as error:
        raise GraftError("is not UTF-8", place=str(path)) from error
    if not isinstance(settings, dict):
        raise GraftError(
            "must hold keys such as `name:`", place=str(path), remedy="run `dbt parse`"
        )
    return settings
