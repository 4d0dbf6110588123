"""The lineage with what people wrote of it, which every question is asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.model import Lineage


@dataclass(frozen=True, slots=True)
class DescribedLineage:
    """The lineage with what dbt and YAML say of it."""

    lineage: Lineage
    descriptions: Mapping[DatasetId, Description]
    consumers: Sequence[Consumer]
