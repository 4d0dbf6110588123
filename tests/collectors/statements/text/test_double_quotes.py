"""The setting for double quotes that a batch leaves its session with."""

from __future__ import annotations

from dbt_graft.collectors.statements.text.double_quotes import (
    QUOTES_ARE_NAMES,
    QUOTES_ARE_VALUES,
    setting_after,
)
from tests.cases import for_each

ON, OFF, UNSURE = QUOTES_ARE_NAMES, QUOTES_ARE_VALUES, ""
SETS_OFF = "SET QUOTED_IDENTIFIER OFF"


@for_each(
    "batch, setting",
    [
        ("SELECT 1", None),
        (SETS_OFF, OFF),
        ("set quoted_identifier on", ON),
        (f"{SETS_OFF}; SELECT 1; SET QUOTED_IDENTIFIER ON;", ON),
        ("SET ANSI_NULLS, QUOTED_IDENTIFIER ON", ON),
        ("SET QUOTED_IDENTIFIER, ANSI_NULLS\nOFF", OFF),
        (f"IF 1 = 0 {SETS_OFF}", OFF),
        (f"-- {SETS_OFF}\nSELECT 1", None),
        (f"/* {SETS_OFF} */ SELECT 1", None),
        (f"EXEC ('{SETS_OFF}')", None),
        (f"SELECT [{SETS_OFF}] FROM t", None),
        (f'SELECT "{SETS_OFF}" FROM t', None),
        ("SELECT quoted_identifier FROM sys.dm_exec_sessions", None),
        ("SELECT SESSIONPROPERTY('QUOTED_IDENTIFIER')", None),
        ("SET QUOTED_IDENTIFIER @on", None),
        (f"CREATE PROCEDURE p AS {SETS_OFF}", None),
        (f"-- why\nCREATE OR ALTER TRIGGER g ON t FOR INSERT AS {SETS_OFF}", None),
        (f"ALTER FUNCTION f() RETURNS int AS BEGIN {SETS_OFF} END", None),
        (f"CREATE TABLE t (a int); {SETS_OFF}", OFF),
        ("SET ANSI_DEFAULTS ON", UNSURE),
        (f"SET ANSI_DEFAULTS OFF; {SETS_OFF}", UNSURE),
        ("ALTER DATABASE Shop SET QUOTED_IDENTIFIER ON", UNSURE),
        (f"ALTER DATABASE Shop SET RECOVERY SIMPLE; {SETS_OFF}", OFF),
    ],
)
def test_the_last_setting_of_a_batch_stays(batch: str, setting: str | None) -> None:
    assert setting_after(batch) == setting
