"""The connection of a dbt project, as its profile has it.

dbt looks for `profiles.yml` in DBT_PROFILES_DIR, in the project and in `~/.dbt`, and takes the
target of DBT_TARGET or the profile's own: https://docs.getdbt.com/docs/core/connection-profiles.
Only the settings that are asked for are rendered: a password is never looked at.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from dbt_graft.lineage.errors import exception_summary

_log = logging.getLogger(__name__)

# dbt hides the values of these variables everywhere.
_SECRET = "DBT_ENV_SECRET"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of one target of a profile; none if dbt's profile cannot be read here."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)

    def get(self, key: str, default: str = "") -> str:
        """Return a setting with its `env_var` filled in; the default where that cannot be done."""
        value = self.settings.get(key)
        if value is None or isinstance(value, (dict, list)):
            return default
        return render_text(str(value), self.environ) or default


def read_connection(project: Path, environ: Mapping[str, str]) -> Connection:
    """Return the connection that dbt uses for a project unless it is called with other options."""
    name = environ.get("DBT_PROFILE") or _mapping(project / "dbt_project.yml").get("profile")
    folders = [project, Path(environ.get("HOME") or "~").expanduser() / ".dbt"]
    if profiles_dir := environ.get("DBT_PROFILES_DIR"):
        folders.insert(0, Path(profiles_dir).expanduser())
    for folder in folders:
        path = folder / "profiles.yml"
        if _is_file(path):
            profile = _mapping(path).get(str(name))
            break
    else:
        return Connection()
    if not isinstance(profile, dict) or not isinstance(profile.get("outputs"), dict):
        return Connection()
    target = environ.get("DBT_TARGET") or render_text(
        str(profile.get("target", "default")), environ
    )
    settings = profile["outputs"].get(target)
    return Connection(settings if isinstance(settings, dict) else {}, environ)


def render_text(text: str, environ: Mapping[str, str]) -> str:
    """Return a text of a profile with its Jinja filled in; empty where that cannot be done."""
    if "{" not in text:
        return text

    def env_var(name: str, default: str | None = None) -> str:
        setting = None if name.startswith(_SECRET) else environ.get(name, default)
        if setting is None:
            raise TemplateError(name)
        return setting

    jinja = SandboxedEnvironment(undefined=StrictUndefined)
    try:
        return jinja.from_string(text).render(env_var=env_var)
    except Exception as error:  # a template can raise anything
        _log.debug("dbt's profile: a text is not rendered: %s", exception_summary(error))
        return ""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # this account may not look there
        return False


def _mapping(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return document if isinstance(document, dict) else {}
