"""The sections `site` and `docs` of graft.yml: what is published, and for whom."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Annotated, Literal

from dbt_graft.analysis.privacy.classification import Classification, classification
from dbt_graft.graft.project.privacy_section import Label
from dbt_graft.graft.project.texts import (
    FolderPath,
    PathText,
    SiteUrl,
)
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.section import Checked, Section, Text


def _audience_name(name: str) -> str:
    if not re.fullmatch(r"\w[\w -]{0,59}", name):
        raise ValueError("name an audience with letters, digits, _ and -")
    return name


AudienceName = Annotated[Text, Checked(_audience_name)]


@frozen
class LabelsSection(Section):
    """Tags and owners in lists; see `catalog.label_rules.listed_labels`."""

    hide: tuple[Text, ...] = ()


def _check_sight(name: str, sees: str | None) -> None:
    if sees is None and classification(name) is None:
        raise ValueError(
            f"{name!r} is not a classification: say what this audience may see, such as "
            "`sees: internal`"
        )


@frozen
class AudienceEntry(Section):
    """A further site of the same build, for an audience; see `SiteSection`."""

    out: FolderPath
    url: SiteUrl = ""
    sees: Label | None = None
    unlabelled: Literal["show", "hide"] | None = None


@frozen
class SiteSection(Section):
    """The published site.

    `data` puts the lineage as Parquet beside it, and what each page says as JSON beside the page.
    `impact`: the pages of tables say what changes reach; by default up to 2,000 tables.
    `audience`: who reads it; by default the team, which sees all. `sees`: the highest
    classification of data that they may see; by default that of the audience's name.
    `unlabelled`: whether they see what nobody classified; by default only where nobody labels
    anything.
    """

    name: Text = "Data lineage"
    url: SiteUrl = ""
    out: FolderPath = "build/site"
    labels: LabelsSection = field(default_factory=LabelsSection)
    data: bool = False
    impact: bool | None = None
    audience: Text | None = None
    sees: Label | None = None
    unlabelled: Literal["show", "hide"] | None = None
    audiences: dict[AudienceName, AudienceEntry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.audience:
            _check_sight(self.audience, self.sees)
        elif self.sees or self.unlabelled:
            raise ValueError("`sees` and `unlabelled` are an audience's: name it as `audience`")
        for name, entry in self.audiences.items():
            _check_sight(name, entry.sees)

    @property
    def highest(self) -> Classification | None:
        """The highest classification that its readers may see; None where it is the team's."""
        return classification(self.sees or self.audience) if self.audience else None


def _page_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", name):
        raise ValueError("name a page, which is its folder, with a-z, 0-9, _ and - only")
    if name in ("assets", "classic", "duckdb", "index"):
        raise ValueError("is a folder of dbt's own page: choose another name")
    return name


def _selection(text: str) -> str:
    from dbt_graft.injector.selection import parse  # only who checks a file needs it

    parse(text)
    return text


@frozen
class DocsSection(Section):
    """The dbt docs page; see `injector.docs.DocsPageSettings`.

    `duckdb` is the folder with DuckDB-WASM for that of dbt 2.

    `pages` are smaller pages beside it, each with a selection of nodes; see `injector.selection`.
    """

    slim: bool = True
    columns: bool = True
    title: Text | None = None
    favicon: PathText | None = None
    duckdb: FolderPath | None = None
    pages: dict[Annotated[str, Checked(_page_name)], Annotated[Text, Checked(_selection)]] = field(
        default_factory=dict
    )
