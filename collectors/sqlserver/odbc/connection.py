"""ODBC connections, whose settings come from the environment or a DSN and never from graft.yml."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from dbt_graft.collectors.sqlserver.odbc.drivers import best_driver
from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure, retry_pauses
from dbt_graft.lineage.errors import GraftError, add_extra

if TYPE_CHECKING:
    import pyodbc

APPLICATION = "dbt-graft"
_LOGIN_TIMEOUT = 10  # seconds
_ATTRIBUTE = re.compile(r"\s*([^=;{}]+?)\s*=\s*(?:\{((?:[^}]|\}\})*)\}|([^;]*))\s*(?:;|$)")
_SETTING = re.compile(r"(env):([A-Za-z_]\w*)|(dsn):([^;={}\n]+)")
_SECRET = frozenset({"uid", "user", "user id", "username", "pwd", "password", "accesstoken"})


def connect(setting: str, *, patient: bool = True) -> pyodbc.Connection:
    """Open a connection.

    There is no `ApplicationIntent=ReadOnly`: a listener would lead to another server, which has
    other events.

    Args:
        setting: `env:NAME`, a variable that holds an ODBC connection string, or `dsn:NAME`, a data
            source whose user and password may stand in GRAFT_MSSQL_USER and GRAFT_MSSQL_PASSWORD.
        patient: Try again for a minute or so where the error may pass.

    Raises:
        GraftError: The setting is none of these, pyodbc or a driver is missing, or the server
            refuses.
    """
    odbc = load_pyodbc()
    text = connection_string(setting, odbc.drivers)
    secrets = [value for key, value in attributes(text).items() if key in _SECRET]
    waits = retry_pauses() if patient else iter(())
    while True:
        try:
            connection: pyodbc.Connection = odbc.connect(
                text, timeout=_LOGIN_TIMEOUT, autocommit=True
            )
        except odbc.Error as error:
            failure = odbc_failure(error, secrets)
        else:
            return connection
        wait = next(waits, None) if failure.transient else None
        if wait is None:
            raise failure.error("the connection failed", setting, _remedy(failure.state))
        time.sleep(wait)


def attributes(text: str) -> Mapping[str, str]:
    """The attributes of a connection string by their names in lower case; the first one counts."""
    values: dict[str, str] = {}
    for key, braced, plain in _ATTRIBUTE.findall(text):
        values.setdefault(key.casefold(), braced.replace("}}", "}") or plain.strip())
    return values


def connection_string(setting: str, drivers: Callable[[], list[str]]) -> str:
    """The connection string of a setting, with a driver and our name where it has none.

    Args:
        drivers: Lists the installed drivers: `pyodbc.drivers`.
    """
    match = _SETTING.fullmatch(setting)
    if match is None:
        # It is not repeated: it may hold a password.
        raise GraftError(
            "a connection is written as env:NAME or dsn:NAME",
            remedy="put the connection string into an environment variable and name that",
        )
    if match[1]:
        text = os.environ.get(match[2], "").strip().rstrip(";")
        if not text:
            raise GraftError(
                "the environment variable is not set or empty",
                place=setting,
                remedy="let it hold an ODBC connection string: SERVER=…;DATABASE=…;UID=…;PWD=…",
            )
    else:
        user = os.environ.get("GRAFT_MSSQL_USER", "")
        password = os.environ.get("GRAFT_MSSQL_PASSWORD", "")
        text = f"DSN={_brace(match[4])}"
        text += f";UID={_brace(user)}" if user else ""
        text += f";PWD={_brace(password)}" if password else ""
    present = attributes(text)
    if present.keys().isdisjoint({"driver", "dsn", "filedsn"}):
        text = f"DRIVER={_brace(best_driver(drivers()))};{text}"
    return text if "app" in present else f"{text};APP={APPLICATION}"


def _brace(value: str) -> str:
    return f"{{{value.replace('}', '}}')}}}"


def _remedy(state: str) -> str:
    if state.startswith("28"):
        return "check the user and the password"
    if state.startswith("IM00"):
        return "check that the driver or the data source is installed: odbcinst -q -d, -q -s"
    if state == "01000":
        return "the driver's file cannot be loaded: install unixodbc and libltdl7"
    return "check the server's name, its port and its certificate (TrustServerCertificate=yes)"


def load_pyodbc() -> ModuleType:
    """The module, which needs the driver manager's library beside it.

    Raises:
        GraftError: It, or that library, is missing.
    """
    try:
        import pyodbc
    except ModuleNotFoundError as error:
        raise GraftError(
            "a connection to SQL Server needs pyodbc, which is not installed",
            remedy=add_extra("sqlserver"),
        ) from error
    except ImportError as error:
        raise GraftError(
            f"pyodbc cannot be loaded: {error}",
            remedy="install the ODBC driver manager: apt-get install unixodbc libltdl7",
        ) from error
    return pyodbc
