"""Code of tasks in a file: the same again, followed anew where a file changed, without literals."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.python_code import code_cache
from dbt_graft.collectors.python_code.code_cache import CodeCache
from dbt_graft.lineage.code import TaskCode

SCRIPT = """\
import hashlib
import pandas as pd
import pyodbc
from lib import rates

connection = pyodbc.connect("SERVER=dw;UID=etl;PWD=ZQ1-password")
people = pd.read_sql(
    "SELECT id, email, salary FROM dbo.people WHERE token = 'ZQ2-token'", connection
)
people["email"] = people["email"].map(lambda text: hashlib.sha256(("ZQ3-salt" + text).encode()))
people["pay"] = people["salary"] * 1.0425
people["note"] = "ZQ4 for Ada Lovelace"
people.to_csv("https://ada:ZQ5@files.example.com/out.csv?sig=ZQ6")
people[["id", "email", "pay", "note"]].to_sql("pay", connection, schema="dw", index=False)
frame = unknown.load("ZQ7", key="ZQ8")
frame.to_sql("other", connection)
"""
SECRETS = ["ZQ1", "ZQ2", "ZQ3", "ZQ4", "ZQ5", "ZQ6", "ZQ7", "ZQ8", "Lovelace", "1.0425"]


def _code(folder: Path, *, cached: bool = True) -> TaskCode:
    def read_file(file: str) -> bytes | None:
        path = folder / file
        return path.read_bytes() if path.is_file() else None

    cache = CodeCache(folder / "cache.json" if cached else None, read_file)
    code = cache.code("job.py", "job")
    cache.write()
    return code


@pytest.fixture(autouse=True)
def _fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "_FOLLOWED", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(SCRIPT)
    return tmp_path


def test_a_script_is_the_same_out_of_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = _code(folder)
    monkeypatch.setattr(code_cache, "_FOLLOWED", {})
    monkeypatch.setattr(CodeCache, "_follow", None)  # a call would fail

    assert code.edges
    assert _code(folder) == code


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("job.py", SCRIPT.replace('people["salary"]', 'people["id"]')),
        ("lib/rates.py", "RATE = 2\n"),  # the script asked for it, and it was not there
    ],
)
def test_a_change_of_what_it_uses_is_followed(folder: Path, file: str, content: str) -> None:
    before = _code(folder)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(content)

    after = _code(folder)

    assert after.digest != before.digest
    assert after == _code(folder, cached=False)


def test_no_literal_of_the_code_is_in_what_is_written(folder: Path) -> None:
    code = _code(folder)

    written = repr(code)
    assert [secret for secret in SECRETS if secret in written] == []
    assert {edge.to_column for edge in code.edges if edge.to_table == ("dw", "pay")} == {
        *("id", "email", "pay", "*")
    }
