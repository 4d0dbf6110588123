"""Servers of data contracts: which datasets may lie there.

A server has a type of the Open Data Contract Standard, a dataset a namespace of OpenLineage. Names
of namespaces that are none of a known platform, such as `spark`, may be any platform of tables.
"""

from __future__ import annotations

import re

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

# Type of a server -> the schemes of namespaces that are it; of other types the one of this name.
_SCHEMES = {
    "athena": {"awsathena", "arn"},
    "azure": {"abfs", "abfss", "az", "azure", "wasb", "wasbs"},
    "bigquery": {"bigquery"},
    "clickhouse": {"clickhouse"},
    "cloudsql": {"mssql", "mysql", "postgres", "postgresql", "sqlserver"},
    "databricks": {"databricks", "unity"},
    "db2": {"db2"},
    "dremio": {"dremio"},
    "duckdb": {"duckdb"},
    "gcs": {"gs", "gcs"},
    "glue": {"arn", "awsathena"},
    "hive": {"hive"},
    "impala": {"impala", "hive"},
    "kafka": {"kafka"},
    "kinesis": {"kinesis"},
    "local": {"file"},
    "mysql": {"mysql"},
    "oracle": {"oracle"},
    "postgres": {"postgres", "postgresql"},
    "postgresql": {"postgres", "postgresql"},
    "presto": {"presto"},
    "pubsub": {"pubsub"},
    "redshift": {"redshift"},
    "s3": {"s3", "s3a", "s3n"},
    "sftp": {"sftp"},
    "snowflake": {"snowflake"},
    "sqlserver": {"mssql", "sqlserver", "fabric-warehouse"},
    "synapse": {"mssql", "sqlserver", "fabric-warehouse"},
    "teradata": {"teradata"},
    "trino": {"trino"},
    "vertica": {"vertica"},
}
_KNOWN = frozenset[str]().union(*_SCHEMES.values())
# Types that say nothing of the platform.
_ANY = frozenset({"", "api", "custom"})
_STREAMS = frozenset({"kafka", "kinesis", "pubsub"})
_FILES = frozenset({"azure", "gcs", "local", "s3", "sftp"})
# Hosts that are other machines for each who writes them.
_NO_HOSTS = frozenset({"", "localhost", "127.0.0.1"})
# `tcp:sql01\prod` is SQL Server's.
_HOST = re.compile(r"(?:\w+://|tcp:)?([^/:,@\\]+)")
_PORT = re.compile(r"[:,]\s*(\d+)(?=/|\Z)")
_S3 = re.compile(r"^s3[an]://")


@frozen
class TableServer:
    """A server on which a table of a contract lies.

    Attributes:
        type: As the standard names it, in small letters: `kafka`; empty where none is written.
        host: The host, or several with commas, each perhaps with its port; empty where none is
            written.
        port: Empty where it is not written, or with the host.
        location: The folder or file, if it lies in one.
        names: What the table may be called there, the most exact first.
        database, schema: Where its tables are, as far as they are written.
    """

    type: str = ""
    host: str = ""
    location: str = ""
    names: tuple[str, ...] = ()
    database: str = ""
    schema: str = ""
    port: str = ""

    @property
    def is_stream(self) -> bool:
        """Whether its tables are topics."""
        return self.type in _STREAMS

    def may_hold(self, dataset: DatasetId) -> bool:
        """Whether a dataset may lie on it, by what both of them name."""
        scheme, _, place = dataset.namespace.casefold().partition("://")
        if self.is_stream or self.type in _FILES:
            return scheme in _SCHEMES[self.type] and self._is_host_of(place)
        if self.type in _ANY or scheme not in _KNOWN:
            return True
        schemes = _SCHEMES.get(self.type, {self.type})
        return scheme in schemes and self._is_host_of(place)

    def may_mean(self, name: str, dataset: DatasetId) -> bool:
        """Whether a name on it may be that of a dataset with this name or this end of one.

        The dots of a topic separate no schema: `legacy.orders` is another topic than `orders`. A
        table of another schema or database than the server's is another one, too.
        """
        if self.is_stream and same_place(dataset.name) != same_place(name):
            return False
        return self.may_hold(dataset) and ("/" in name or self._is_within(name, dataset.name))

    def _is_within(self, name: str, dataset_name: str) -> bool:
        """Whether what a dataset is called beyond a name of the table is the server's, too."""
        parts, known = dataset_name.casefold().split("."), name.count(".") + 1
        return all(
            place <= known or place > len(parts) or parts[-place] == part.casefold()
            for place, part in ((2, self.schema), (3, self.database))
            if part
        )

    def is_at(self, dataset: DatasetId) -> bool:
        """Whether its location is the dataset."""
        return bool(self.location) and same_place(self.location) == same_place(str(dataset))

    def _is_host_of(self, place: str) -> bool:
        """Whether the host and port of a namespace are its own, as far as both name them."""
        if self.type in _FILES:
            return True
        hosts = {_host(part) for part in self.host.split(",")} - _NO_HOSTS
        there = _host(place)
        if not hosts or there in _NO_HOSTS or "${" in self.host:
            return True
        # The brokers of one cluster have many ports.
        ports = {self.port or _port(self.host), _port(place)} - {""}
        is_another_port = len(ports) > 1 and not self.is_stream
        is_there = any(host == there or _is_short(host, there) for host in hosts)
        return is_there and not is_another_port


def _port(text: str) -> str:
    match = _HOST.match(text.strip())
    port = _PORT.search(text.strip(), match.end()) if match else None
    return port[1] if port else ""


def _host(text: str) -> str:
    match = _HOST.match(text.strip().casefold())
    return match[1] if match else ""


def _is_short(one: str, other: str) -> bool:
    """Whether one of two hosts is the other without its domain."""
    return one == other.partition(".")[0] or other == one.partition(".")[0]


def same_place(name: str) -> str:
    """A name in the letters in which it compares; a location up to its first wildcard."""
    text = _S3.sub("s3://", name.casefold()).partition("*")[0]
    return text.rstrip("/")
