"""Where data lives, and what makes two names the same place.

Identity follows OpenLineage's naming: `namespace` + `name`
(`mssql://crm:1433` + `Shop.dbo.Orders`, `file` + `/landing/orders`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

# Storage keeps case apart; databases and metastores compare names without it.
_CASE_SENSITIVE = frozenset(
    {"file", "s3", "s3a", "s3n", "gs", "hdfs", "abfs", "abfss", "wasb", "wasbs", "dbfs", "kafka"}
)
# `#t~2`: what a run's second temporary table called `#t` is named, so that the two stay apart.
_COUNTED = re.compile(r"^([#@].*)~\d+$")
_GLOBAL_TEMPORARY = "##"


class Kind(StrEnum):
    """What sort of place a dataset is."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    PATH = "PATH"
    TOPIC = "TOPIC"
    TEMPORARY = "TEMPORARY"


@dataclass(frozen=True, slots=True)
class DatasetId:
    """A dataset's identity; equal ids compare without case where the platform does.

    `namespace` and `name` keep the spelling they were made with; `key` is what is compared.
    """

    namespace: str = field(compare=False)
    name: str = field(compare=False)
    key: tuple[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        scheme = self.namespace.partition("://")[0].lower()
        name = self.name if scheme in _CASE_SENSITIVE else self.name.casefold()
        object.__setattr__(self, "key", (self.namespace.casefold(), name))

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def __lt__(self, other: DatasetId) -> bool:
        return self.key < other.key

    @property
    def is_path(self) -> bool:
        """Whether the name is a path, as files and folders have; names of tables hold no slash."""
        return "/" in self.name

    @property
    def parts(self) -> tuple[str, ...]:
        """The name's parts: database, schema and table, or the folders of a path."""
        separator = "/" if self.is_path else "."
        return tuple(part for part in self.name.split(separator) if part)

    @property
    def short(self) -> str:
        """The name as people say it: `raw.orders`, `landing/orders`, `#t` for `#t~2`."""
        if self.is_path:
            return "/".join(self.parts[-2:])
        return _COUNTED.sub(r"\1", ".".join(self.parts[-2:]))


def is_global_temporary(dataset: DatasetId) -> bool:
    """Whether it is a table that sessions share as long as they live: SQL Server's `##t`."""
    return dataset.name.startswith(_GLOBAL_TEMPORARY)


def parse_dataset_id(text: str) -> DatasetId:
    """Read `namespace/name` as `graft.yml` and people write it.

    The namespace ends at the first slash behind its `scheme://`, or at the first slash where
    there is no scheme: `mssql://crm:1433/Shop.dbo.Orders`, `spark/raw.orders`,
    `file//landing/orders`.

    Raises:
        ValueError: There is no slash to end the namespace, or nothing behind it.
    """
    scheme, mark, rest = text.partition("://")
    head, slash, name = (rest if mark else text).partition("/")
    if not slash or not name or not head:
        raise ValueError(f"{text!r} is no dataset: write <namespace>/<name>")
    return DatasetId(f"{scheme}{mark}{head}" if mark else head, name)
