"""The driver that is chosen; those that can be installed load in pyodbc."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from dbt_graft.collectors.sqlserver.odbc import connection, drivers
from dbt_graft.collectors.sqlserver.odbc import failure as odbc_failure
from dbt_graft.collectors.sqlserver.odbc.drivers import best_driver, bundled_driver
from dbt_graft.lineage.errors import GraftError

_MISSING = "`make odbc` installs it as root: apt-get install"


@pytest.mark.parametrize(
    ("installed", "bundled", "expected"),
    [
        (
            ["ODBC Driver 9 for SQL Server", "ODBC Driver 18 for SQL Server"],
            "/b.so",
            "ODBC Driver 18 for SQL Server",
        ),
        (["FreeTDS", "ODBC Driver 17 for SQL Server"], "", "ODBC Driver 17 for SQL Server"),
        (["FreeTDS", "PostgreSQL Unicode"], "/b.so", "/b.so"),
        (["PostgreSQL Unicode", "SQL Server", "FreeTDS"], "", "FreeTDS"),
        (["SQL Server"], "", "SQL Server"),
    ],
)
def test_the_newest_driver_that_speaks_the_protocol_is_taken(
    monkeypatch: pytest.MonkeyPatch, installed: list[str], bundled: str, expected: str
) -> None:
    monkeypatch.setattr(drivers, "bundled_driver", lambda: bundled)
    assert best_driver(installed) == expected


def test_a_missing_driver_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "bundled_driver", lambda: "")
    with pytest.raises(GraftError, match="have mssql-python"):
        best_driver(["PostgreSQL Unicode", "SQLite3"])


def _refused(monkeypatch: pytest.MonkeyPatch, driver: str, server: str) -> str:
    """The error of a driver where no server listens."""
    monkeypatch.setattr(odbc_failure, "_TRIES", 1)
    monkeypatch.setattr(connection, "_LOGIN_TIMEOUT", 1)
    monkeypatch.setenv("GRAFT_TEST", f"DRIVER={{{driver}}};{server};UID=u;PWD=p")
    with pytest.raises(GraftError) as error:
        connection.connect("env:GRAFT_TEST")
    return str(error.value)


@pytest.mark.odbc
def test_microsofts_driver_loads_from_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyodbc", reason=f"{_MISSING} unixodbc", exc_type=ImportError)
    if importlib.util.find_spec("mssql_python_odbc") is None or sys.platform != "linux":
        pytest.skip("Microsoft's driver is not here: pip install mssql-python")
    message = _refused(monkeypatch, bundled_driver(), "SERVER=127.0.0.1,1")
    assert "Login timeout expired (SQLSTATE HYT00)" in message


@pytest.mark.odbc
def test_freetds_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    odbc = pytest.importorskip("pyodbc", reason=f"{_MISSING} unixodbc", exc_type=ImportError)
    if "FreeTDS" not in odbc.drivers():
        pytest.skip(f"no FreeTDS; {_MISSING} tdsodbc")
    message = _refused(monkeypatch, "FreeTDS", "SERVER=127.0.0.1;PORT=1")
    assert "Unable to connect" in message
    assert "(SQLSTATE 08" in message
