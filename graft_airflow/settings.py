"""The settings in Airflow's own configuration: section `[graft]`, or `AIRFLOW__GRAFT__…`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from graft_airflow.errors import LineageFileError

_SECTION = "graft"


@dataclass(frozen=True)
class Settings:
    """The place of the lineage, and how long to wait for it.

    Attributes:
        lineage: The path or URL of the file.
        authorization: The value of the header `Authorization` for a URL.
        ttl: Seconds for which a file that came from a URL counts as new.
        timeout: Seconds to wait for a URL, all in all.
        task_policy: Whether the policy that is installed with this package does anything.
    """

    lineage: str = ""
    authorization: str = field(default="", repr=False)
    ttl: float = 300.0
    timeout: float = 3.0
    task_policy: bool = False


def settings() -> Settings:
    """The settings of this Airflow.

    Raises:
        LineageFileError: A number is none.
    """
    default = Settings()
    return Settings(
        lineage=_value("lineage").strip(),
        authorization=_value("authorization"),
        ttl=_seconds("ttl", default.ttl),
        timeout=_seconds("timeout", default.timeout),
        task_policy=_value("task_policy").strip().lower() in ("1", "t", "true", "yes", "on"),
    )


def _value(key: str) -> str:
    """A setting as Airflow finds it, also by `…_cmd` and `…_secret`; empty where there is none."""
    if setting := os.environ.get(f"AIRFLOW__{_SECTION.upper()}__{key.upper()}"):
        return setting
    try:
        from airflow.configuration import conf
    except ImportError:
        return ""
    return str(conf.get(_SECTION, key, fallback="") or "")


def _seconds(key: str, default: float) -> float:
    text = _value(key).strip()
    try:
        seconds = float(text) if text else default
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 86_400:  # a NaN neither
        raise LineageFileError(
            f"`{key}` in section [{_SECTION}] is no number of seconds", "write one, such as 300"
        )
    return seconds
