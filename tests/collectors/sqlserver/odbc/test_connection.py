"""Connections: the origin of their settings, and their trial; without any server."""

from __future__ import annotations

import builtins
import sys
from types import SimpleNamespace

import pytest

from dbt_graft.collectors.sqlserver.odbc import connection
from dbt_graft.collectors.sqlserver.odbc import failure as odbc_failure
from dbt_graft.collectors.sqlserver.odbc.connection import attributes, connect, connection_string
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each


class OdbcError(Exception):
    """As pyodbc raises it."""


@pytest.fixture
def odbc(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """pyodbc with errors to come before it connects, and what it was asked."""
    module = SimpleNamespace(Error=OdbcError, drivers=lambda: ["FreeTDS"], errors=[], asked=[])

    def answer(text: str, **settings: object) -> str:
        module.asked.append((text, settings))
        if module.errors:
            raise module.errors.pop(0)
        return "connected"

    module.connect = answer
    monkeypatch.setitem(sys.modules, "pyodbc", module)
    monkeypatch.setattr(odbc_failure, "_FIRST_PAUSE", 0)
    return module


@pytest.mark.parametrize(
    ("setting", "environment", "expected"),
    [
        ("env:X", {"X": "DRIVER={D};SERVER=s;"}, "DRIVER={D};SERVER=s;APP=dbt-graft"),
        ("env:X", {"X": "dsn=shop;App=ours"}, "dsn=shop;App=ours"),
        ("env:X", {"X": "SERVER=s"}, "DRIVER={Newest};SERVER=s;APP=dbt-graft"),
        ("dsn:shop", {}, "DSN={shop};APP=dbt-graft"),
        (
            "dsn:my shop",
            {"GRAFT_MSSQL_USER": "u", "GRAFT_MSSQL_PASSWORD": "p;q}r"},
            "DSN={my shop};UID={u};PWD={p;q}}r};APP=dbt-graft",
        ),
    ],
)
def test_settings_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, setting: str, environment: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(connection, "best_driver", lambda installed: "Newest")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert connection_string(setting, list) == expected


@for_each(
    "setting", ["", "env:", "dsn:", "SERVER=s;PWD=hidden", "env:PWD=hidden", "dsn:x;PWD=hidden"]
)
def test_a_setting_in_clear_is_refused_and_not_repeated(setting: str) -> None:
    with pytest.raises(GraftError, match="env:NAME or dsn:NAME") as error:
        connection_string(setting, list)
    assert "hidden" not in str(error.value)


def test_an_empty_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", " ")
    with pytest.raises(GraftError, match="env:X: the environment variable is not set or empty"):
        connection_string("env:X", list)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1;b = 2 ;", {"a": "1", "b": "2"}),
        ("PWD={x;y}}z};UID=u", {"pwd": "x;y}z", "uid": "u"}),
        ("UID=first;uid=second", {"uid": "first"}),
        ("PWD=a=b{c", {"pwd": "a=b{c"}),
    ],
)
def test_attributes_are_read_as_drivers_do(text: str, expected: dict[str, str]) -> None:
    assert attributes(text) == expected


def test_what_passes_is_tried_again(odbc: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "DRIVER=D;SERVER=s")
    odbc.errors = [
        OdbcError("08S01", "[08S01] gone (10054) (SQLDriverConnect)"),
        OdbcError(
            "42000", "[42000] database is not currently available (40613) (SQLDriverConnect)"
        ),
    ]
    assert str(connect("env:X")) == "connected"
    assert odbc.asked == 3 * [
        ("DRIVER=D;SERVER=s;APP=dbt-graft", {"timeout": 10, "autocommit": True})
    ]


@pytest.mark.parametrize(
    ("state", "tries"),
    [("08001", 5), ("HYT00", 5), ("28000", 1), ("IM002", 1), ("01000", 1)],
)
def test_the_last_error_is_reported_without_user_and_password(
    odbc: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, state: str, tries: int
) -> None:
    monkeypatch.setenv("X", "DRIVER=D;SERVER=s;UID=anna;PWD={hid;den}")
    text = f"[{state}] Login failed for anna, 'anna', hid;den (18456) (SQLDriverConnect)"
    odbc.errors = [OdbcError(state, text) for _ in range(10)]
    with pytest.raises(GraftError) as error:
        connect("env:X")
    assert len(odbc.asked) == tries
    assert str(error.value).startswith(
        "env:X: the connection failed: Login failed for …, '…', … "
        f"(SQLSTATE {state}, error 18456)\n  "
    )
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


def test_a_missing_driver_manager_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "pyodbc", raising=False)
    found = builtins.__import__

    def missing(name: str, *rest: object) -> object:
        if name == "pyodbc":
            raise ImportError("libodbc.so.2: cannot open shared object file")
        return found(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(GraftError, match=r"libodbc\.so\.2.*\n.*apt-get install unixodbc"):
        connect("env:X")
