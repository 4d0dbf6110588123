"""The sections of graft.yml for sites, gates and DAGs, and for how long the store keeps things."""

from __future__ import annotations

import re
from dataclasses import field
from datetime import timedelta
from typing import Annotated, Literal

from dbt_graft.analysis.finding import Severity
from dbt_graft.analysis.privacy.classification import Classification, classification
from dbt_graft.analysis.rule import RULES
from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.graft.project.privacy_section import Label
from dbt_graft.graft.project.texts import FolderPath, PathText, SiteUrl, expand_path
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.section import Checked, Section, Text, written_as

_AudienceName = Annotated[
    Text, written_as(r"\w[\w -]{0,59}", "name an audience with letters, digits, _ and -")
]


@frozen
class LabelsSection(Section):
    """Tags and owners in lists; see `catalog.label_rules.listed_labels`."""

    hide: tuple[Text, ...] = ()


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
    audiences: dict[_AudienceName, AudienceEntry] = field(default_factory=dict)

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


Days = Annotated[Text, written_as(r"[1-9][0-9]{0,4}d", "write a number of days: 90d")]


@frozen
class ImpactSection(Section):
    """The age of stale edges, and the severity from which on `graft impact` fails."""

    stale_after: Days = "90d"
    fail_on: Literal["warning", "blocking", "tainted", "restricted", "critical"] | None = None

    @property
    def stale_span(self) -> timedelta:
        """The time after which an edge that was not seen is stale."""
        return _span(self.stale_after)


@frozen
class KeepSection(Section):
    """The time for which the store keeps single runs, and texts of statements."""

    runs: Days | None = None
    statements: Days | None = None

    @property
    def spans(self) -> dict[str, timedelta]:
        """`runs`, `statements` -> how long they are kept; without what is kept for all time."""
        days_by_name = {"runs": self.runs, "statements": self.statements}
        return {name: _span(days) for name, days in days_by_name.items() if days}


def _span(days: str) -> timedelta:
    return timedelta(days=int(days[:-1]))


@frozen
class ReviewSection(Section):
    """The verdict from which on `graft review` fails."""

    fail_on: Literal["breaking", "unknown", "rows", "columns", "additive", "metadata"] | None = None


def _off(value: object) -> object:
    return "off" if value is False else value  # YAML reads `off` as false.


SeverityName = Annotated[Literal["off", "note", "warning", "error"], Checked(_off, first=True)]


def _code(text: str) -> str:
    if text not in RULES:
        raise ValueError(f"is not the code of a rule: write one of {', '.join(sorted(RULES))}")
    return text


@frozen
class RulesSection(Section):
    """The findings of `graft check`: their severities, and from where on it fails."""

    severity: dict[Annotated[Text, Checked(_code)], SeverityName] = field(default_factory=dict)
    certified: tuple[Text, ...] = ("certified",)
    gold: tuple[Text, ...] = ("gold",)
    platform: tuple[Text, ...] = ()
    fail_on: Literal["note", "warning", "error"] | None = None

    @property
    def severities(self) -> dict[str, Severity]:
        """Code -> its severity; without codes that are off."""
        names_by_code = {code: rule.severity.value for code, rule in RULES.items()} | self.severity
        return {code: Severity(name) for code, name in names_by_code.items() if name != "off"}


def _local_path(path: str) -> str:
    if "://" in expand_path(path) or not path.isprintable():
        raise ValueError("write a place on this machine, and copy it from there")
    return path


@frozen
class AirflowSection(DagSettings):
    """Settings of the DAGs, and what is beside them in files and in Airflow.

    Attributes:
        known_as: A task's name in events of Airflow -> its name in the lineage.
    """

    out: Annotated[Text, Checked(_local_path)] = "dags"
    overrides: Annotated[Text, Checked(_local_path)] | None = None
    known_as: dict[str, Text] = field(default_factory=dict)


def _check_sight(name: str, sees: str | None) -> None:
    if sees is None and classification(name) is None:
        raise ValueError(
            f"{name!r} is not a classification: say what this audience may see, such as "
            "`sees: internal`"
        )


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
