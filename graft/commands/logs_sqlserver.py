"""The commands `graft logs sqlserver-…`: set up what a SQL Server logs."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.collectors.sqlserver.source import (
    SessionOptions,
    Snapshot,
    session_script,
    take_snapshot,
    write_snapshot,
)
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError, write_error

_DEFAULT = SessionOptions()

_connection = click.option(
    "--connection",
    "setting",
    default="env:GRAFT_MSSQL",
    show_default=True,
    metavar="env:NAME|dsn:NAME",
    help="The environment variable that holds an ODBC connection string, or a data source.",
)


@click.command(
    "sqlserver-session",
    epilog="\b\nExamples:\n"
    "  graft logs sqlserver-session --folder /var/opt/mssql/xe --out session.sql\n"
    "  graft logs sqlserver-session --application 'etl ' --no-statements | sqlcmd -S crm\n"
    "  graft logs sqlserver-session --azure --folder https://shop.blob.core.windows.net/xe",
)
@click.option(
    "--session", "name", default=_DEFAULT.name, show_default=True, help="The session's name."
)
@click.option(
    "--application",
    default=_DEFAULT.application,
    show_default=True,
    help="Prefix of your tasks' application names (APP= in their connection strings).",
)
@click.option(
    "--folder",
    default=_DEFAULT.folder,
    help="Where the server writes the files: a full path there, or the URL of a container in "
    "Azure Storage.  [default: beside the server's error log]",
)
@click.option("--azure", is_flag=True, help="For Azure SQL Database: a session of one database.")
@click.option(
    "--file-size",
    "file_megabytes",
    default=_DEFAULT.file_megabytes,
    show_default=True,
    help="Maximum size of a file in MB.",
)
@click.option("--files", default=_DEFAULT.files, show_default=True, help="Number of files to keep.")
@click.option(
    "--memory",
    "memory_megabytes",
    default=_DEFAULT.memory_megabytes,
    show_default=True,
    help="MB of memory for events not yet written.",
)
@click.option(
    "--statements/--no-statements",
    default=_DEFAULT.statements,
    show_default=True,
    help="Capture each statement of a batch as well.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
def sqlserver_session(out: Path | None, **options: object) -> None:
    """Print the script of an event session that captures what lineage needs.

    Comments in the script give the reason for each setting. Nothing is run: review the script,
    then run it in SSMS or sqlcmd.
    """
    text = session_script(SessionOptions(**options))  # type: ignore[arg-type]
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise write_error(error, out, "name another file as `--out`") from error
    click.echo(f"wrote {out}; run it on the server, then `graft doctor --sqlserver`")


@click.command(
    "sqlserver-snapshot",
    epilog="\b\nExample: graft logs sqlserver-snapshot --database Shop --database ShopDW"
    " --out snapshot.json",
)
@_connection
@click.option(
    "--database",
    "databases",
    multiple=True,
    help="A database to include; repeatable.  [default: all but the system databases]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default="snapshot.json",
    show_default=True,
    help="The file to write.",
)
def sqlserver_snapshot(setting: str, databases: tuple[str, ...], out: Path) -> None:
    """Save the schemas of databases: tables, views, columns, synonyms and procedures.

    With a snapshot, views, synonyms and `SELECT *` are resolved without a connection. No row of
    any table is read and literals are removed, so the file may go into version control.
    """

    taken = take_snapshot(setting, databases or None)
    for notice in taken.notices:
        click.echo(f"notice: {notice}", err=True)
    if not taken.snapshot.databases:
        raise GraftError(
            "no database could be read, so nothing was written",
            remedy="grant the login CONNECT ANY DATABASE and VIEW ANY DEFINITION",
        )
    write_snapshot(taken.snapshot, out)
    click.echo(f"wrote {out}: {_contents(taken.snapshot)}")


def _contents(taken: Snapshot) -> str:
    bases = taken.databases.values()
    kinds = [relation.kind for base in bases for relation in base.relations.values()]
    return (
        f"{len(bases)} databases, {kinds.count(Kind.TABLE)} tables, {kinds.count(Kind.VIEW)} views,"
        f" {sum(len(base.synonyms) for base in bases)} synonyms,"
        f" {sum(len(base.modules) for base in bases)} modules"
    )
