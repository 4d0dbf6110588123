"""The ODBC driver of connections that name none."""

from __future__ import annotations

import importlib.util
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from dbt_graft.lineage.errors import GraftError

_MICROSOFT = re.compile(r"ODBC Driver (\d+) for SQL Server")
# Other drivers for SQL Server's protocol, the better first.
_OTHERS = ("FreeTDS", "SQL Server Native Client 11.0", "SQL Server")
_FLAVOURS = {
    "debian": "debian_ubuntu",
    "ubuntu": "debian_ubuntu",
    "suse": "suse",
    "alpine": "alpine",
}


def best_driver(installed: Sequence[str]) -> str:
    """The newest driver of Microsoft, the one that `pip install mssql-python` brings, or another.

    Args:
        installed: The names that the driver manager knows: `pyodbc.drivers()`.

    Returns:
        What stands behind `DRIVER=`: a name or a path.

    Raises:
        GraftError: None speaks SQL Server's protocol.
    """
    microsoft = [
        (int(match[1]), match[0]) for name in installed if (match := _MICROSOFT.fullmatch(name))
    ]
    if microsoft:
        return max(microsoft)[1]
    if bundled := bundled_driver():
        return bundled
    for name in _OTHERS:
        if name in installed:
            return name
    raise GraftError(
        "no ODBC driver for SQL Server is installed",
        remedy="install Microsoft's msodbcsql18 or Debian's tdsodbc; or let the environment of "
        "dbt-graft have mssql-python (`pip install`, `pipx inject`, `uv tool install --with`)",
    )


def bundled_driver() -> str:
    """The path of Microsoft's driver as the packages of mssql-python hold it; empty without them.

    Only on Linux: elsewhere the driver manager knows the installed ones.
    """
    package = importlib.util.find_spec("mssql_python_odbc")
    if package is None or package.origin is None:
        return ""
    libraries = Path(package.origin).parent / "libs" / "linux"
    machine = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    paths = libraries.glob(f"{_flavour()}/{machine}/lib/libmsodbcsql-*")
    return str(max(paths, default=""))


def _flavour() -> str:
    """The kind of Linux, as these packages name it."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "debian_ubuntu"
    for kind in (release.get("ID", ""), *release.get("ID_LIKE", "").split()):
        if kind in _FLAVOURS:
            return _FLAVOURS[kind]
    return "rhel"
