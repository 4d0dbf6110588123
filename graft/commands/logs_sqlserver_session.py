"""The command `graft logs sqlserver-session`: the script by which a SQL Server logs statements."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.collectors.sqlserver.tools import SessionOptions, session_script
from dbt_graft.lineage.errors import write_error

_DEFAULT = SessionOptions()


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
