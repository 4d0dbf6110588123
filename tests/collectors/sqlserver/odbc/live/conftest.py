"""A real ODBC connection: PostgreSQL behind psqlODBC, with what the collector asks of SQL Server.

The collector's own SQL runs there unchanged (`stand_in.sql`).
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.sqlserver.odbc import failure as odbc_failure

if TYPE_CHECKING:
    import pyodbc

_BINARIES = "/usr/lib/postgresql/*/bin/postgres"
_FILE = "C:\\Log\\lineage_0_{}.xel"
_DRIVER = "DRIVER={PostgreSQL Unicode};UseDeclareFetch=1;Fetch=10"
_MISSING = "`make odbc` installs it as root: apt-get install"


@dataclass(frozen=True)
class StandIn:
    """A database that answers as SQL Server does, and a test's own way into it."""

    admin: pyodbc.Connection
    port: int

    def setting(self, user: str = "reader") -> str:
        """The collector's connection string, which fetches few rows at a time."""
        return f"{_DRIVER};SERVER=127.0.0.1;PORT={self.port};DATABASE=stand_in;UID={user}"

    @staticmethod
    def xml(sequence: int, statement: str = "") -> str:
        """One event as the server writes it."""
        return (
            '<event name="sql_batch_completed" package="sqlserver" '
            'timestamp="2026-11-21T10:00:00.123Z">'
            f'<data name="batch_text"><value><![CDATA[{statement}]]></value></data>'
            '<action name="client_app_name" package="sqlserver">'
            "<value>python_task::load</value></action>"
            f'<action name="event_sequence" package="package0"><value>{sequence}</value></action>'
            "</event>"
        )

    def write(self, file: int, offset: int, *sequences: int) -> None:
        """A block of events in the session's files."""
        self.add(file, offset, *(self.xml(sequence) for sequence in sequences))

    def add(self, file: int, offset: int, *texts: str, name: str = "sql_batch_completed") -> None:
        """A block of whatever there is in it."""
        self.admin.cursor().executemany(
            "INSERT INTO written (object_name, event_data, file_name, file_offset) "
            "VALUES (?, ?, ?, ?)",
            [(name, text, _FILE.format(file), offset) for text in texts],
        )

    def roll_over(self, file: int) -> None:
        """The server deletes a file."""
        self.admin.execute("DELETE FROM written WHERE file_name = ?", _FILE.format(file))

    def trouble(self, sequence: int, message: str, times: int = 1) -> None:
        """Reading fails when it comes to an event."""
        self.admin.execute("ALTER SEQUENCE raised_times RESTART")
        self.admin.execute(
            "INSERT INTO trouble SELECT seq, ?, ? FROM written WHERE event_data LIKE ?",
            (message, times, f"%<value>{sequence}</value>%"),
        )

    def raised(self) -> int:
        """The number of times that the last trouble occurred."""
        times: int = self.admin.execute("SELECT last_value FROM raised_times").fetchval()
        return times

    def property(self, name: str, value: int) -> None:
        """The values of SERVERPROPERTY."""
        self.admin.execute("UPDATE property SET value = ? WHERE name = ?", str(value), name)

    def disconnect_all(self) -> None:
        """The server ends every connection but this one."""
        self.admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = 'stand_in' AND pid <> pg_backend_pid()"
        ).fetchall()

    def session(self, file: str, dropped: tuple[int, int, int] = (0, 0, 0), of: str = "") -> None:
        """A session `lineage` that runs and writes a file; `of` is `database_` on Azure."""
        self.admin.execute(
            f"INSERT INTO sys.dm_xe_{of}sessions VALUES ('\\x01', 'lineage', ?, ?, ?)", dropped
        )
        target = f'<EventFileTarget truncated="0"><File name="{file}"/></EventFileTarget>'
        self.admin.execute(
            f"INSERT INTO sys.dm_xe_{of}session_targets VALUES ('\\x01', 'event_file', ?)", target
        )

    def definition(self, *filename: str) -> None:
        """The definition of a session `lineage`, with a file target or without."""
        self.admin.execute("INSERT INTO sys.server_event_sessions VALUES (65536, 'lineage')")
        for name in filename:
            self.admin.execute(
                "INSERT INTO sys.server_event_session_fields VALUES (65536, 1, 'filename', ?)", name
            )


@pytest.fixture(scope="session")
def server() -> Iterator[StandIn]:
    """PostgreSQL on a port of its own; it is gone with the test run."""
    try:
        import pyodbc
    except ImportError as error:
        pytest.skip(f"no ODBC driver manager ({error}); {_MISSING} unixodbc")
    if not any(name.startswith("PostgreSQL Unicode") for name in pyodbc.drivers()):
        pytest.skip(f"no psqlODBC; {_MISSING} odbc-postgresql")
    paths = sorted(Path("/").glob(_BINARIES.lstrip("/")))
    if not paths:
        pytest.skip(f"no PostgreSQL in {_BINARIES}; {_MISSING} postgresql")
    with _started(paths[-1].parent) as port:
        login = f"{_DRIVER};SERVER=127.0.0.1;PORT={port};UID=admin;DATABASE=stand_in"
        with closing(pyodbc.connect(login, autocommit=True)) as admin:
            yield StandIn(admin, port)


@pytest.fixture
def log(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """The stand-in with nothing recorded; `env:GRAFT_TEST` reads it and nobody waits."""
    tables = ["written", "trouble"]
    for scope, level in (("", "server"), ("database_", "database")):
        tables += [f"sys.dm_xe_{scope}sessions", f"sys.dm_xe_{scope}session_targets"]
        tables += [f"sys.{level}_event_sessions", f"sys.{level}_event_session_fields"]
    server.admin.execute(f"TRUNCATE {', '.join(tables)} RESTART IDENTITY")
    server.admin.execute("DROP TABLE IF EXISTS loaded")
    server.property("EngineEdition", 3)
    server.property("ProductMajorVersion", 15)
    monkeypatch.setenv("GRAFT_TEST", server.setting())
    monkeypatch.setattr(odbc_failure, "_FIRST_PAUSE", 0)
    return server


@contextmanager
def _started(binaries: Path) -> Iterator[int]:
    """A cluster with the stand-in in it; as a user of its own, for initdb refuses root."""
    # It lies in /usr/sbin, which is on root's path alone, and not on that of all shells.
    runuser = shutil.which("runuser", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    become = [str(runuser), "-u", "postgres", "--"] if os.getuid() == 0 else []
    # A socket's path is short, and the server's user must reach it: no folder of pytest's.
    with tempfile.TemporaryDirectory(prefix="graft-pg-") as folder:
        port = _free_port()
        if become:
            shutil.chown(folder, "postgres")
        data = ["-D", f"{folder}/data"]
        initdb = [*become, str(binaries / "initdb"), *data, "-U", "admin", "-A", "trust"]
        control = [*become, str(binaries / "pg_ctl"), *data, "-w"]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        psql = [str(binaries / "psql"), "-qX", "-h", "127.0.0.1", "-p", str(port), "-U", "admin"]
        script = str(Path(__file__).with_name("stand_in.sql"))
        _run(*initdb, "--no-sync", "--locale=C.UTF-8", "--encoding=UTF8")
        _run(*control, "-l", f"{folder}/log", "-o", options, "start")
        try:
            for begin in ("DATABASE stand_in", "ROLE reader LOGIN", "ROLE stranger LOGIN"):
                _run(*psql, "-d", "postgres", "-c", f"CREATE {begin}")
            _run(*psql, "-v", "ON_ERROR_STOP=1", "-d", "stand_in", "-f", script)
            yield port
        finally:
            _run(*control, "-m", "immediate", "stop")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _run(*command: str) -> None:
    # The server that is started must not keep our pipes.
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
