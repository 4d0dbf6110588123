"""Definitions: dbt models and views, which build datasets without a task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation


class DefinitionKind(StrEnum):
    """Owner of a definition: dbt, or the database of the view.

    In the lineage store it is the engine of the runs that show definitions.
    """

    DBT = "dbt"
    VIEW = "view"


@dataclass(frozen=True, slots=True)
class Definition:
    """A dbt model, seed or snapshot, or a view, with its inputs and its output.

    Attributes:
        name: dbt's unique_id, or the view's identity.
        reads: Its input datasets, sorted.
        operation: The operation that builds it: CREATE VIEW, CREATE TABLE AS, MERGE…
        shapes: The statements that define a view.
    """

    name: str
    kind: DefinitionKind
    dataset: DatasetId
    reads: tuple[DatasetId, ...] = ()
    operation: Operation = Operation.CREATE_VIEW
    shapes: tuple[str, ...] = ()
