"""Full names of SQL Server's tables: server, database, schema and name."""

from __future__ import annotations

from typing import NamedTuple

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.dataset import DatasetId

_DEFAULT_SCHEMA = "dbo"
_SYSTEM_SCHEMAS = frozenset({"sys", "information_schema"})
_SYSTEM_DATABASES = frozenset({"master", "model", "msdb", "tempdb", "mssqlsystemresource"})
# The compatibility views of SQL Server 2000, which stand in every database's dbo too.
_SYSTEM_VIEWS = words("""
    sysobjects syscolumns sysindexes systypes sysusers syscomments sysdatabases""")


class FullName(NamedTuple):
    """The name of a table, view, procedure or synonym.

    Attributes:
        server: The linked server that it is on; empty for the one on which the statement ran.
        database: Empty where it is not known, as that which a linked server has by default.
    """

    server: str
    database: str
    schema: str
    name: str

    @property
    def in_schema(self) -> str:
        """`schema.name`"""
        return f"{self.schema}.{self.name}"

    @property
    def is_system(self) -> bool:
        """Whether it belongs to SQL Server itself."""
        return (
            self.schema.casefold() in _SYSTEM_SCHEMAS
            or self.database.casefold() in _SYSTEM_DATABASES
            or self.name.casefold() in _SYSTEM_VIEWS
        )

    def dataset(self, server: str) -> DatasetId:
        """The dataset of this name, for a statement that ran on a server of this namespace."""
        namespace = f"mssql://{self.server}" if self.server else server
        return DatasetId(namespace, ".".join(filter(None, self[1:])))

    def casefold(self) -> FullName:
        """The name in lower case, for comparing."""
        return FullName(*(part.casefold() for part in self))


def full_name(name: Name, database: str) -> FullName:
    """A name as a statement writes it, in full.

    Args:
        database: The current database, which names without one are in.
    """
    linked, explicit_database, schema, last = ("", "", "", *name)[-4:]
    return FullName(
        linked, explicit_database or ("" if linked else database), schema or _DEFAULT_SCHEMA, last
    )
