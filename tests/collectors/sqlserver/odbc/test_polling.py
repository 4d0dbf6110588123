"""Rows over ODBC, as the driver's own bytes; the rest is tested over a real connection."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from dbt_graft.collectors.sqlserver.odbc.polling import rows


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        pytest.param("żółw 🐢".encode("utf-16-le"), "żółw 🐢", id="any text"),
        pytest.param(b"a\0\x3d\xd8", "a\ufffd", id="half a character at the end"),
        pytest.param(b"\x22\xdcb\0", "\ufffdb", id="half a character at the beginning"),
        pytest.param(b"", "", id="nothing"),
        pytest.param(
            b"6F9619FF-8B86-D011-B42D-00C04FC964FF",
            "6F9619FF-8B86-D011-B42D-00C04FC964FF",
            id="a GUID, which pyodbc spells out",
        ),
    ],
)
def test_text_that_is_cut_within_a_character_is_read(
    monkeypatch: pytest.MonkeyPatch, cell: bytes, expected: str
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", SimpleNamespace(SQL_CHAR=1, SQL_WCHAR=-8))
    answers = [[(cell.decode("latin-1"), 7, None)], []]
    cursor = SimpleNamespace(
        execute=lambda sql, *values: None,
        fetchmany=lambda size: answers.pop(0),
        nextset=lambda: False,
        close=lambda: None,
        messages=None,
    )
    connection = SimpleNamespace(cursor=lambda: cursor, setdecoding=lambda *kind, **how: None)
    assert list(rows(connection, "SELECT")) == [(expected, 7, None)]  # type: ignore[arg-type]
