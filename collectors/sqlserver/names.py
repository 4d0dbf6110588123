"""Full names of SQL Server's tables: server, database, schema and name.

Datasets of files that SQL Server reads, named as by Spark: BULK INSERT, COPY INTO, OPENROWSET.

| path | dataset |
|---|---|
| `https://acc.blob.core.windows.net/lake/x` | `abfss://lake@acc.dfs.core.windows.net/x` |
| `abs://…`, `adls://…` of such an account | the same |
| `s3://bucket/x` | `s3://bucket/x` |
| `\\\\fs01\\share\\x.csv` | `file://fs01/share/x.csv` |
| `C:\\in\\x.csv`, `/in/x.csv` | `file://sql01/C:/in/x.csv`, on the server's own disk |
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.paths import dataset_folders, path_dataset

_AZURE = re.compile(
    r"(?:https?|abs|adls|abfss?|wasbs?)://(?:(?P<user>[^/@]+)@)?(?P<account>[\w-]+)"
    r"\.(?:blob|dfs)\.core\.windows\.net(?::\d+)?/(?P<path>.*)",
    re.IGNORECASE,
)
_SHARE = re.compile(r"//(?P<host>[^/]+)(?P<path>/.*)")


def file_dataset(path: str, server: str) -> DatasetId:
    """The dataset of a file or folder.

    Args:
        path: As a statement names it.
        server: The namespace of the server that reads it: `mssql://sql01:1433`.
    """
    if azure := _AZURE.fullmatch(path):
        container, _, rest = azure["path"].partition("/")
        if azure["user"]:
            container, rest = azure["user"], azure["path"]
        account = azure["account"].lower()
        path = f"abfss://{container}@{account}.dfs.core.windows.net/{rest}"
    if "://" in path:
        return path_dataset(dataset_folders([path])[0])
    local = path.replace("\\", "/")
    host = re.split(r"[:/]", server.partition("://")[2])[0]
    if share := _SHARE.fullmatch(local):
        host, local = share["host"], share["path"]
    folder = dataset_folders([f"/{local.lstrip('/')}"])[0]
    return DatasetId(f"file://{host}", folder)


_DEFAULT_SCHEMA = "dbo"
_SYSTEM_SCHEMAS = frozenset({"sys", "information_schema"})
_SYSTEM_DATABASES = frozenset({"master", "model", "msdb", "tempdb", "mssqlsystemresource"})
# The compatibility views of SQL Server 2000, which stand in every database's dbo too.
_SYSTEM_VIEWS = words("""
    sysobjects syscolumns sysindexes systypes sysusers syscomments sysdatabases""")


_PORT = re.compile(r"\s*,\s*(?P<port>\d+)\Z")


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
        # `tcp:crm,1444` is how clients write it.
        host = _PORT.sub(r":\g<port>", self.server.removeprefix("tcp:"))
        namespace = f"mssql://{host}" if host else server
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
