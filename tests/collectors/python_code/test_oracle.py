"""The blocks at the heads of the scripts are true, whatever we read in the source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.collectors.python_code.blocks import SCRIPTS, list_scripts, read_block

# Blocks that are not true of this script, and what the oracle finds.
_SCRIPT = """
import pyodbc

conn = pyodbc.connect("DSN=shop")
cur = conn.cursor()
rows = cur.execute("SELECT currency, rate FROM dbo.rates WHERE rate > 0.2").fetchall()
cur.executemany("INSERT INTO dw.fx (code, rate) VALUES (?, ?)", rows)
"""
_FALSE = (
    (
        "code <- nothing;rate <- dbo.rates.(currency, rate): identity;* <- dbo.rates.rate: filter",
        "no effect: dw.fx.rate <- dbo.rates.currency",
    ),
    (
        "code <- dbo.rates.currency: identity;rate <- dbo.rates.rate: identity",
        "rows of dw.fx change",
    ),
    ("code <- nothing;rate <- nothing;* <- dbo.rates.rate: filter", "dw.fx.code changes with"),
    (
        "code <- dbo.rates.currency: identity;* <- dbo.rates.rate: filter",
        "no column named rate",
    ),
    (
        "code <- dbo.rates.currency: identity;rate <- dbo.taxes.rate: identity",
        "no effect: dw.fx.rate <- dbo.taxes.rate",
    ),
)

_UNSEEN = list_scripts(SCRIPTS / "unseen")
# Half of them, with each library.
FEW = [path for at, path in enumerate(_UNSEEN) if at % 2 == 0 or "polars" in path.name]


@pytest.mark.parametrize(
    "scripts",
    [FEW, pytest.param([SCRIPTS / "unseen", SCRIPTS], marks=pytest.mark.exhaustive)],
    ids=["few", "all"],
)
def test_what_scripts_say_of_their_columns_is_so_when_they_run(
    scripts: list[Path], root: Path, tmp_path: Path
) -> None:
    for number, (lines, _) in enumerate(_FALSE):
        block = "".join(f"# dw.fx.{line}\n" for line in lines.split(";"))
        (tmp_path / f"{number}.py").write_text(f"# lineage\n{block}{_SCRIPT}")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.collectors.python_code.oracle"),
            *map(str, (*scripts, tmp_path)),
        ],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line[0].isdigit()] == []
    for number, (_, problem) in enumerate(_FALSE):
        assert any(line.startswith(f"{number}.py: ") and problem in line for line in lines), problem


def test_few_scripts_are_not_run_and_each_has_a_reason() -> None:
    runs_not = [path for path in list_scripts() if read_block(path).runs_not]
    assert len(runs_not) < len(list_scripts()) / 4
