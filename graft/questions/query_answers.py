"""Answers that follow from the lineage, for those views of `graft query` that show them."""

from __future__ import annotations

from functools import cached_property

from dbt_graft.analysis.checks.contract_promises import CheckedPromise
from dbt_graft.analysis.checks.contracts import ContractMatches
from dbt_graft.analysis.checks.report import check_answer
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.analysis.quality.report import Quality
from dbt_graft.exporters.data.view_data import LEFT_OUT, WrittenLabel
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.contracts import matched_contracts, read_contracts
from dbt_graft.graft.project.declared_labels import declared_labels
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.graft.project.privacy_labels import project_labels
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, CheckOptions
from dbt_graft.graft.questions.checks.contracts import project_promises
from dbt_graft.graft.questions.checks.quality import project_quality
from dbt_graft.graft.questions.checks.registry import ask_checks


class CheckedAnswers:
    """The answers of checks, each as `ProjectAnswers` has it."""

    def __init__(self, config: Config, past: Moment | None) -> None:
        self._checked = CheckedProject(config, CheckOptions(past=past))

    def findings(self) -> list[Finding]:
        """The findings of all checks, and a note for each check that cannot run."""
        answers, left_out = ask_checks(self._checked)
        notes = [
            Finding(LEFT_OUT, Severity.NOTE, name, reason.problem, reason.remedy)
            for name, reason in left_out.items()
        ]
        severities = self._checked.config.rules.severities
        return [*check_answer(answers, severities).findings, *notes]

    @cached_property
    def quality(self) -> Quality:
        """Faults and forecasts."""
        return project_quality(self._checked)

    def labels(self) -> PrivacyLabels:
        """The classifications of columns."""
        return project_labels(self._checked.config, self._checked.described)

    def written_labels(self) -> list[WrittenLabel]:
        """The labels that name a classification, and those that name none."""
        config, described = self._checked.config, self._checked.described
        declared = declared_labels(config, described, impact_graph(config, described))
        labels = [
            WrittenLabel(
                f"{label.dataset}.{label.column}", label.label, label.classification, label.source
            )
            for label in declared.columns
        ]
        labels += [
            WrittenLabel(str(dataset), level.text, level)
            for dataset, level in declared.datasets.items()
        ]
        labels += [WrittenLabel(label.subject, label.label, None) for label in declared.unknown]
        return sorted(labels, key=lambda label: (label.subject, label.label))

    @cached_property
    def contracts(self) -> ContractMatches:
        """The contracts and their datasets."""
        described = self._checked.described
        return matched_contracts(
            read_contracts(self._checked.config).contracts,
            described.lineage,
            described.descriptions,
        )

    def promises(self) -> list[CheckedPromise]:
        """The promises of contracts."""
        return [*project_promises(self._checked, self.contracts)]
