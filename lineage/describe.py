"""What dbt and people say of a dataset, in words that every face of the product can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId


class Role(StrEnum):
    """What a dataset is to dbt once the lineage is grafted on.

    PROMOTED: a source that a task turned out to write, or that is a view: now a model.
    ADDED: unknown to dbt before, written by a task or a view, now a model.
    """

    MODEL = "model"
    SEED = "seed"
    SNAPSHOT = "snapshot"
    SOURCE = "source"
    PROMOTED = "promoted"
    ADDED = "added"
    NEW_SOURCE = "new source"


@dataclass(frozen=True, slots=True)
class Description:
    """A dataset as dbt's artifacts describe it after the graft.

    Attributes:
        node_id: The dbt unique_id.
        name: The dbt node's name, by which its selector finds it.
        text: Markdown.
        columns: Column name -> Markdown description.
        tests: How many dbt tests stand on it.
    """

    dataset: DatasetId
    node_id: str
    name: str
    role: Role
    text: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    tests: int = 0


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who reads and writes nothing we know: a dashboard, a report, a read-only task."""

    node_id: str
    name: str
    kind: str
    reads: tuple[DatasetId, ...]
    text: str = ""
    owner: str = ""
    url: str = ""
    tags: tuple[str, ...] = ()
