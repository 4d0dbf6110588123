"""Work of clients on a SQL Server as events, and the lineage that a user expects of it.

All scenarios are collected at once, each of a task of its own that has the scenario's name. A line
of a scenario is an event: a batch where only a text is given. What is expected is written as people
say it: `a > b` that data of a went into b, `b 2 failed` that two statements wrote b and failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, zip_longest
from pathlib import Path
from uuid import UUID

import pyarrow.parquet as pq
import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.sqlserver.collect import collect
from dbt_graft.collectors.sqlserver.event import ExtendedEvent, Mapped, Value
from dbt_graft.collectors.sqlserver.listing import Server
from dbt_graft.collectors.sqlserver.runs.captured import TRANSACTIONS
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Direction, Evidence, Outcome, Records
from tests.cases import for_each
from tests.collectors.sqlserver.xel_session import LINEAGE
from tests.collectors.sqlserver.xel_writer import write_events
from tests.faces import differences

NAMESPACE = "mssql://sql01:1433"
SECOND = 10_000_000
START = 1_790_000_000 * SECOND
_TEXT = {"statement": "unicode_string", "duration": "uint64", "row_count": "uint64"}
SESSION = replace(
    LINEAGE,
    events={
        **LINEAGE.events,
        **dict.fromkeys(("rpc_starting", "sql_statement_starting"), _TEXT),
        **{name: {"duration": "uint64"} for name in (*TRANSACTIONS, "logout")},
        "login": {"options_text": "unicode_string"},
    },
)
NAMES = {
    "batch": ("sql_batch_completed", "batch_text"),
    "batch begins": ("sql_batch_starting", "batch_text"),
    "rpc": ("rpc_completed", "statement"),
    "rpc begins": ("rpc_starting", "statement"),
    "statement": ("sql_statement_completed", "statement"),
    "statement begins": ("sql_statement_starting", "statement"),
    "inside": ("sp_statement_completed", "statement"),
    "error": ("error_reported", "message"),
    "rollback": ("rollback_tran_completed", ""),
    "commit": ("commit_tran_completed", ""),
    "begin": ("begin_tran_completed", ""),
    "login": ("login", "options_text"),
    "logout": ("logout", ""),
}
RESULTS = {"ok": Mapped(0, "OK"), "error": Mapped(1, "Error"), "abort": Mapped(2, "Abort")}
OBJECTS = {"proc": Mapped(8272, "PROC"), "trigger": Mapped(21587, "TRIGGER")}


@dataclass(frozen=True)
class Sent:
    """An event of a scenario.

    Attributes:
        after: Seconds since the event before.
        sequence: Its number, where it is not the order of the lines; 0 for none.
        request: Events with the same number belong to one request.
    """

    kind: str
    text: str = ""
    result: str = "ok"
    session: int | None = 51
    run: str = ""
    database: str | None = "Shop"
    procedure: str = ""
    object: str = "proc"
    rows: int = 1
    after: float = 1
    sequence: int | None = None
    request: int | None = None
    severity: int = 16
    application: str = ""


def rpc(text: str, **more: object) -> Sent:
    return Sent("rpc", text, **more)  # type: ignore[arg-type]


def stmt(text: str, **more: object) -> Sent:
    return Sent("statement", text, **more)  # type: ignore[arg-type]


def inside(procedure: str, text: str, **more: object) -> Sent:
    return Sent("inside", text, procedure=procedure, **more)  # type: ignore[arg-type]


def batch(text: str, **more: object) -> Sent:
    return Sent("batch", text, **more)  # type: ignore[arg-type]


def prepexec(handle: int, text: str, values: str = "7") -> Sent:
    return rpc(
        f"declare @p1 int set @p1={handle} exec sp_prepexec @p1 output,N'@P1 int',"
        f"N'{text}',{values} select @p1"
    )


def prepare(handle: int, text: str) -> Sent:
    return rpc(
        f"declare @p1 int set @p1={handle} exec sp_prepare @p1 output,N'@P1 int',N'{text}',1 "
        "select @p1"
    )


def execute(handle: int, **more: object) -> Sent:
    return rpc(f"exec sp_execute {handle},8", **more)


def unprepare(handle: int) -> Sent:
    return rpc(f"exec sp_unprepare {handle}")


def error(**more: object) -> Sent:
    return Sent("error", "it failed for 'Smith'", **more)  # type: ignore[arg-type]


BEGIN, COMMIT, ROLLBACK = Sent("begin"), Sent("commit"), Sent("rollback")
LOGIN, LOGOUT = Sent("login"), Sent("logout")
QUOTES_ON, QUOTES_OFF = (
    Sent("login", f"-- network protocol: LPC\r\nset quoted_identifier {to}\r\n")
    for to in ("on", "off")
)
RESET = rpc("exec sp_reset_connection")
# What comes behind is in another file.
FILE = Sent("")
IMPLICIT = "SET IMPLICIT_TRANSACTIONS ON"
# Microsoft's ODBC driver ends transactions so.
ODBC_COMMIT, ODBC_ROLLBACK = "IF @@TRANCOUNT > 0 COMMIT TRAN", "IF @@TRANCOUNT > 0 ROLLBACK TRAN"
A, B = "INSERT INTO a SELECT * FROM x", "INSERT INTO b SELECT * FROM y"
DW = "INSERT INTO Dw.dbo.f SELECT * FROM Dw.dbo.s"

Line = str | Sent


@dataclass(frozen=True)
class Case:
    """The events of a task, and the expected lineage; None where it does not matter.

    Attributes:
        flows: `a > b`, with what is between as `a > #t > b` where `hops` is set.
        writes: For each dataset how many statements wrote it, and how it ended where not well.
        runs: How many runs with which end: `1 ok 1 failed`.
        inside: Procedures in which datasets were written.
        columns: `a.n < b.m` that column n of a comes from column m of b; `inferred` behind it.
        former: `a was b` that table a was called b before.
        gaps: Why columns are missing.
        unresolved: The handle whose text no log shows, and its session.
        hidden: Statements of which no dataset is known, with `|` between them.
    """

    sent: Sequence[Line]
    flows: str | None = None
    writes: str | None = None
    reads: str | None = None
    runs: str | None = None
    inside: str | None = None
    columns: str | None = None
    former: str | None = None
    gaps: str | None = None
    unresolved: str = ""
    hidden: str | None = None


def call(*sent: Line, **expected: str | int) -> Case:
    return Case(sent, **expected)  # type: ignore[arg-type]


CASES: dict[str, Case] = {
    # drivers
    "pyodbc_execute": call(prepexec(1, "INSERT INTO t VALUES (@P1)"), unprepare(1), writes="t 1"),
    "executemany": call(
        *(prepexec(1, "INSERT INTO t VALUES (@P1)", str(n)) for n in range(5)),
        unprepare(1),
        writes="t 5",
    ),
    "fast_executemany": call(
        rpc("exec sp_describe_undeclared_parameters N'INSERT INTO t VALUES (@P1)'"),
        prepare(2, "INSERT INTO t VALUES (@P1)"),
        *(execute(2, request=1) for _ in range(5)),
        unprepare(2),
        writes="t 5",
        runs="1 ok",
    ),
    "pandas": call(
        "SELECT * FROM src",
        prepexec(
            1,
            "SELECT [INFORMATION_SCHEMA].[TABLES].[TABLE_NAME] FROM "
            "[INFORMATION_SCHEMA].[TABLES] WHERE [TABLE_NAME] = @P1",
        ),
        "CREATE TABLE dst (a int NULL)",
        prepexec(2, "INSERT INTO dst (a) VALUES (@P1), (@P2)"),
        flows="src > dst",
        writes="dst 2",
    ),
    "insert_bulk": call(
        "SELECT * FROM src",
        "SET FMTONLY ON select * from dst SET FMTONLY OFF",
        "insert bulk dst ([a] INT, [b] NVARCHAR(50) COLLATE Latin1_General_CI_AS) with (TABLOCK)",
        flows="src > dst",
        writes="dst 1",
        reads="src 1",
    ),
    "call": call(
        inside("load", "INSERT INTO dst SELECT * FROM src"),
        rpc("exec dbo.load 7"),
        flows="src > dst",
        inside="dst load",
    ),
    "cursor": call(
        rpc(
            "declare @p1 int set @p1=180150003 declare @p3 int set @p3=8 exec sp_cursoropen "
            "@p1 output,N'SELECT * FROM src',@p3 output,@p4 output,@p5 output select @p1"
        ),
        rpc("exec sp_cursorfetch 180150003,2,0,100"),
        rpc("exec sp_cursorclose 180150003"),
        "INSERT INTO dst VALUES (1)",
        flows="src > dst",
    ),
    "cursor_prepexec": call(
        rpc(
            "declare @p1 int set @p1=5 declare @p2 int set @p2=180150003 exec sp_cursorprepexec "
            "@p1 output,@p2 output,N'@P1 int',N'SELECT * FROM src WHERE i=@P1',@p5 output,1,1,7"
        ),
        rpc("declare @p2 int set @p2=180150005 exec sp_cursorexecute 5,@p2 output,1,1,1,8"),
        "INSERT INTO dst VALUES (1)",
        flows="src > dst",
        reads="src 2",
    ),
    "jdbc": call(
        *(execute(3) for _ in range(0)),
        prepexec(3, "INSERT INTO t VALUES (@P0)"),
        *(execute(3) for _ in range(4)),
        writes="t 5",
    ),
    "executesql": call(
        rpc("exec sp_executesql N'UPDATE t SET a=@a FROM t JOIN s ON s.i=t.i',N'@a int',@a=3"),
        flows="s > t",
        writes="t 1",
    ),
    "executesql_batch": call(
        "EXEC sp_executesql @stmt=N'INSERT INTO t SELECT * FROM s WHERE n=''x'''", flows="s > t"
    ),
    # transactions
    "odbc_rollback": call(
        IMPLICIT, A, ODBC_COMMIT, B, ODBC_ROLLBACK, writes="a 1, b 1 failed", flows="x > a"
    ),
    "odbc_pool": call(IMPLICIT, A, ODBC_COMMIT, ODBC_ROLLBACK, RESET, writes="a 1", runs="1 ok"),
    "odbc_rollback_first": call(IMPLICIT, A, ODBC_ROLLBACK, writes="a 1 failed"),
    "odbc_reads_only": call(IMPLICIT, "SELECT * FROM x", ODBC_ROLLBACK, reads="x 1"),
    "manager_rollback": call(BEGIN, A, COMMIT, BEGIN, B, ROLLBACK, writes="a 1, b 1 failed"),
    "manager_pool": call(BEGIN, A, COMMIT, ROLLBACK, writes="a 1"),
    "freetds": call(
        "BEGIN TRANSACTION",
        A,
        "IF @@TRANCOUNT > 0 COMMIT BEGIN TRANSACTION",
        B,
        "IF @@TRANCOUNT > 0 ROLLBACK BEGIN TRANSACTION",
        A,
        "IF @@TRANCOUNT > 0 COMMIT BEGIN TRANSACTION",
        writes="a 2, b 1 failed",
    ),
    "pymssql": call(
        "BEGIN TRAN",
        A,
        "COMMIT TRAN",
        "BEGIN TRAN",
        B,
        "ROLLBACK TRAN",
        "BEGIN TRAN",
        writes="a 1, b 1 failed",
    ),
    "one_batch": call(
        f"BEGIN TRAN; {A}; COMMIT TRAN; BEGIN TRAN; {B}; ROLLBACK TRAN",
    ),
    "one_batch_rolled_back": call(f"BEGIN TRAN; {A}; ROLLBACK TRAN", writes="a 1 failed"),
    "no_semicolons": call(f"BEGIN TRANSACTION\n{A}\nROLLBACK TRANSACTION", writes="a 1 failed"),
    "nocount_first": call(f"SET NOCOUNT ON; BEGIN TRAN; {A}; ROLLBACK", writes="a 1 failed"),
    "xact_abort_begin": call(
        f"SET XACT_ABORT ON; BEGIN TRAN; {A}", B, "ROLLBACK", writes="a 1 failed, b 1 failed"
    ),
    "begun_behind": call(f"{A}; BEGIN TRAN", B, "ROLLBACK TRAN"),
    "savepoint": call(
        "BEGIN TRAN", A, "SAVE TRAN sp", B, "ROLLBACK TRAN sp", "COMMIT", writes="a 1, b 1 failed"
    ),
    "nested": call("BEGIN TRAN", "BEGIN TRAN", A, "COMMIT", "ROLLBACK", writes="a 1 failed"),
    "rollback_then_more": call("BEGIN TRAN", A, "ROLLBACK", B, writes="a 1 failed, b 1"),
    "try_ok": call(
        f"BEGIN TRY BEGIN TRAN; {A}; COMMIT; END TRY BEGIN CATCH ROLLBACK; THROW; END CATCH",
        writes="a 1",
        runs="1 ok",
    ),
    "autocommitted_in_other_file": call(
        A, FILE, "BEGIN TRAN", B, "ROLLBACK", writes="a 1, b 1 failed"
    ),
    "begun_in_other_file": call(
        "BEGIN TRAN", A, FILE, B, "ROLLBACK", writes="a 1 failed, b 1 failed"
    ),
    "implicit_off": call(
        IMPLICIT, A, "COMMIT", "SET IMPLICIT_TRANSACTIONS OFF", B, ODBC_ROLLBACK, writes="a 1, b 1"
    ),
    "guarded_by_hand": call(
        "BEGIN TRAN",
        A,
        "IF @@TRANCOUNT > 0 COMMIT",
        B,
        "IF @@TRANCOUNT > 0 ROLLBACK",
        writes="a 1, b 1",
    ),
    "driver_known_by_its_commit": call(A, ODBC_COMMIT, B, ODBC_ROLLBACK, writes="a 1, b 1 failed"),
    "unclear_end": call(
        "BEGIN TRAN", A, "IF @@ERROR = 0 COMMIT ELSE ROLLBACK", LOGOUT, writes="a 1"
    ),
    "savepoint_of_sqlalchemy": call(
        IMPLICIT,
        "SAVE TRANSACTION sa_savepoint_1",
        A,
        "ROLLBACK TRANSACTION sa_savepoint_1",
        "SAVE TRANSACTION sa_savepoint_2",
        B,
        ODBC_COMMIT,
        writes="a 1 failed, b 1",
    ),
    "try_caught": call(
        stmt("BEGIN TRAN"),
        stmt(A),
        error(),
        stmt(B),
        stmt("ROLLBACK TRAN"),
        stmt("INSERT INTO errors VALUES (1)"),
        batch(
            f"BEGIN TRY BEGIN TRAN; {A}; {B}; COMMIT TRAN; END TRY BEGIN CATCH ROLLBACK TRAN; "
            "INSERT INTO errors VALUES (1); END CATCH"
        ),
        writes="a 1 failed, b 1 failed, errors 1",
    ),
    "try_committed": call(
        stmt("BEGIN TRAN"),
        stmt(A),
        stmt("COMMIT TRAN"),
        batch(
            f"BEGIN TRY BEGIN TRAN; {A}; COMMIT TRAN; END TRY BEGIN CATCH ROLLBACK TRAN; END CATCH"
        ),
        writes="a 1",
        runs="1 ok",
    ),
    "procedure_rolls_back": call(
        inside("load", "BEGIN TRAN"),
        inside("load", A),
        inside("load", "ROLLBACK TRAN"),
        "EXEC load",
        writes="a 1 failed",
    ),
    "batch_ends_aborted": call(
        "BEGIN TRAN", batch(A, result="abort"), "ROLLBACK", B, writes="a 1 failed, b 1"
    ),
    "reset_with_open": call("BEGIN TRAN", A, RESET, B, writes="a 1 failed, b 1"),
    "logout_with_open": call("BEGIN TRAN", A, LOGOUT, writes="a 1 failed"),
    "logout_committed": call("BEGIN TRAN", A, "COMMIT", LOGOUT, writes="a 1"),
    "rolled_back_temporary": call(
        "BEGIN TRAN",
        "SELECT * INTO #t FROM x",
        "ROLLBACK",
        "CREATE TABLE #t (i int)",
        "INSERT INTO #t SELECT * FROM y",
        "INSERT INTO a SELECT * FROM #t",
        flows="y > a",
    ),
    # failures
    "failed_batch": call(batch(A, result="error"), B, writes="a 1 failed, b 1", flows="y > b"),
    "failed_last": call(A, batch(B, result="error"), runs="1 failed", flows="x > a"),
    "failed_statement": call(
        stmt(A, request=1),
        error(request=1),
        stmt(B, request=1),
        batch(f"{A}; {B}", result="error", request=1),
        writes="a 1, b 1 failed",
        flows="x > a",
    ),
    "failed_without_its_event": call(
        stmt(A, request=1),
        error(request=1),
        batch(f"{A}; {B}", result="error", request=1),
        flows="x > a",
    ),
    "warning": call(error(severity=10), A, writes="a 1", runs="1 ok"),
    "error_in_procedure": call(
        inside("load", A),
        error(),
        inside("load", B),
        batch("EXEC load", result="error"),
        writes="a 1, b 1 failed",
    ),
    "error_of_last_request": call(error(), batch("SELEC 1", result="error"), A, writes="a 1"),
    "abort": call(batch(A, result="abort"), writes="a 1 failed", flows="", runs="1 failed"),
    "retried": call(
        batch(A, result="error"), A, writes="a 1, a 1 failed", flows="x > a", runs="1 ok"
    ),
    "only_error_known": call(
        error(), rpc("exec sp_executesql N'DELETE FROM t'", result="error"), writes="t 1 failed"
    ),
    # levels
    "all_levels": call(
        Sent("batch begins", f"{A}; {B}", request=1),
        stmt(A, request=1),
        stmt(B, request=1),
        batch(f"{A}; {B}", request=1),
        writes="a 1, b 1",
    ),
    "all_levels_without_activity": call(
        Sent("batch begins", f"{A}; {B}"),
        Sent("statement begins", A),
        stmt(A),
        Sent("statement begins", B),
        stmt(B),
        batch(f"{A}; {B}"),
        writes="a 1, b 1",
    ),
    "branch": call(
        stmt("IF 1=0", request=1),
        stmt(B, request=1),
        batch(f"IF 1=0 {A} ELSE {B}", request=1),
        writes="b 1",
        flows="y > b",
    ),
    "loop": call(
        *(stmt(A, request=1) for _ in range(3)),
        batch(f"DECLARE @i int=0 WHILE @i<3 BEGIN {A} SET @i+=1 END", request=1),
        writes="a 3",
    ),
    "same_batch_again": call(
        *(one for n in range(3) for one in (stmt(A, request=n), batch(A, request=n))), writes="a 3"
    ),
    "rpc_and_inside": call(
        inside("", A, object="PREPARED"), rpc(f"exec sp_executesql N'{A}'"), writes="a 1"
    ),
    "starting_only": call(Sent("batch begins", A), writes="a 1 unknown", runs="1 unknown"),
    "rpc_starting_only": call(
        Sent("rpc begins", f"exec sp_executesql N'{A}'"), writes="a 1 unknown"
    ),
    "nested_procedures": call(
        inside("inner", A),
        inside("outer", "EXEC inner"),
        "EXEC outer",
        writes="a 1",
        inside="a inner",
    ),
    "dynamic_in_procedure": call(
        *(inside("", A, object="ADHOC"), inside("load", "EXEC (@sql)"), "EXEC load"),
        writes="a 1",
        hidden="",
    ),
    "shown_call": call(
        inside("shown_p", "SELECT * FROM x"), "EXEC shown_p", reads="x 1", hidden=""
    ),
    "hidden_call": call("EXEC hidden_p", reads="", writes="", hidden="EXEC hidden_p"),
    "hidden_call_beside_a_shown_one": call(
        inside("shown_q", A),
        "EXEC dbo.shown_q",
        "EXEC dbo.hidden_q 5",
        hidden="EXEC dbo.hidden_q ?",
    ),
    "hidden_dynamic_beside_a_shown_call": call(
        "EXEC (@sql)", inside("shown_q", A), "EXEC shown_q", writes="a 1", hidden="EXEC (@sql)"
    ),
    "hidden_dynamic_in_a_shown_call": call(
        inside("shown_q", A), inside("shown_q", "EXEC (@sql)"), "EXEC shown_q", hidden="EXEC (@sql)"
    ),
    "hidden_dynamic_beside_a_shown_one": call(
        *(inside("", A, object="ADHOC", request=1), batch("EXEC (@sql)", request=1)),
        batch("EXEC (@other)", request=2),
        hidden="EXEC (@other)",
    ),
    "hidden_call_that_fills": call(
        "INSERT INTO a EXEC hidden_q", writes="a 1", hidden="EXEC hidden_q"
    ),
    "shown_call_that_fills": call(
        inside("shown_q", "SELECT * FROM x"), "INSERT INTO a EXEC shown_q", hidden=""
    ),
    "inferred_beside_a_shown_call": call(
        *(inside("shown_q", A), "EXEC shown_q", "EXEC dbo.refresh"),
        writes="a 1, totals 1",
        inside="a shown_q, totals Shop.dbo.refresh",
        hidden="",
    ),
    "prepared_before": call(
        execute(91), hidden="EXEC sp_execute 91 -- session 51", unresolved="91 51"
    ),
    "dynamic_shown_twice": call(inside("", A, object="ADHOC"), f"EXEC ('{A}')", writes="a 1"),
    "trigger": call(
        inside("tr", "INSERT INTO audit SELECT * FROM inserted", object="trigger"),
        "INSERT INTO a SELECT * FROM x",
        flows="x > a",
        reads="x 1",
    ),
    # datasets
    "insert_exec": call(
        inside("list", "SELECT * FROM src"), "INSERT INTO dst EXEC list", flows="src > dst"
    ),
    "insert_exec_inferred": call("INSERT INTO dst EXEC dbo.list", flows="listed > dst"),
    "insert_exec_temporary": call(
        "CREATE TABLE #l (i int); INSERT INTO #l EXEC dbo.list; INSERT INTO dst SELECT * FROM #l",
        flows="listed > dst",
    ),
    "use": call(
        batch("USE Other", database="Other"),
        batch(A, database="Other"),
        flows="Other.dbo.x > Other.dbo.a",
    ),
    "use_without_action": call(
        batch("USE Other", database=None),
        batch(A, database=None),
        flows="Other.dbo.x > Other.dbo.a",
    ),
    "use_inside": call(
        "SELECT 1",
        batch(f"{A}; USE Other; {B}", database="Other"),
        flows="x > a, Other.dbo.y > Other.dbo.b",
    ),
    "use_inside_first": call(
        batch(f"{A}; {DW}; USE Other; {B}", database="Other"),
        flows="Other.dbo.y > Other.dbo.b, Dw.dbo.s > Dw.dbo.f",
    ),
    "use_begins_first": call(
        batch(f"USE Other; {B}", database="Other"), flows="Other.dbo.y > Other.dbo.b"
    ),
    "use_inside_after_beginning": call(
        Sent("batch begins", f"{A}; USE Other; {B}"),
        batch(f"{A}; USE Other; {B}", database="Other"),
        flows="x > a, Other.dbo.y > Other.dbo.b",
    ),
    "use_inside_after_login": call(
        LOGIN,
        batch(f"{A}; USE Other; {B}", database="Other"),
        flows="x > a, Other.dbo.y > Other.dbo.b",
    ),
    "use_inside_another_connection": call(
        batch("SELECT 1", database="Third"),
        Sent("logout", database="Third"),
        batch(f"{A}; USE Other; {B}", database="Other"),
        flows="Other.dbo.y > Other.dbo.b",
    ),
    "use_inside_with_few_statements": call(
        "SELECT 1",
        stmt("SELECT 2", database="Other"),
        batch(f"{A}; USE Other; {B}", database="Other"),
        flows="x > a, Other.dbo.y > Other.dbo.b",
    ),
    "use_in_statements": call(
        stmt(A),
        stmt("USE Other", database="Other"),
        stmt(B, database="Other"),
        batch(f"{A}; USE Other; {B}", database="Other"),
        flows="x > a, Other.dbo.y > Other.dbo.b",
    ),
    "quoted_on": call(QUOTES_ON, 'INSERT INTO a (n) SELECT "m" FROM x', columns="a.n < x.m"),
    "quoted_off": call(
        QUOTES_OFF, 'INSERT INTO a (n, o) SELECT "geheim", p FROM x', columns="a.o < x.p"
    ),
    "quoted_unknown": call('INSERT INTO a (n, o) SELECT "geheim", p FROM x', columns="a.o < x.p"),
    "quoted_in_two_events": call(
        QUOTES_ON,
        inside("", 'INSERT INTO a (n) SELECT "m" FROM x', object="adhoc"),
        rpc("exec sp_executesql N'INSERT INTO a (n) SELECT \"m\" FROM x'"),
        writes="a 1",
        columns="a.n < x.m",
    ),
    "quoted_in_other_file": call(
        QUOTES_ON, FILE, 'INSERT INTO a (n, o) SELECT "m", p FROM x', columns="a.o < x.p"
    ),
    "names": call(
        "INSERT INTO Dw.dbo.f SELECT * FROM Dw..x JOIN stage.y ON 1=1 "
        "JOIN [LNK].Crm.dbo.[The Orders] o ON 1=1",
        flows="Dw.dbo.x > Dw.dbo.f, stage.y > Dw.dbo.f, mssql://LNK/Crm.dbo.The Orders > Dw.dbo.f",
    ),
    "linked_write": call(
        "INSERT INTO LNK.Crm.dbo.t SELECT * FROM x", flows="x > mssql://LNK/Crm.dbo.t"
    ),
    "openquery": call(
        "INSERT INTO a SELECT * FROM OPENQUERY(LNK, 'SELECT * FROM Crm.dbo.t')",
        flows="mssql://LNK/Crm.dbo.t > a",
    ),
    "exec_at": call(
        "EXEC ('INSERT INTO Crm.dbo.t SELECT * FROM Crm.dbo.s') AT LNK",
        flows="mssql://LNK/Crm.dbo.s > mssql://LNK/Crm.dbo.t",
    ),
    "case": call(
        "INSERT INTO T1 SELECT * FROM X", "INSERT INTO b SELECT * FROM t1", flows="x > t1, t1 > b"
    ),
    "linked_port": call(
        "INSERT INTO a SELECT * FROM OPENROWSET('SQLNCLI', "
        "'Server=tcp:crm,1444;Database=Crm;Uid=u', 'SELECT * FROM t')",
        flows="mssql://crm:1444/Crm.dbo.t > a",
    ),
    "other_database": call(
        "EXEC Dw..sp_executesql N'INSERT INTO f SELECT * FROM Shop..x'; "
        "INSERT INTO a SELECT * FROM y",
        flows="x > Dw.dbo.f, y > a",
    ),
    "other_database_named": call(
        "EXEC [Dw].sys.sp_executesql @stmt = "
        "N'SELECT i INTO #t FROM y; INSERT INTO f SELECT i FROM #t'",
        columns="dw.dbo.f.i < dw.dbo.y.i inferred",
    ),
    "places": call(
        "CREATE TABLE placed1 (p int, q int)",
        "INSERT INTO placed1 SELECT a, b FROM x",
        columns="placed1.p < x.a, placed1.q < x.b",
    ),
    "places_of_query": call(
        "SELECT a AS p INTO placed2 FROM y",
        "INSERT placed2 SELECT b FROM x",
        columns="placed2.p < x.b, placed2.p < y.a",
    ),
    "places_beside_identity": call(
        "CREATE TABLE placed3 (k int IDENTITY(1, 1), p int, c AS p + 1)",
        "INSERT placed3 SELECT a FROM x",
        columns="placed3.p < x.a",
    ),
    "places_altered": call(
        "CREATE TABLE placed5 (i int, v int)",
        "INSERT INTO placed5 SELECT p, q FROM x",
        "ALTER TABLE placed5 DROP COLUMN i",
        "ALTER TABLE placed5 ADD w int",
        "INSERT INTO placed5 SELECT r, s FROM x",
        flows="x > placed5",
        columns="placed5.i < x.p, placed5.r < x.r inferred, placed5.s < x.s inferred, "
        "placed5.v < x.q",
    ),
    # The list names a column of placed3, which has others that nobody knows.
    "places_unknown": call(
        "SELECT * INTO placed4 FROM z",
        "INSERT placed4 (a) SELECT a FROM y",
        "INSERT placed4 SELECT b FROM x",
        columns="placed4.* < z.*, placed4.a < y.a, placed4.b < x.b inferred",
    ),
    "use_in_dynamic": call(
        "EXEC ('USE Dw; INSERT INTO f SELECT * FROM y'); INSERT INTO a SELECT * FROM x",
        flows="Dw.dbo.y > Dw.dbo.f, x > a",
    ),
    "use_alone_in_dynamic": call("EXEC ('USE Dw'); INSERT INTO a SELECT * FROM x", flows="x > a"),
    "use_in_dynamic_twice": call(
        "EXEC ('USE Dw; INSERT INTO f SELECT * FROM y; "
        "EXEC (''USE Crm; INSERT INTO g SELECT * FROM z''); INSERT INTO h SELECT * FROM y')",
        flows="Dw.dbo.y > Dw.dbo.f, Crm.dbo.z > Crm.dbo.g, Dw.dbo.y > Dw.dbo.h",
    ),
    "use_after_use": call(
        "USE Crm; EXEC ('USE Dw; INSERT INTO f SELECT * FROM y'); INSERT INTO g SELECT * FROM z",
        flows="Dw.dbo.y > Dw.dbo.f, Crm.dbo.z > Crm.dbo.g",
    ),
    "use_behind_use": call(
        "EXEC ('USE Dw; DELETE FROM f'); EXEC ('INSERT INTO a SELECT * FROM y; USE Dw')",
        flows="y > a",
    ),
    "use_unknown": call(
        "EXEC ('USE ' + @db + '; INSERT INTO f SELECT * FROM y; "
        "INSERT INTO Dw.dbo.g SELECT * FROM z')",
        writes="dw.dbo.g 1",
        reads="",
    ),
    "rows_of_other_database": call(
        "INSERT INTO a EXEC Dw.dbo.sp_executesql N'SELECT * FROM y'", flows="Dw.dbo.y > a"
    ),
    "synonym": call("INSERT INTO a SELECT * FROM dbo.s_away", flows="Dw.dbo.far > a"),
    "synonym_linked": call(
        "INSERT INTO a SELECT * FROM s_linked", flows="mssql://LNK/Crm.dbo.t > a"
    ),
    "synonym_made": call(
        "DROP SYNONYM IF EXISTS dbo.made; CREATE SYNONYM dbo.made FOR Dw.dbo.f; "
        "INSERT INTO made SELECT * FROM x",
        "INSERT INTO a SELECT * FROM dbo.made; DROP SYNONYM dbo.made",
        flows="x > Dw.dbo.f, Dw.dbo.f > a",
    ),
    "synonym_switched": call(
        "CREATE SYNONYM switched FOR Dw.dbo.f1",
        "DROP SYNONYM switched; CREATE SYNONYM switched FOR Dw.dbo.f2",
        "INSERT INTO a SELECT * FROM switched",
        flows="Dw.dbo.f1 > switched, Dw.dbo.f2 > switched, switched > a",
    ),
    "synonym_written": call("INSERT INTO dbo.s_away SELECT * FROM x", flows="x > Dw.dbo.far"),
    "view_made": call(
        "CREATE VIEW v_made AS SELECT * FROM x",
        "INSERT INTO a SELECT * FROM v_made",
        flows="x > a",  # the view only passes x on
    ),
    "view_of_its_own": call(
        "CREATE VIEW v_own AS SELECT DISTINCT * FROM x",
        "INSERT INTO a SELECT * FROM v_own",
        flows="x > v_own, v_own > a",
    ),
    "procedure_made": call(
        "CREATE PROCEDURE p_made AS INSERT INTO a SELECT * FROM x", flows="", writes=""
    ),
    "procedure_inferred": call("EXEC dbo.refresh", flows="report > totals"),
    "procedure_inferred_rpc": call(rpc("exec dbo.refresh"), flows="report > totals"),
    "procedure_failed": call(batch("EXEC dbo.refresh", result="error"), flows=""),
    "functions": call(
        "INSERT INTO a SELECT value FROM STRING_SPLIT('a,b', ',') "
        "CROSS APPLY OPENJSON(@j) WITH (i int)",
        flows="",
        reads="",
        writes="a 1",
    ),
    "cte": call("WITH c AS (SELECT * FROM x) INSERT INTO a SELECT * FROM c", flows="x > a"),
    "cte_update": call("WITH c AS (SELECT * FROM a) UPDATE c SET i = 1", writes="a 1"),
    "alias_update": call(
        "UPDATE o SET i = s.i FROM a o JOIN x s ON s.k = o.k", flows="x > a", writes="a 1"
    ),
    "alias_delete": call("DELETE o FROM a o JOIN x s ON s.k = o.k", writes="a 1"),
    "delete_output": call("DELETE FROM a OUTPUT deleted.* INTO archive", flows="a > archive"),
    "merge": call(
        "MERGE INTO a AS t USING (SELECT * FROM x) s ON s.i=t.i WHEN MATCHED THEN UPDATE "
        "SET t.b=s.b WHEN NOT MATCHED THEN INSERT (i) VALUES (s.i) "
        "OUTPUT $action, inserted.i INTO log_t;",
        writes="a 1, log_t 1",
    ),
    "composable": call(
        "INSERT INTO h SELECT i FROM (MERGE a t USING x s ON s.i=t.i WHEN MATCHED "
        "THEN UPDATE SET b=1 OUTPUT inserted.i) AS m",
        writes="a 1, h 1",
    ),
    "bulk_insert": call("BULK INSERT a FROM '/data/in.csv' WITH (FORMAT='CSV')", writes="a 1"),
    "values_only": call("INSERT INTO a VALUES (1)", flows="", writes="a 1"),
    "memory_in_order": call(
        "INSERT INTO early VALUES (1)",
        "SELECT * FROM src",
        "INSERT INTO late VALUES (1)",
        flows="src > late",
    ),
    # columns through a task's memory
    "memory_pandas": call(
        prepexec(
            1,
            "SELECT [s].[id] AS [s_id], s.amount FROM [dbo].[src] AS [s] WHERE [s].[day] >= @P1",
        ),
        *(
            prepexec(2, "INSERT INTO [t] ([s_id], [Amount], [at]) VALUES (@P1, @P2, GETDATE())")
            for _ in range(3)
        ),
        flows="src > t",
        columns="t.s_id < src.id inferred, t.amount < src.amount inferred, t.* < src.day inferred",
    ),
    "memory_multi": call(
        "SELECT id, amount FROM src",
        prepexec(1, "INSERT INTO t (id, amount) VALUES (@P1, @P2), (@P3, @P4)"),
        columns="t.id < src.id inferred, t.amount < src.amount inferred",
    ),
    "memory_fast_executemany": call(
        "SELECT id, amount FROM src",
        rpc("exec sp_describe_undeclared_parameters N'INSERT INTO t (id, n) VALUES (@P1, @P2)'"),
        prepare(2, "INSERT INTO t (id, n) VALUES (@P1, @P2)"),
        *(execute(2, request=1) for _ in range(5)),
        unprepare(2),
        columns="t.id < src.id inferred",
    ),
    "memory_returning": call(
        "SELECT id, amount FROM src",
        rpc(
            "exec sp_executesql N'INSERT INTO t (id, amount) OUTPUT inserted.k SELECT p0, p1 FROM "
            "(VALUES (@P1, @P2, 0), (@P3, @P4, 1)) AS imp_sen(p0, p1, sen_counter) "
            "ORDER BY sen_counter',N'@P1 int',1"
        ),
        columns="t.id < src.id inferred, t.amount < src.amount inferred",
    ),
    "memory_pymssql": call(
        "SELECT id, name FROM src WHERE day = '2026-11-20'",
        "INSERT INTO t (id, name) VALUES (1, N'Smith')",
        "INSERT INTO t (id, name) VALUES (2, NULL)",
        columns="t.id < src.id inferred, t.name < src.name inferred, t.* < src.day inferred",
    ),
    "memory_bcp": call(
        "SELECT id, name FROM src",
        "INSERT BULK [dbo].[t] ([id] int, [Name] nvarchar(50) COLLATE Latin1_General_CI_AS) "
        "WITH (TABLOCK, CHECK_CONSTRAINTS)",
        columns="t.id < src.id inferred, t.name < src.name inferred",
    ),
    "memory_staged": call(
        "SELECT id, amount FROM src",
        "CREATE TABLE #s (id int, amount money)",
        prepexec(1, "INSERT INTO #s (id, amount) VALUES (@P1, @P2)"),
        "MERGE t USING #s AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET total = s.amount "
        "WHEN NOT MATCHED THEN INSERT (id, total) VALUES (s.id, s.amount);",
        columns="t.id < src.id inferred, t.total < src.amount inferred, t.* < src.id inferred",
    ),
    "memory_update": call(
        "SELECT id, amount FROM src",
        prepexec(1, "UPDATE t SET amount = @P1, changed = GETDATE() WHERE id = @P2"),
        columns="t.amount < src.amount inferred, t.* < src.id inferred",
    ),
    "memory_star": call(
        "SELECT * FROM x",
        "SELECT * FROM src",
        "INSERT INTO t (i, id) VALUES (1, 2)",
        flows="x > t, src > t",
        columns="t.i < x.i inferred",
    ),
    "memory_in_order_of_columns": call(
        "INSERT INTO log (id) VALUES (1)",
        "SELECT id FROM src",
        "INSERT INTO log (id) VALUES (1)",
        columns="",
    ),
    "memory_of_two_runs": call(
        batch("SELECT id FROM src", run="1"),
        batch("INSERT INTO t (id) VALUES (1)", run="2", session=52),
        columns="",
    ),
    "memory_of_a_procedure": call(
        "SELECT id FROM src",
        inside("load", "INSERT INTO log (id) VALUES (1)", request=2),
        batch("EXEC load", request=2),
        columns="",
    ),
    "self": call("INSERT INTO a SELECT * FROM a", flows="", writes="a 1"),
    "switch": call(
        "INSERT INTO stage_s SELECT * FROM x",
        "ALTER TABLE stage_s SWITCH TO a PARTITION 3",
        flows="x > stage_s, stage_s > a",
        columns="a.* < stage_s.*, stage_s.i < x.i inferred",
    ),
    "renamed": call(
        "SELECT * INTO a_new FROM x",
        "EXEC sp_rename 'dbo.a', 'a_old'",
        "EXEC sp_rename 'dbo.a_new', 'a'",
        "DROP TABLE a_old",
        flows="x > a",
        columns="a.i < x.i",
        former="a was a_new",
    ),
    "built_then_renamed": call(
        "SELECT o.id, o.amount INTO dbo.stage_r FROM dbo.src AS o; "
        "EXEC sp_rename 'dbo.stage_r','final'",
        flows="src > final",
        columns="final.amount < src.amount, final.id < src.id",
        former="final was stage_r",
    ),
    "switched_from_a_table_of_the_run": call(
        "CREATE TABLE stage_p (i int)",
        "INSERT INTO stage_p (i) SELECT i FROM x",
        "ALTER TABLE stage_p SWITCH TO a PARTITION 3",
        "DROP TABLE stage_p",
        flows="x > a",
        columns="a.i < x.i",
    ),
    "truncate": call(
        "TRUNCATE TABLE stage_t",
        "INSERT INTO stage_t SELECT * FROM x",
        "INSERT INTO a SELECT * FROM stage_t",
        flows="x > stage_t, stage_t > a",
    ),
    "made_and_dropped": call(
        "IF OBJECT_ID('w') IS NOT NULL DROP TABLE w",
        "SELECT * INTO w FROM x",
        "INSERT INTO a SELECT * FROM w",
        "DROP TABLE w",
        flows="x > a",
    ),
    "made_and_kept": call(
        "DROP TABLE IF EXISTS k",
        "SELECT * INTO k FROM x",
        "INSERT INTO a SELECT * FROM k",
        flows="x > k, k > a",
    ),
    "system": call(
        "USE master",
        batch("SELECT name FROM sys.databases", database="master"),
        batch("EXEC msdb.dbo.sp_start_job 'x'", database="master"),
        flows="",
        reads="",
        writes="",
    ),
    "system_read": call("INSERT INTO a SELECT name FROM sys.tables", writes="a 1", reads=""),
    # temporary tables
    "temporary": call("SELECT * INTO #t FROM x", "INSERT INTO a SELECT * FROM #t", flows="x > a"),
    "temporary_chain": call(
        "SELECT * INTO #t FROM x",
        "SELECT * INTO #u FROM #t JOIN y ON 1=1",
        "INSERT INTO a SELECT * FROM [#u]",
        flows="x > a, y > a",
    ),
    "temporary_columns": call(
        "SELECT s.id, s.name INTO #t FROM x s",
        "INSERT INTO a (p, q) SELECT * FROM #t",
        flows="x > a",
        columns="a.p < x.id, a.q < x.name",
    ),
    "temporary_columns_chain": call(
        "SELECT s.id INTO #t FROM x s",
        "SELECT *, 1 AS one INTO #u FROM #t",
        "INSERT INTO a (p, q) SELECT * FROM #u",
        columns="a.p < x.id",
    ),
    "bulk_file": call(
        "BULK INSERT a FROM 'https://acc.blob.core.windows.net/lake/in/x.csv'",
        flows="abfss://lake@acc.dfs.core.windows.net//in/x.csv > a",
        writes="a 1",
    ),
    "external_table": call(
        "CREATE EXTERNAL TABLE a WITH (LOCATION = 'https://acc.blob.core.windows.net/lake/out/x/', "
        "FILE_FORMAT = f) AS SELECT s.id AS p FROM x s",
        "INSERT INTO b (q) SELECT r.p FROM OPENROWSET(BULK "
        "'https://acc.blob.core.windows.net/lake/out/x/*.parquet', FORMAT = 'PARQUET') AS r",
        flows="x > a, x > abfss://lake@acc.dfs.core.windows.net//out/x, "
        "abfss://lake@acc.dfs.core.windows.net//out/x > b",
        columns="a.p < x.id, abfss://lake@acc.dfs.core.windows.net//out/x.p < x.id, "
        "b.q < abfss://lake@acc.dfs.core.windows.net//out/x.p",
    ),
    "temporary_tempdb": call(
        "CREATE TABLE tempdb..#t (i int)",
        "INSERT #t SELECT * FROM x",
        "INSERT INTO a SELECT * FROM tempdb..#t",
        flows="x > a",
    ),
    "temporary_two_sessions": call(
        batch("SELECT * INTO #t FROM x", run="r1"),
        batch("SELECT * INTO #t FROM y", run="r1", session=52),
        batch("INSERT INTO a SELECT * FROM #t", run="r1"),
        batch("INSERT INTO b SELECT * FROM #t", run="r1", session=52),
        flows="x > a, y > b",
        runs="1 ok",
    ),
    "temporary_from_procedure": call(
        "CREATE TABLE #t (i int)",
        inside("fill", "INSERT INTO #t SELECT * FROM x"),
        "EXEC fill",
        "INSERT INTO a SELECT * FROM #t",
        flows="x > a",
    ),
    "temporary_read_in_procedure": call(
        "SELECT * INTO #t FROM x",
        inside("use", "INSERT INTO a SELECT * FROM #t"),
        "EXEC use_it",
        flows="x > a",
    ),
    "temporary_of_procedure": call(
        inside("p", "CREATE TABLE #t (i int)"),
        inside("p", "INSERT INTO #t SELECT * FROM x"),
        inside("p", "INSERT INTO a SELECT * FROM #t"),
        "EXEC p",
        inside("q", "CREATE TABLE #t (i int)"),
        inside("q", "INSERT INTO #t SELECT * FROM y"),
        inside("q", "INSERT INTO b SELECT * FROM #t"),
        "EXEC q",
        flows="x > a, y > b",
    ),
    "temporary_prepared": call(
        "SELECT * INTO #t FROM x",
        prepexec(1, "INSERT INTO a SELECT * FROM #t WHERE i=@P1"),
        execute(1),
        flows="x > a",
    ),
    "temporary_from_memory": call(
        "SELECT * FROM x",
        "CREATE TABLE #t (i int)",
        prepexec(1, "INSERT INTO #t VALUES (@P1)"),
        execute(1),
        "INSERT INTO a SELECT * FROM #t",
        flows="x > a",
    ),
    "temporary_after_reset": call(
        "SELECT * INTO #t FROM x",
        RESET,
        "CREATE TABLE #t (i int)",
        "INSERT INTO a SELECT * FROM #t",
        flows="",
    ),
    "temporary_other_file": call(
        "SELECT * INTO #t FROM x", FILE, "INSERT INTO a SELECT * FROM #t", flows="x > a"
    ),
    "temporary_deleted": call(
        "SELECT * INTO #t FROM x", "DELETE FROM #t", "INSERT INTO a SELECT * FROM #t"
    ),
    "variable": call(
        "DECLARE @t TABLE (i int); INSERT INTO @t SELECT * FROM x; INSERT INTO a SELECT * FROM @t",
        flows="x > a",
    ),
    "variable_statements": call(
        stmt("INSERT INTO @t SELECT * FROM x", request=1),
        stmt("INSERT INTO a SELECT * FROM @t", request=1),
        batch(
            "DECLARE @t TABLE (i int); INSERT INTO @t SELECT * FROM x; "
            "INSERT INTO a SELECT * FROM @t",
            request=1,
        ),
        flows="x > a",
    ),
    "variable_of_procedure": call(
        inside("p", "INSERT INTO @t SELECT * FROM x"),
        inside("p", "INSERT INTO a SELECT * FROM @t"),
        "EXEC p",
        flows="x > a",
    ),
    "variable_output": call(
        "DECLARE @o TABLE (i int); UPDATE a SET i = 1 OUTPUT deleted.i INTO @o;"
        " INSERT INTO log_o SELECT i FROM @o",
        flows="a > log_o",
    ),
    # handles
    "handle_other_file": call(prepare(7, A), FILE, execute(7), execute(7), writes="a 2"),
    "handle_unknown": call(execute(901), execute(901), writes="", unresolved="901 51"),
    "handle_unprepared": call(
        prepare(902, A),
        execute(902),
        unprepare(902),
        execute(902),
        writes="a 1",
        unresolved="902 51",
    ),
    "handle_unprepared_in_other_file": call(
        prepare(7, A), FILE, execute(7), unprepare(7), writes="a 1"
    ),
    "handle_again": call(
        prepare(7, A), execute(7), unprepare(7), prepare(7, B), execute(7), writes="a 1, b 1"
    ),
    "handle_of_other_session": call(
        prepare(903, A), execute(903, session=52), writes="", unresolved="903 52"
    ),
    "handle_failed": call(
        prepare(7, A), execute(7, result="error"), execute(7), writes="a 1, a 1 failed"
    ),
    "handle_after_reset": call(
        prepare(904, A), RESET, execute(904), writes="", unresolved="904 51"
    ),
    "handle_of_procedure": call(
        rpc("declare @p1 int set @p1=3 exec sp_prepexecrpc @p1 output,N'dbo.refresh',7"),
        flows="report > totals",
    ),
    # runs
    "run_named": call(batch(A, run="n1"), FILE, batch(B, run="n1", session=52), runs="1 ok"),
    "runs_of_sessions": call(A, batch(A, session=52), runs="2 ok", writes="a 2"),
    "run_idle": call(A, batch(A, after=3500), batch(A, after=3700), runs="2 ok"),
    "run_reconnects": call(A, LOGOUT, LOGIN, A, runs="1 ok"),
    "run_logout": call(A, LOGOUT, Sent("login", after=60), A, runs="2 ok"),
    "run_reused_session": call(
        prepare(905, A),
        LOGOUT,
        Sent("login", after=600),
        execute(905),
        unresolved="905 51",
        runs="1 ok",
    ),
    "disordered": call(
        batch("INSERT INTO a SELECT * FROM #t", after=2, sequence=2),
        batch("SELECT * INTO #t FROM x", after=-1, sequence=1),
        flows="x > a",
    ),
    "disordered_at_one_time": call(
        batch("INSERT INTO a SELECT * FROM #t", sequence=9),
        batch("SELECT * INTO #t FROM x", after=0, sequence=8),
        flows="x > a",
    ),
    "no_sequence": call(
        batch("SELECT * INTO #t FROM x", sequence=0),
        batch("INSERT INTO a SELECT * FROM #t", sequence=0),
        flows="x > a",
    ),
    "no_session": call(batch(A, session=None), batch(B, session=None), flows="x > a, y > b"),
    "no_database": call(
        batch("INSERT INTO Dw.dbo.a SELECT * FROM Dw.dbo.x", database=None),
        flows="Dw.dbo.x > Dw.dbo.a",
    ),
    "wildcard": call(A, batch(B, application="pythonXtask::wildcard"), flows="x > a", runs="1 ok"),
    "noise": call(
        "SELECT SERVERPROPERTY('ProductVersion')",
        "SELECT schema_name()",
        "SELECT 1",
        rpc("exec sp_datatype_info_100 0"),
        "SELECT @@VERSION",
        "SELECT name FROM sys.objects WHERE type = 'U'",
        A,
        reads="x 1",
        writes="a 1",
        runs="1 ok",
    ),
    # more of what people write
    "comments": call(
        "/* FROM c1 */ INSERT INTO a -- INTO c2\nSELECT * FROM x -- FROM c3", flows="x > a"
    ),
    "quoted": call('INSERT INTO "a" SELECT * FROM [x y], "dbo"."z"', flows="x y > a, z > a"),
    "hints": call(
        "INSERT INTO a WITH (TABLOCK) SELECT * FROM x WITH (NOLOCK), y AS z (NOLOCK) "
        "OPTION (MAXDOP 1)",
        flows="x > a, y > a",
    ),
    "sets": call(
        "INSERT a SELECT i FROM x EXCEPT SELECT i FROM y UNION ALL SELECT i FROM z",
        flows="x > a, y > a, z > a",
    ),
    "pivot": call(
        "INSERT INTO a SELECT * FROM (SELECT k, v FROM x) s PIVOT (SUM(v) FOR k IN "
        "([q], [r])) p CROSS APPLY (SELECT TOP 1 i FROM y WHERE y.k = p.q) u",
        flows="x > a, y > a",
    ),
    "as_of": call(
        "INSERT INTO a SELECT * FROM x FOR SYSTEM_TIME AS OF '2026-01-01' AS h", flows="x > a"
    ),
    "file": call(
        "INSERT INTO a SELECT * FROM OPENROWSET(BULK '/data/in.csv', SINGLE_CLOB) AS f",
        writes="a 1",
    ),
    "insert_dynamic": call("INSERT INTO a EXEC ('SELECT * FROM x')", flows="x > a"),
    "insert_executesql": call("INSERT INTO a EXEC sp_executesql N'SELECT * FROM x'", flows="x > a"),
    "dynamic_variable": call(
        "DECLARE @s nvarchar(max) = N'INSERT INTO a SELECT * FROM x'; EXEC sp_executesql @s",
        flows="x > a",
        writes="a 1",
    ),
    "scalar": call(
        "DECLARE @n int = (SELECT MAX(i) FROM x); INSERT INTO a VALUES (@n)", flows="x > a"
    ),
    "scalar_selected": call(
        "DECLARE @n int; SELECT @n = MAX(i) FROM x; UPDATE a SET i = @n",
        flows="x > a",
        writes="a 1",
    ),
    "nothing_carried": call(
        "SELECT * FROM x",
        "CREATE TABLE a (i int)",
        "ALTER TABLE a ADD j int",
        "CREATE INDEX ix ON a (i)",
        "UPDATE STATISTICS a",
        "TRUNCATE TABLE a",
        "DELETE FROM a WHERE i = 3",
        "GRANT SELECT ON a TO reader",
        "EXEC sp_rename 'a.i', 'k', 'COLUMN'",
        flows="",
    ),
    "nothing_said": call(
        "SET NOCOUNT ON",
        "PRINT 'x'",
        "WAITFOR DELAY '00:00:01'",
        "DBCC OPENTRAN",
        "DECLARE @i int = 1",
        "RAISERROR('x', 10, 1)",
        "EXEC LNK.Db.dbo.p 1",
        writes="",
        reads="",
    ),
    "transfer": call(
        "INSERT INTO stage.a SELECT i FROM x",
        "ALTER SCHEMA dbo TRANSFER stage.a",
        flows="x > a",
        former="a was stage.a",
    ),
    "switch_away": call(
        "ALTER TABLE Dw.dbo.f SWITCH PARTITION 2 TO Dw.archive.f PARTITION 2",
        flows="Dw.dbo.f > Dw.archive.f",
        columns="dw.archive.f.* < dw.dbo.f.*",
    ),
    "swapped": call(
        "SELECT * INTO a_next FROM x",
        "BEGIN TRAN",
        "EXEC sp_rename 'a', 'a_last'",
        "EXEC sp_rename 'a_next', 'a'",
        "COMMIT",
        "DROP TABLE a_last",
        flows="x > a",
        columns="a.i < x.i",
        former="a was a_next",
    ),
    "databases_case": call(
        batch(A, database="SHOP"),
        batch("INSERT INTO b SELECT * FROM Shop.dbo.A"),
        flows="x > a, a > b",
    ),
    "mars": call(
        stmt(A, request=1),
        stmt(B, request=2),
        batch(A, request=1),
        batch(B, request=2),
        writes="a 1, b 1",
    ),
    "global_temporary": call(
        "SELECT * INTO ##g1 FROM x",
        batch(
            "INSERT INTO a SELECT * FROM ##g1",
            session=60,
            application="python_task::global_temporary/reader",
        ),
        flows="x > a",
    ),
    "global_temporary_of_two_runs": call(
        batch("SELECT * INTO ##g2 FROM x", run="1"),
        batch("INSERT INTO a SELECT * FROM ##g2", run="2", session=52),
        flows="x > a",
    ),
    "handed_on": call(
        "SELECT * INTO h FROM x",
        batch(
            "INSERT INTO a SELECT * FROM h", session=60, application="python_task::handed_on/reader"
        ),
        batch("DROP TABLE h", session=60, application="python_task::handed_on/reader"),
        flows="x > h, h > a",
    ),
    "made_and_dropped_twice": call(
        *("SELECT * INTO w2 FROM x", "INSERT INTO a SELECT * FROM w2", "DROP TABLE w2") * 2,
        flows="x > a",
    ),
    "bare_name": call(batch(A, application="python_task::bare_name::"), writes="a 1", runs="1 ok"),
    "run_with_colons": call(batch(A, run="2026-11-20::a:b"), writes="a 1", runs="1 ok"),
    "run_of_many_files": call(
        batch(A, run="r"),
        FILE,
        batch(B, run="r", result="error", session=70),
        batch(B, run="r", session=71),
        runs="1 ok",
        writes="a 1, b 1, b 1 failed",
    ),
    "if_exists_drop": call(
        "IF EXISTS (SELECT * FROM sys.objects WHERE name='a') DROP TABLE a", reads="", writes="a 1"
    ),
    "view_changed": call(
        "CREATE OR ALTER VIEW v_changed AS SELECT * FROM x",
        "ALTER VIEW v_changed AS SELECT * FROM y",
        flows="x > v_changed, y > v_changed",
    ),
    "procedure_unwraps": call(
        inside("load", "EXEC sp_executesql @s"),
        inside("", "INSERT INTO a SELECT * FROM x WHERE i=@i", object="PREPARED"),
        "EXEC load",
        writes="a 1",
        flows="x > a",
    ),
    "statement_of_procedure": call(
        stmt("EXEC load", request=1),
        inside("load", A, request=1),
        batch("EXEC load", request=1),
        writes="a 1",
        inside="a load",
    ),
    "cut_off": call("INSERT INTO a SELECT * FROM x WHERE n = 'brok", flows="x > a"),
    "function_inside": call(
        inside("f", "SELECT @r = MAX(i) FROM y", object="function"),
        "INSERT INTO a SELECT dbo.f(i) FROM x",
        writes="a 1",
    ),
    "cursor_in_batch": call(
        "DECLARE c CURSOR FOR SELECT i FROM x; OPEN c; FETCH NEXT FROM c INTO "
        "@i; WHILE @@FETCH_STATUS = 0 BEGIN INSERT INTO a VALUES (@i); FETCH "
        "NEXT FROM c INTO @i END; CLOSE c; DEALLOCATE c",
        flows="x > a",
        reads="x 1",
        writes="a 1",
    ),
    "variables_inside": call(
        inside("load", "DECLARE @t TABLE (i int), @k int"),
        inside("load", "DECLARE @m int = (SELECT MAX(i) FROM x), @n int = 5"),
        inside("load", "INSERT INTO a (i) VALUES (@n)"),
        inside("load", "INSERT INTO b (i) SELECT i FROM y WHERE n = @m"),
        inside("load", "INSERT INTO c (i) VALUES (@m)"),
        "EXEC load",
        gaps="c: what a variable holds is not followed",
    ),
    "parameters_inside": call(
        inside("load", "SET @n = @@ROWCOUNT"),
        inside("load", "SET @k = @day"),
        inside("load", "INSERT INTO a (i) VALUES (@n)"),
        inside("load", "INSERT INTO b (i) VALUES (@day)"),
        inside("load", "INSERT INTO c (i) VALUES (@k)"),
        "EXEC load 5",
        gaps="b: what a variable holds is not followed, c: what a variable holds is not followed",
    ),
    "variables_of_statements": call(
        stmt("FETCH NEXT FROM k INTO @m", request=1),
        stmt("INSERT INTO a (i) VALUES (@n)", request=1),
        stmt("INSERT INTO b (i) VALUES (@m)", request=1),
        batch("FETCH NEXT FROM k INTO @m INSERT INTO a (i) VALUES (@n) INSERT ...", request=1),
        gaps="b: what a variable holds is not followed",
    ),
    "same_text_without_a_gap": call(
        batch("DECLARE @m int = 5; INSERT INTO b (i) VALUES (@m)"), writes="b 1", gaps=""
    ),
    "module_in_dynamic": call(
        "EXEC ('CREATE PROCEDURE p AS INSERT INTO b SELECT * FROM y'); "
        "INSERT INTO a SELECT * FROM x",
        flows="x > a",
    ),
    "cut_at_4000": call(
        f"{'INSERT INTO a SELECT * FROM x; DELETE FROM Stag':>4000}", flows="x > a", writes="a 1"
    ),
    "not_cut": call(
        f"{'INSERT INTO a SELECT * FROM x; DELETE FROM stage':>3999}", writes="a 1, stage 1"
    ),
    "cut_behind_a_word": call(
        f"{'INSERT INTO a (i) SELECT i FROM x WHERE n = 5 ':>4000}",
        gaps="a: dynamic SQL not resolved",
    ),
    "tempdb_lasting": call(
        "SELECT * INTO tempdb.dbo.stage1 FROM x",
        "INSERT INTO a SELECT * FROM tempdb.dbo.stage1",
        flows="x > a",
    ),
}

# A transaction that is open at the end of a collect counts as committed.
IN_TWO_FILES = [
    name for name, case in CASES.items() if FILE in case.sent and name != "begun_in_other_file"
]


def events(task: str, sent: Iterable[Line]) -> Iterator[list[ExtendedEvent]]:
    """The events of a task, file by file."""
    found: list[ExtendedEvent] = []
    at, sequence = START, 0
    for line in sent:
        one = line if isinstance(line, Sent) else batch(line)
        if one == FILE:
            yield found
            found = []
            continue
        at += int(one.after * SECOND)
        sequence += 1
        found.append(_event(task, one, at, sequence if one.sequence is None else one.sequence))
    yield found


def _event(task: str, sent: Sent, at: int, sequence: int) -> ExtendedEvent:
    name, text_field = NAMES[sent.kind]
    application = f"python_task::{task}" + (f"::{sent.run}" if sent.run else "")
    actions: dict[str, Value] = {
        "client_app_name": sent.application or application,
        "client_hostname": "HOST-OF-SMITH",
        "username": r"CORP\smith",
        "server_principal_name": r"CORP\smith",
    }
    if sent.session is not None:
        actions["session_id"] = sent.session
    if sequence:
        actions["event_sequence"] = sequence
    if sent.database is not None:
        actions["database_name"] = sent.database
    if sent.request is not None:
        actions["attach_activity_id"] = f"{UUID(int=sent.request + 1)}-{sequence}"
    data: dict[str, Value] = {"duration": 10, "row_count": sent.rows}
    if sent.kind in ("batch", "rpc"):
        data["result"] = RESULTS[sent.result]
    if sent.kind == "inside":
        data["object_name"] = sent.procedure
        data["object_type"] = OBJECTS.get(sent.object, Mapped(20801, "ADHOC"))
    if sent.kind == "error":
        data["severity"] = sent.severity
    if text_field:
        data[text_field] = sent.text
    event = SESSION.events[name]
    return ExtendedEvent(name, at, {key: data[key] for key in data if key in event}, actions)


SHOP = SnapshotDatabase(
    relations={"dbo.x": SnapshotRelation(Kind.TABLE, (Column("i", "int"),))},
    synonyms={"dbo.s_away": "[Dw].[dbo].[far]", "dbo.s_linked": "[LNK].[Crm].[dbo].[t]"},
    modules={
        "dbo.list": Module(ModuleKind.PROCEDURE, "CREATE PROC dbo.list AS SELECT * FROM listed"),
        "dbo.refresh": Module(
            ModuleKind.PROCEDURE,
            "CREATE PROCEDURE dbo.refresh AS INSERT INTO dbo.totals SELECT * FROM dbo.report",
        ),
    },
)
SERVER = Server(
    NAMESPACE,
    snapshot=Snapshot("SQL01", datetime(2026, 11, 20, tzinfo=UTC), {"Shop": SHOP}),
    snapshot_label="snapshot.json",
)


@pytest.fixture(scope="module")
def records(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Records:
    folder = tmp_path_factory.mktemp("scenarios")
    write(folder, [list(events(name, case.sent)) for name, case in CASES.items()])
    collected(engine, folder)
    return store.read(str(folder / "store"))


@pytest.fixture(scope="module")
def grown(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the scenarios that have two files, which were collected one after the other."""
    folder = tmp_path_factory.mktemp("grown")
    sent = [list(events(name, CASES[name].sent)) for name in IN_TWO_FILES]
    write(folder, [files[:1] for files in sent])
    collected(engine, folder)
    secrets = [Sent(kind, text, result=r) for text in SECRETS for kind, r in SHOWN]
    write(folder, [*sent, [[], *events("secrets", [*secrets, error()])]])
    collected(engine, folder)
    return folder / "store"


def write(folder: Path, sent: Iterable[Sequence[Sequence[ExtendedEvent]]]) -> None:
    """Write the first files of all as one, and so on; what is there already stays."""
    (folder / "logs").mkdir(exist_ok=True)
    for number, files in enumerate(zip_longest(*sent, fillvalue=())):
        path = folder / "logs" / f"{number}.xel"
        if not path.exists():
            write_events(path, chain.from_iterable(files), SESSION)


def collected(engine: Engine, folder: Path) -> None:
    """Collect what is new below a folder into the store in it."""
    target = str(folder / "store")
    positions = store.positions(target)
    server = replace(SERVER, open_sessions=store.open_sessions(target, NAMESPACE))
    found = collect(engine, LogPath(str(folder / "logs"), "logs"), server, positions)
    assert found is not None
    store.commit(target, [found], positions)


def of(records: Records, task: str) -> Records:
    """The records of one task, and the columns of its own tables."""
    accesses = tuple(access for access in records.accesses if access.task.split("/")[0] == task)
    own = {access.dataset for access in accesses} - {
        access.dataset for access in records.accesses if access.task.split("/")[0] != task
    }
    return replace(
        records,
        accesses=accesses,
        runs=tuple(run for run in records.runs if run.task.split("/")[0] == task),
        column_edges=tuple(e for e in records.column_edges if e.task.split("/")[0] == task),
        datasets=tuple(dataset for dataset in records.datasets if dataset.id in own),
    )


def short(dataset: DatasetId) -> str:
    name = dataset.name.casefold().removeprefix("shop.").removeprefix("dbo.")
    return name if dataset.namespace == NAMESPACE else f"{dataset.namespace}/{name}"


def flows(lineage: Lineage) -> set[str]:
    return {f"{short(flow.source)} > {short(flow.target)}".casefold() for flow in lineage.flows}


def columns(lineage: Lineage) -> set[str]:
    return {
        f"{short(edge.to_dataset)}.{edge.to_column} < "
        f"{short(edge.from_dataset)}.{edge.from_column}".casefold()
        + (" inferred" if edge.evidence is Evidence.INFERRED else "")
        for edge in lineage.column_edges
    }


def former(lineage: Lineage) -> list[str]:
    return [
        f"{short(dataset)} was {short(name)}"
        for dataset, names in lineage.names.former.items()
        for name in names
    ]


def accesses(records: Records, direction: Direction) -> Counter[str]:
    """The number of statements on each lasting dataset, with their status where it is not ok."""
    found: Counter[str] = Counter()
    for access in records.accesses:
        if access.direction is direction and access.kind is not Kind.TEMPORARY:
            status = "" if access.status == "ok" else f" {access.status}"
            found[short(access.dataset), status] += access.statements
    return Counter({f"{name} {times}{status}": 1 for (name, status), times in found.items()})


def gaps(records: Records) -> set[str]:
    """The datasets that statements wrote without all columns, and the reasons."""
    shapes = [(access, records.shapes[access.shape_id]) for access in records.accesses]
    return {
        f"{short(access.dataset)}: {(shape.reason or '').removeprefix('columns not resolved: ')}"
        for access, shape in shapes
        if access.direction is Direction.WRITE and shape.reason
    }


def listed(text: str) -> list[str]:
    return sorted(one.strip() for one in text.split(",") if one.strip())


@for_each("name", CASES)
def test_scenario(records: Records, name: str) -> None:
    check(CASES[name], of(records, name))


@for_each("name", IN_TWO_FILES)
def test_two_collects_give_the_same_as_one(grown: Path, name: str) -> None:
    check(CASES[name], of(store.read(str(grown)), name))


def check(case: Case, found: Records) -> None:
    lineage = build(found)
    actual: dict[str, object] = {"differences between the faces": differences(lineage)}
    expected: dict[str, object] = {"differences between the faces": []}
    if case.flows is not None:
        actual["flows"], expected["flows"] = sorted(flows(lineage)), listed(case.flows.casefold())
    if case.columns is not None:
        actual["columns"], expected["columns"] = sorted(columns(lineage)), listed(case.columns)
    if case.gaps is not None:
        actual["gaps"], expected["gaps"] = sorted(gaps(found)), listed(case.gaps)
    if case.former is not None:
        actual["former"], expected["former"] = former(lineage), listed(case.former)
    if case.writes is not None:
        actual["writes"] = sorted(accesses(found, Direction.WRITE))
        expected["writes"] = listed(case.writes)
    if case.reads is not None:
        actual["reads"] = sorted(accesses(found, Direction.READ))
        expected["reads"] = listed(case.reads)
    if case.runs is not None:
        runs = Counter({r.run_id: r.status for r in found.runs}.values())
        actual["runs"] = " ".join(f"{runs[run]} {run}" for run in sorted(runs))
        expected["runs"] = case.runs
    if case.inside is not None:
        actual["inside"] = sorted(
            {
                f"{short(access.dataset)} {access.procedure}"
                for access in found.accesses
                if access.direction is Direction.WRITE and access.procedure
            }
        )
        expected["inside"] = listed(case.inside)
    if case.hidden is not None:
        texts = {found.shapes[gap].text for run in found.runs for gap in run.gaps}
        actual["hidden"] = sorted(texts)
        expected["hidden"] = sorted(filter(None, case.hidden.split(" | ")))
    assert actual == expected


def test_only_what_was_prepared_elsewhere_is_unclear(records: Records) -> None:
    failed = {
        shape.text
        for shape in records.shapes.values()
        if shape.outcome is Outcome.FAILED and "that a USE chose" not in (shape.reason or "")
    }
    unresolved = (case.unresolved.split() for case in CASES.values() if case.unresolved)
    assert failed == {
        f"EXEC sp_execute {handle} -- session {session}" for handle, session in unresolved
    }


def test_a_call_hides_what_it_does_where_its_inside_was_not_captured(records: Records) -> None:
    texts = {s.text for s in records.shapes.values() if "procedure" in (s.reason or "")}
    assert {"EXEC hidden_p", "EXEC shown_p"} & texts == {"EXEC hidden_p"}


def test_nothing_is_rejected(records: Records) -> None:
    assert records.rejects == ()


# What statements say that is no lineage's business, marked by words that the store must not have.
SECRETS = [
    "-- password Geheim\nINSERT INTO a SELECT * FROM x",
    "INSERT INTO a SELECT * FROM x /* Geheim",
    "INSERT INTO a SELECT * FROM x WHERE p = 'Geheim",
    "INSERT INTO a SELECT * FROM x WHERE p = N'it''s Geheim' AND q = 4111222233334444",
    "INSERT INTO a VALUES (0xDEADBEEF411122223, $411122223.22, 411122223e4, '2026-11-20', "
    "{d '2026-11-20'})",
    "EXEC ('INSERT INTO a SELECT * FROM x WHERE p = ''Geheim''')",
    "EXEC ('INSERT INTO a SELECT * FROM x WHERE p = ''Geheim",
    "EXEC sp_executesql N'INSERT INTO a SELECT * FROM x WHERE p = @p', N'@p int', @p = N'Geheim'",
    "EXEC dbo.unknown_p @password = 'Geheim', @card = 4111222233334444",
    "INSERT INTO a SELECT * FROM OPENROWSET('SQLNCLI', 'Server=crm;Uid=smith;Pwd=Geheim', "
    "'SELECT * FROM d.dbo.t WHERE p = ''Geheim''') AS r",
    "INSERT INTO a SELECT * FROM OPENDATASOURCE('SQLNCLI', 'Server=h;Uid=smith;Pwd=Geheim')"
    ".d.dbo.t",
    "ALTER LOGIN smith WITH PASSWORD = 'Geheim'",
    "CREATE USER smith FOR LOGIN [CORP\\smith]; GRANT SELECT ON a TO smith",
    "EXECUTE AS USER = 'smith'; INSERT INTO a SELECT * FROM x; REVERT",
    "BULK INSERT a FROM '\\\\FILES01\\share\\in.csv'",
    "BACKUP DATABASE Shop TO DISK = '\\\\HOST-OF-SMITH\\b.bak' WITH PASSWORD = 'Geheim'",
    "SELEC 'Geheim' FRM x WHRE (((",
    "INSERT INTO a SELECT * FROM (SELECT 'Geheim' FROM x",
    "EXEC LNK.d.dbo.p 'Geheim'",
    "INSERT INTO a EXEC (\"SELECT * FROM x WHERE p = 'Geheim'\")",
    "INSERT INTO a EXEC (\"SELECT * FROM x WHERE p = 'Geheim' AND q = \" + QUOTENAME(@q))",
    "INSERT INTO a EXEC (\"SELECT * FROM x WHERE p = 'Geheim",
    "INSERT INTO a SELECT * FROM OPENQUERY(LNK, 'SELECT * FROM `t` WHERE p = \"Geheim\"')",
    "EXEC ('INSERT INTO d.dbo.t VALUES (''Geheim'')') AT LNK",
    "INSERT INTO a VALUES ('it''s'' Geheim', 'a\nb Geheim', N'\u00e4 Geheim')",
    "DECLARE @s nvarchar(99) = N'Geheim'; EXEC (@s); PRINT 'Geheim'",
    "CREATE TABLE a (i int DEFAULT 411122223, p varchar(9) DEFAULT 'Geheim' CHECK (p <> 'Geheim'))",
    "CREATE VIEW v AS SELECT 'Geheim' AS p FROM x",
    "CREATE PROCEDURE p AS INSERT INTO a VALUES ('Geheim')",
]
# Each of them as each of these shows it.
SHOWN = (("batch", "ok"), ("batch", "error"), ("rpc", "ok"), ("statement", "ok"), ("inside", "ok"))
# Digits are many, for a store is full of hashes and times, which hold any four by chance.
MARKS = ("geheim", "smith", "corp", "411122223", "deadbeef")


def test_no_literal_user_or_host_reaches_the_store(grown: Path) -> None:
    files = [file for file in grown.rglob("*") if file.is_file()]
    tables = {file: pq.read_table(file) for file in files if file.suffix == ".parquet"}
    texts = {file: repr(table.to_pylist()).casefold() for file, table in tables.items()}
    texts |= {file: repr(file.read_bytes()).casefold() for file in set(files) - set(tables)}
    assert any("from x" in text for text in texts.values())
    leaks = [(mark, file.name) for file, text in texts.items() for mark in MARKS if mark in text]
    assert leaks == []
