"""Names of SQL Server's tables in full: whose server, which database, which schema."""

from __future__ import annotations

from collectors.statements.walk import TableAccess
from lineage.dataset import DatasetId, Kind

_DEFAULT_SCHEMA = "dbo"
_SYSTEM_SCHEMAS = frozenset({"sys", "information_schema"})
_SYSTEM_DATABASES = frozenset({"master", "model", "msdb", "tempdb", "mssqlsystemresource"})
# The compatibility views of SQL Server 2000, which stand in every database's dbo too.
_SYSTEM_VIEWS = frozenset(
    {
        "sysobjects",
        "syscolumns",
        "sysindexes",
        "systypes",
        "sysusers",
        "syscomments",
        "sysdatabases",
    }
)


def dataset_id(table: TableAccess, server: str, database: str) -> DatasetId | None:
    """Which dataset a statement means; None for SQL Server's own catalog.

    Args:
        server: The namespace of the server on which the statement ran.
        database: The current database, which names without one are in.
    """
    if table.kind is Kind.TEMPORARY:
        return DatasetId(server, table.name[-1])
    parts = ("", "", "", *table.name)[-4:]
    linked, own, schema, name = parts
    # The database that a linked server has by default is not known.
    database = own or ("" if linked else database)
    schema = schema or _DEFAULT_SCHEMA
    if (
        schema.casefold() in _SYSTEM_SCHEMAS
        or database.casefold() in _SYSTEM_DATABASES
        or name.casefold() in _SYSTEM_VIEWS
    ):
        return None
    namespace = f"mssql://{linked}" if linked else server
    return DatasetId(namespace, ".".join(part for part in (database, schema, name) if part))
