"""Statements recorded by themselves -> their dates, from the texts before them and their calls."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from dbt_graft.collectors.sqlserver.runs.parameters import ProcedureCall, procedure_call
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
)
from tests.cases import for_each
from tests.collectors.sqlserver.runs.test_fold import event, folded

DEFINED = "CREATE PROCEDURE dbo.Load_Day @Day AS date = ?, @n int = ? AS DELETE FROM t WHERE a = @x"
DELETE = "DELETE FROM dbo.daily WHERE ds = @day"
LOAD = "EXEC dbo.load_day @day = '2026-11-04'"
NIGHTLY = "EXEC dbo.nightly @d = '2026-11-05'"


def dates(
    *sent: tuple[str, str] | tuple[str, str, str],
    parameters: Mapping[str, tuple[str, ...]] | None = None,
) -> list[str]:
    """The dates of the daily table in the segments of one request.

    Args:
        sent: Kind and text of each event, and the procedure that it is inside of.
        parameters: Those of procedures, as a snapshot has them.
    """
    events = [
        event(kind, text, at, **({"object_name": inside[0]} if inside else {}))
        for at, (kind, text, *inside) in enumerate(sent)
    ]
    return [
        f"{day.start:%Y-%m-%d} {day.end:%Y-%m-%d}" if day.start and day.end else "unknown"
        for segment in folded(events, parameters=parameters)
        for day in segment.counts.dates
        if day.table.endswith("daily")
    ]


def inside(text: str, procedure: str = "load_day") -> tuple[str, str, str]:
    return "inside", text, procedure


@for_each(
    "sent, expected",
    [
        ([inside(DELETE), ("batch", LOAD)], "2026-11-04 2026-11-05"),
        ([inside(DELETE), ("rpc", LOAD)], "2026-11-04 2026-11-05"),
        ([inside(DELETE), ("rpc", "exec load_day @day=N'20261104',@n=5")], "2026-11-04 2026-11-05"),
        ([inside(DELETE), ("statement", LOAD), ("batch", f"{LOAD}; x")], "2026-11-04 2026-11-05"),
        (
            [
                inside(DELETE),
                (
                    "rpc",
                    "declare @p2 int set @p2=NULL exec load_day @day='2026-11-04',@n=@p2 "
                    "output select @p2",
                ),
            ],
            "2026-11-04 2026-11-05",
        ),
        # What a driver sends with parameters.
        (
            [
                inside(DELETE),
                inside("EXEC dbo.load_day @day = @P1", ""),
                (
                    "rpc",
                    "exec sp_executesql N'EXEC dbo.load_day @day = @P1',N'@P1 date','2026-11-04'",
                ),
            ],
            "2026-11-04 2026-11-05",
        ),
        # What the procedure assigns itself.
        (
            [
                inside("DECLARE @from date = DATEADD(day, -6, @day)"),
                inside("DELETE FROM dbo.daily WHERE ds >= @from AND ds < @day"),
                ("batch", LOAD),
            ],
            "2026-10-29 2026-11-04",
        ),
        (
            [
                inside("DECLARE @day date = '2026-11-03' -- yesterday"),
                inside(DELETE),
                ("batch", "EXEC load_day"),
            ],
            "2026-11-03 2026-11-04",
        ),
        (
            [inside(DELETE), inside("SET @day = DATEADD(day, 1, @day)"), ("batch", LOAD)],
            "2026-11-04 2026-11-05",
        ),
        (
            [inside("INSERT INTO dbo.daily (ds, n) SELECT @day, 1"), ("batch", LOAD)],
            "2026-11-04 2026-11-05",
        ),
        # Procedures that call procedures.
        (
            [
                inside(DELETE),
                inside("EXEC dbo.load_day @day = @d", "nightly"),
                ("batch", NIGHTLY),
            ],
            "2026-11-05 2026-11-06",
        ),
        (
            [
                inside("SET @d = DATEADD(day, -1, @e)", "nightly"),
                inside("DECLARE @d date = DATEADD(day, -2, @day)"),
                inside("DELETE FROM dbo.daily WHERE ds = @d"),
                inside("EXEC dbo.load_day @day = @d", "nightly"),
                ("batch", "EXEC nightly @e = '2026-11-05'"),
            ],
            "2026-11-02 2026-11-03",
        ),
        (
            [
                inside("DECLARE @n int = 1", "nightly"),
                inside("DECLARE @m int = 2", "trigger_of_log"),
                inside(DELETE),
                inside("EXEC dbo.load_day @day = @d", "nightly"),
                ("batch", NIGHTLY),
            ],
            "2026-11-05 2026-11-06",
        ),
        # Nothing shows the value.
        ([inside(DELETE), ("batch", "EXEC dbo.load_day '2026-11-04'")], "unknown"),
        ([inside(DELETE), ("batch", f"{LOAD}; EXEC other")], "unknown"),
        ([inside(DELETE), ("batch", "EXEC dbo.other @day = '2026-11-04'")], "unknown"),
        ([inside(DELETE), ("batch", "SELECT 1")], "unknown"),
        ([inside(DELETE)], "unknown"),
        ([inside("SET @day = DATEADD(day, 1, @day)"), inside(DELETE), ("batch", LOAD)], "unknown"),
        ([inside("SELECT @day = MAX(d) FROM s"), inside(DELETE), ("batch", LOAD)], "unknown"),
        ([inside("SET @day = (SELECT MAX(d) FROM s)"), inside(DELETE), ("batch", LOAD)], "unknown"),
        ([inside("FETCH NEXT FROM c INTO @day"), inside(DELETE), ("batch", LOAD)], "unknown"),
        ([inside("EXEC next_day @day OUTPUT"), inside(DELETE), ("batch", LOAD)], "unknown"),
        (
            [
                *(inside("SET @n = @n + 1") for _ in range(60)),
                inside("SET @day = DATEADD(day, 1, @day)"),
                inside(DELETE),
                ("batch", LOAD),
            ],
            "unknown",
        ),
    ],
)
def test_a_statement_has_the_dates_of_its_procedure_s_variables(
    sent: list[tuple[str, str]], expected: str
) -> None:
    assert dates(*sent) == [expected]


def test_each_call_of_a_batch_has_its_own_values() -> None:
    second = LOAD.replace("04", "06")
    ranges = dates(
        *(inside(DELETE), ("statement", LOAD), inside(DELETE), ("statement", second)),
        ("batch", f"{LOAD}; {second}"),
    )
    assert ranges == ["2026-11-04 2026-11-05", "2026-11-06 2026-11-07"]


STAGE = "SELECT id, ds INTO #o FROM raw.orders WHERE ds = '2026-11-04'"
CREATE = "CREATE TABLE #o (id int, ds date)"
ROW = "INSERT INTO #o (id, ds) VALUES (1, '2026-11-05')"
FILL = "INSERT INTO dbo.daily (id, ds) SELECT id, ds FROM #o"


@for_each(
    "sent, expected",
    [
        # A server that shows each statement of a batch, with its declarations or without.
        (
            [
                ("statement", "DECLARE @day date = '2026-11-04'"),
                ("statement", DELETE),
                ("batch", f"DECLARE @day date = '2026-11-04'; {DELETE}"),
            ],
            "2026-11-04 2026-11-05",
        ),
        (
            [("statement", DELETE), ("batch", f"DECLARE @day date = '2026-11-04'; {DELETE}")],
            "2026-11-04 2026-11-05",
        ),
        ([("statement", STAGE), ("statement", FILL)], "2026-11-04 2026-11-05"),
        # Requests go on with what earlier ones left.
        ([("batch", STAGE), ("batch", FILL)], "2026-11-04 2026-11-05"),
        ([("batch", "DROP TABLE #o"), ("batch", STAGE), ("batch", FILL)], "2026-11-04 2026-11-05"),
        (
            [
                ("batch", STAGE),
                ("batch", "DROP TABLE #o"),
                ("batch", STAGE.replace("04", "06")),
                ("batch", FILL),
            ],
            "2026-11-06 2026-11-07",
        ),
        (
            [
                ("batch", "CREATE TABLE #o (id int, ds date)"),
                ("batch", "INSERT INTO #o (id, ds) SELECT id, ds FROM raw.o WHERE ds = '20261104'"),
                ("batch", FILL),
            ],
            "2026-11-04 2026-11-05",
        ),
        ([("batch", STAGE), ("batch", "INSERT INTO #o SELECT id, ds FROM x"), ("batch", FILL)], ""),
        (
            [("batch", STAGE), ("batch", "ALTER TABLE #o ADD x int"), ("batch", FILL)],
            "2026-11-04 2026-11-05",
        ),
        ([("batch", STAGE), ("rpc", "exec sp_reset_connection"), ("batch", FILL)], ""),
        ([("batch", STAGE.replace("'2026-11-04'", "@d")), ("batch", FILL)], ""),
        ([("batch", STAGE.replace("#o", "#other")), ("batch", FILL)], ""),
        ([("batch", FILL)], ""),
        ([("batch", STAGE.replace("#o", "[#o]")), ("batch", FILL)], "2026-11-04 2026-11-05"),
        # Rows of other dates may be in it.
        ([("batch", STAGE), ("batch", ROW.replace("#o", "[#o]")), ("batch", FILL)], ""),
        ([("batch", STAGE), ("batch", ROW.replace("#o", "tempdb..#o")), ("batch", FILL)], ""),
        ([("batch", ROW), ("batch", FILL)], ""),
        ([("batch", CREATE), ("batch", ROW), ("batch", FILL)], "2026-11-05 2026-11-06"),
        (
            [("batch", CREATE), ("batch", f"{ROW}; SET @d = 1"), ("batch", ROW), ("batch", FILL)],
            "",
        ),
        (
            [
                *(("statement", CREATE), inside(f"{ROW} -- more", "stage")),
                *(("statement", "EXEC stage"), ("statement", ROW), ("statement", FILL)),
            ],
            "",
        ),
        (
            [
                *(("statement", CREATE), ("statement", ROW)),
                *[("statement", "SET @n = @n + 1")] * 60,
                *(("statement", ROW), ("statement", FILL)),
            ],
            "",
        ),
        (
            [("statement", "SET @day = '2026-11-04' -- ticket #12"), ("statement", DELETE)],
            "2026-11-04 2026-11-05",
        ),
        (
            [
                ("batch", STAGE),
                *[("batch", "INSERT INTO #o VALUES (1, '2026-11-05')")] * 9,
                ("batch", FILL),
            ],
            "",
        ),
        (
            [
                *[("batch", "INSERT INTO #o VALUES (1, '2026-11-05')")] * 9,
                *(("batch", "DROP TABLE #o"), ("batch", STAGE), ("batch", FILL)),
            ],
            "2026-11-04 2026-11-05",
        ),
    ],
)
def test_a_statement_has_the_dates_of_what_was_sent_before(
    sent: list[tuple[str, str]], expected: str
) -> None:
    assert [*dict.fromkeys(dates(*sent))] == ([expected] if expected else [])


@for_each(
    "call, expected",
    [
        ("EXEC load_day '2026-11-04'", "2026-11-04 2026-11-05"),
        ("EXEC load_day '2026-11-04', @n = 5", "2026-11-04 2026-11-05"),
        ("EXEC load_day @n = 5, @day = '2026-11-04'", "2026-11-04 2026-11-05"),
        ("EXEC load_day '2026-11-04', 5, 'one too many'", "2026-11-04 2026-11-05"),
        ("EXEC load_day", "unknown"),
    ],
)
def test_a_snapshot_names_arguments_by_place(call: str, expected: str) -> None:
    snapshot = Snapshot(
        "sql01",
        datetime(2026, 11, 1, tzinfo=UTC),
        {"Dw": SnapshotDatabase(modules={"dbo.Load_Day": Module(ModuleKind.PROCEDURE, DEFINED)})},
    )
    parameters = snapshot.procedure_parameters()
    assert parameters == {"load_day": ("@day", "@n")}
    assert dates(inside(DELETE), ("rpc", call), parameters=parameters) == [expected]


@for_each(
    "definitions, expected",
    [
        (["CREATE PROC p AS SELECT @x"], {"p": ()}),
        (["CREATE PROC p (@a int = ?, @B AS dbo.day OUTPUT) WITH RECOMPILE AS SET @c = ?"],
         {"p": ("@a", "@b")}),
        (["CREATE PROC p @a int AS", "CREATE PROC p @a date AS"], {"p": ("@a",)}),
        (["CREATE PROC p @a int AS", "CREATE PROC p @b int AS"], {}),
    ],
)  # fmt: skip
def test_parameters_of_procedures(
    definitions: list[str], expected: dict[str, tuple[str, ...]]
) -> None:
    databases = {
        f"Dw{n}": SnapshotDatabase(modules={"dbo.P": Module(ModuleKind.PROCEDURE, text)})
        for n, text in enumerate(definitions)
    }
    taken = Snapshot("sql01", datetime(2026, 11, 1, tzinfo=UTC), databases)
    assert taken.procedure_parameters() == expected


@for_each(
    "text, expected",
    [
        ("EXEC p", ("p", ())),
        ("execute [dw].[dbo].[load day] @a = 1;", ("load day", (("@a", "1"),))),
        ("exec @rc = dw..p @A=N'it''s', @b = @x OUTPUT", ("p", (("@a", "N'it''s'"), ("@b", "@x")))),
        ("EXEC p 1, @b = 2", ("p", (("", "1"), ("@b", "2")))),
        ("EXEC @name @a = 1", None),
        ("EXEC ('DELETE FROM t')", None),
        ("EXEC p @a = 1; DELETE FROM t", None),
        ("SELECT 1; EXEC p @a = 1", None),
        ("INSERT INTO t EXEC p @a = 1", None),
        ("EXEC p @a =", None),
        ("EXEC p @a = 'x", None),
        ("DELETE FROM t", None),
        ("", None),
    ],
)
def test_a_text_that_is_one_call(
    text: str, expected: tuple[str, tuple[tuple[str, str], ...]] | None
) -> None:
    assert procedure_call(text) == (expected and ProcedureCall(*expected))
