"""Datasets that nobody runs a task for: a dbt model or a view says what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation


class DefinitionKind(StrEnum):
    """Who keeps the definition: dbt, or the database in which the view stands."""

    DBT = "dbt"
    VIEW = "view"


@dataclass(frozen=True, slots=True)
class Definition:
    """A dbt model, seed or snapshot, or a view: the dataset that it makes, and of what.

    Attributes:
        name: dbt's unique_id, or the view's identity.
        reads: What it is made of, sorted.
        operation: What building it does: CREATE VIEW, CREATE TABLE AS, MERGE…
        shapes: The statement that defines a view.
    """

    name: str
    kind: DefinitionKind
    dataset: DatasetId
    reads: tuple[DatasetId, ...] = ()
    operation: Operation = Operation.CREATE_VIEW
    shapes: tuple[str, ...] = ()
