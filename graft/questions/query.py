"""Data of the views of `graft query`."""

from __future__ import annotations

from functools import cache

from dbt_graft.analysis.checks.report import check_answer
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.exporters.data.view_data import LEFT_OUT, ProjectAnswers, ViewData, WrittenLabel
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
from dbt_graft.lineage.model import Lineage


def view_data(config: Config, past: Moment | None = None) -> ViewData:
    """The data of views; what costs much is made when a query names it."""
    checked = CheckedProject(config, CheckOptions(past=past))
    described = checked.described

    @cache
    def runs() -> Lineage:
        of_all = checked.project.described_graft(checked.view, lambda lineage: lineage.tasks)[0]
        return of_all.lineage

    contracts = cache(
        lambda: matched_contracts(
            read_contracts(config).contracts, described.lineage, described.descriptions
        )
    )
    answers = ProjectAnswers(
        runs,
        findings=lambda: _findings(checked),
        quality=cache(lambda: project_quality(checked)),
        labels=lambda: project_labels(config, described),
        written_labels=lambda: _written_labels(checked),
        contracts=contracts,
        promises=lambda: project_promises(checked, contracts()),
        sensitive=config.privacy.sensitive_from,
    )
    return ViewData(described, answers)


def _findings(checked: CheckedProject) -> list[Finding]:
    """The findings of all checks, and a note for each check that cannot run."""
    answers, left_out = ask_checks(checked)
    notes = [
        Finding(LEFT_OUT, Severity.NOTE, name, reason.problem, reason.remedy)
        for name, reason in left_out.items()
    ]
    return [*check_answer(answers, checked.config.rules.severities).findings, *notes]


def _written_labels(checked: CheckedProject) -> list[WrittenLabel]:
    """Those that name a classification, and those that name none."""
    config, described = checked.config, checked.described
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
