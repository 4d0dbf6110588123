"""Data of views: the lineage, and what follows from it, made when a query asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage


@dataclass(frozen=True, slots=True)
class ViewData:
    """The data of views.

    Attributes:
        described: Of old runs that did the same only some are listed.
        read_runs: Reads the lineage with each run; without it, the runs of `described` are all.
    """

    described: DescribedLineage
    read_runs: Callable[[], Lineage] | None = None

    def lineage_of_runs(self) -> Lineage:
        """The lineage with as many runs as can be had."""
        return self.read_runs() if self.read_runs else self.described.lineage
