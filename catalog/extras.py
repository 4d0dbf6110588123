"""The parts of a site beside the lineage, for whoever builds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.lineage.building.daily import DailyHistory
from dbt_graft.lineage.describe import DocsNode
from dbt_graft.lineage.frozen import frozen


@frozen
class SiteExtras:
    """The parts of a site beside the lineage.

    Attributes:
        dbt_docs: The docs page of dbt that is among the files; None without one.
        docs_nodes: What only dbt docs has a page of; search finds it too.
        files: More files, or their content, by their path in the site.
        days: The last year of tasks and datasets, by day.
        privacy: The labels of columns; None if nobody labels any.
    """

    dbt_docs: DbtDocs | None = None
    docs_nodes: Sequence[DocsNode] = ()
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    days: DailyHistory | None = None
    privacy: PrivacyLabels | None = None
