"""The command `graft logs sqlserver-snapshot`: the schemas of databases, in a file."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.collectors.sqlserver.tools import Snapshot, take_snapshot, write_snapshot
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError


@click.command(
    "sqlserver-snapshot",
    epilog="\b\nExample: graft logs sqlserver-snapshot --database Shop --database ShopDW"
    " --out snapshot.json",
)
@click.option(
    "--connection",
    "setting",
    default="env:GRAFT_MSSQL",
    show_default=True,
    metavar="env:NAME|dsn:NAME",
    help="The environment variable that holds an ODBC connection string, or a data source.",
)
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
