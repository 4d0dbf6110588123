"""The settings of a site: title, address, what it leaves out; and its parts beside the lineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.markup import external, printable
from dbt_graft.lineage.building.daily import DailyHistory
from dbt_graft.lineage.describe import DocsNode
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen


@frozen
class SiteSettings:
    """Title and address of the site.

    Attributes:
        name: The site's title.
        url: Where it will be published, http or https; empty if that is not known.
        collected_at: When logs were last collected; without it the home page shows the newest run.
            It is the date of the sitemap too.
        built_at: The time of this build: the date of what it changes. Without it, no changes are
            looked for.
        hidden_labels: Patterns of tags and owners that lists leave out, with `*` for any text.
        notice: A line at the top of each page; empty if there is none.
        impact: Pages say what changes reach; None if those of a small site do.
        sensitive: Columns from this classification on are sensitive.
        json: Beside each page of a table or task lies what it says as JSON.
        is_excerpt: Its readers see a part of the lineage: pages promise nothing of the rest.
        moved: Former namespace -> the one that its datasets have now: old addresses lead there.
    """

    name: str = "Data lineage"
    url: str = ""
    collected_at: datetime | None = None
    moved: Mapping[str, str] = field(default_factory=dict)
    built_at: datetime | None = None
    hidden_labels: tuple[str, ...] = ()
    notice: str = ""
    impact: bool | None = None
    json: bool = False
    sensitive: Classification = Classification.PII
    is_excerpt: bool = False


def checked_url(url: str) -> str:
    """The URL with everything escaped that HTML could read as syntax: the theme does not.

    Raises:
        GraftError: It is no address of a site.
    """
    parts = urlsplit(external(url))
    if url and (parts.scheme not in ("http", "https") or parts.username is not None):
        raise GraftError(
            f"{printable(url)!r} is not the address of a site",
            place="graft.yml: `site.url`",
            remedy="write http(s)://<host>/<path>/, without user and password",
        )
    return quote(parts.geturl(), safe=":/?#[]@!$&+,;=%~")


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
