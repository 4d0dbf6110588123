"""Identity of datasets.

Identity follows OpenLineage's naming: `namespace` + `name`
(`mssql://crm:1433` + `Shop.dbo.Orders`, `file` + `/landing/orders`).
"""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, NamedTuple

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.redaction import redact_name, redact_text

# Their names are paths from a root: `file/landing/x` and `file//landing/x` are one dataset.
_ROOTED = frozenset({"file", "hdfs", "viewfs", "webhdfs", "dbfs", "abfs", "abfss", "adl"})
# Stores of objects.
_BUCKETS = frozenset({"s3", "s3a", "s3n", "gs", "wasb", "wasbs"})
# File systems and Kafka are case-sensitive; databases and metastores are not.
_CASE_SENSITIVE = _ROOTED | _BUCKETS | {"kafka"}
# `#t~2` is the second temporary table `#t` of a run.
_COUNTED = re.compile(r"^([#@].*)~\d+$")
_GLOBAL_TEMPORARY = "##"
# Of a million datasets most are in few namespaces.
_NAMESPACES = 1 << 12


class Kind(StrEnum):
    """Kinds of datasets."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    PATH = "PATH"
    TOPIC = "TOPIC"
    TEMPORARY = "TEMPORARY"


@frozen
class DatasetId:
    """A dataset's identity; equal ids compare without case where the platform does.

    `namespace` and `name` have their original spelling, without users, secrets and what else does
    not identify data (`lineage.redaction`); only `key` is compared. A namespace may have a path,
    and text does not tell where it ends: ids of one text are equal, wherever it is cut.
    """

    namespace: str = field(compare=False)
    name: str = field(compare=False)
    key: tuple[str, str] = field(init=False, repr=False)
    # Made once: an id is looked up some fifty times while a lineage is built.
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        space = _namespace(self.namespace)
        if space.text is not self.namespace:
            object.__setattr__(self, "namespace", space.text)
        name = redact_name(self.name)
        if space.is_rooted and name[:1] != "/":
            name = f"/{name}"
        if name is not self.name:
            object.__setattr__(self, "name", name)
        if space.path:
            name = f"{'/' * space.is_rooted}{space.path}/{name.lstrip('/')}"
        name = name if space.is_case_sensitive else name.casefold()
        object.__setattr__(self, "key", (space.key, name))
        object.__setattr__(self, "_hash", hash(self.key))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[DatasetId], tuple[str, str]]:
        return DatasetId, (self.namespace, self.name)  # another process hashes otherwise

    def __str__(self) -> str:
        if self.name[:1] == "/" and self.is_rooted:
            return self.namespace + self.name
        return f"{self.namespace}/{self.name}"

    def __lt__(self, other: DatasetId) -> bool:
        return self.key < other.key

    @property
    def is_rooted(self) -> bool:
        """Whether it lies in a file system: its name is a path from the root."""
        return _namespace(self.namespace).is_rooted

    @property
    def is_path(self) -> bool:
        """Whether the name is a path, as files and folders have; names of tables hold no slash."""
        return "/" in self.name or _namespace(self.namespace).is_bucket

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the name: database, schema and table, or the folders of a path."""
        separator = "/" if self.is_path else "."
        return tuple(part for part in self.name.split(separator) if part)

    @property
    def short(self) -> str:
        """The last two parts of the name: `raw.orders`, `landing/orders`, `#t` for `#t~2`."""
        if self.is_path:
            return "/".join(self.parts[-2:])
        *_, before, last = "", *self.name.rsplit(".", 2)
        short = f"{before}.{last}" if before and last else ".".join(self.parts[-2:])
        return _COUNTED.sub(r"\1", short) if "~" in short else short


class _Namespace(NamedTuple):
    """A namespace as ids need it.

    Attributes:
        text: The namespace without what does not identify data.
        key: Its server as namespaces compare.
        path: What follows the server; mostly empty.
    """

    text: str
    key: str
    path: str
    is_rooted: bool
    is_bucket: bool
    is_case_sensitive: bool


@lru_cache(_NAMESPACES)
def _namespace(namespace: str) -> _Namespace:
    text = redact_name(namespace)
    scheme = text.partition("://")[0].lower()
    server, path = split_namespace(text)
    return _Namespace(
        *(text, server.casefold(), path, scheme in _ROOTED, scheme in _BUCKETS),
        scheme in _CASE_SENSITIVE,
    )


# Another name of a dataset as logs spell it: it stays as it is where datasets are renamed.
LoggedName = Annotated[DatasetId, "shown as the logs spell it"]


def split_namespace(namespace: str) -> tuple[str, str]:
    """A namespace without its path, and the path: `iceberg://prod` and `silver`; mostly empty."""
    scheme, mark, rest = namespace.partition("://")
    server, _, path = (rest if mark else scheme).partition("/")
    return f"{scheme}{mark}{server}" if mark else server, path.strip("/")


def is_global_temporary(dataset: DatasetId) -> bool:
    """Whether it is a global temporary table of SQL Server, `##t`, which sessions share."""
    return dataset.name.startswith(_GLOBAL_TEMPORARY)


def parse_dataset_id(text: str) -> DatasetId:
    """Parse `namespace/name`.

    The namespace ends at the first slash after `scheme://`, or at the first slash if there is no
    scheme: `mssql://crm:1433/Shop.dbo.Orders`, `spark/raw.orders`,
    `file/landing/orders`, which may also be written `file//landing/orders`.

    Raises:
        ValueError: Namespace or name is missing.
    """
    scheme, mark, rest = text.partition("://")
    head, slash, name = (rest if mark else text).partition("/")
    if not slash or not name or not head:
        raise ValueError(f"{redact_text(text)!r} is not a dataset: write <namespace>/<name>")
    return DatasetId(f"{scheme}{mark}{head}" if mark else head, name)
