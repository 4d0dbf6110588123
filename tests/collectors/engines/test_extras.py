"""A missing package is named with the extra that brings it."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.sqlserver.odbc.connection import load_pyodbc
from dbt_graft.lineage.errors import GraftError


def test_collecting_without_pyspark_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GraftError, match=r"PySpark") as found, session({}):
        pass
    assert "'dbt-graft[spark]' for `pip install`, `pipx" in found.value.remedy


def test_a_live_server_without_pyodbc_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", None)
    with pytest.raises(GraftError, match=r"needs pyodbc") as found:
        load_pyodbc()
    assert "its extra `sqlserver`" in found.value.remedy
