"""Later runs that did again the work of earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId

RunKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Supersession:
    """A later run that did again what a run did.

    Attributes:
        task, run_id, at: The later run, and when it began or wrote.
        dataset: Where it wrote the same dates again; None where all of the run was done again.
    """

    task: str
    run_id: str
    at: datetime | None
    dataset: DatasetId | None = None
