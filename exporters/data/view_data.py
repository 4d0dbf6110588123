"""Data of views: the lineage, and what follows from it, made when a query asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:  # Importing them takes longer than most queries, which need none of them.
    from dbt_graft.analysis.checks.contract_promises import CheckedPromise
    from dbt_graft.analysis.checks.contracts import ContractMatches
    from dbt_graft.analysis.finding import Finding
    from dbt_graft.analysis.privacy.labels import PrivacyLabels
    from dbt_graft.analysis.quality.report import Quality
    from dbt_graft.lineage.described import DescribedLineage
    from dbt_graft.lineage.model import Lineage

# The code of a note that a check cannot run here; its subject is the check.
LEFT_OUT = "CHECK_LEFT_OUT"


@frozen
class WrittenLabel:
    """A label as people wrote it.

    Attributes:
        subject: A column, a dataset, or a dbt node by its unique_id.
        classification: The one that it names; None where it names none.
        source: Where it is written; empty where only its text is known.
    """

    subject: str
    label: str
    classification: Classification | None
    source: str = ""


@frozen
class ProjectAnswers:
    """Answers about a project, each made when it is asked for.

    Attributes:
        runs: The lineage with each run.
        findings: Those of all checks that can run, and `LEFT_OUT` of each that cannot.
        sensitive: Columns from this classification on are sensitive.
    """

    runs: Callable[[], Lineage]
    findings: Callable[[], Sequence[Finding]]
    quality: Callable[[], Quality]
    labels: Callable[[], PrivacyLabels]
    written_labels: Callable[[], Sequence[WrittenLabel]]
    contracts: Callable[[], ContractMatches]
    promises: Callable[[], Sequence[CheckedPromise]]
    sensitive: Classification = Classification.PII


@frozen
class ViewData:
    """The data of views.

    Attributes:
        described: Of old runs that did the same only some are listed.
        answers: None beside a site, which has views of the lineage alone.
    """

    described: DescribedLineage
    answers: ProjectAnswers | None = None

    def lineage_of_runs(self) -> Lineage:
        """The lineage with as many runs as can be had."""
        return self.answers.runs() if self.answers else self.described.lineage
