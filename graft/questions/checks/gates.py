"""The findings of all gates: rules, drift, contracts, privacy, and what `graft inject` forbids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from dbt_graft.analysis.checks.drift import DriftStatus
from dbt_graft.analysis.checks.rules import RuleScope, rule_findings
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.rule import (
    COLUMN_DRIFT,
    DAG_ORDER,
    FORBIDDEN_CHANGE,
    PHANTOM_EDGE,
    RULES,
    UNDECLARED_EDGE,
)
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.questions.checks.contract_findings import contract_findings
from dbt_graft.graft.questions.checks.drift_report import drift_report
from dbt_graft.graft.questions.checks.drift_text import column_lines
from dbt_graft.graft.questions.checks.forbidden import find_forbidden
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow

_SEVERITIES = list(Severity)
_DRIFT = {DriftStatus.PHANTOM: PHANTOM_EDGE.code, DriftStatus.UNDECLARED: UNDECLARED_EDGE.code}


def gate_findings(
    config: Config, described: DescribedLineage, grafted: Grafted | None
) -> list[Finding]:
    """The findings of all gates, the worst first; codes that graft.yml turns off are left out."""
    severities = config.rules.severities
    findings = [
        replace(finding, severity=severities[code])
        for code, finding in _all_findings(config, described, grafted)
        if code in severities
    ]
    return sorted(
        findings,
        key=lambda finding: (_SEVERITIES.index(finding.severity), finding.code, finding.subject),
    )


def _all_findings(
    config: Config, described: DescribedLineage, grafted: Grafted | None
) -> Iterator[tuple[str, Finding]]:
    lineage = described.lineage
    for forbidden in find_forbidden(config, grafted) if grafted else ():
        if forbidden.rule == "second_writer":
            continue  # The rule of lineage finds it, of what dbt does not know too.
        subject = forbidden.names[0] if forbidden.names else "dbt"
        remedy = "correct it, or list it below `check: {accept: […]}` in graft.yml"
        yield FORBIDDEN_CHANGE.code, FORBIDDEN_CHANGE.finding(subject, str(forbidden), remedy)
    rules = rule_findings(
        lineage, described.descriptions, described.consumers, _scope(config, lineage.flows)
    )
    yield from ((finding.code, finding) for finding in rules)
    models = {definition.name for definition in lineage.definitions.values()}
    drifted = drift_report(config, described)
    for edge in drifted.edges:
        if code := _DRIFT.get(edge.status):
            phantom = f"is declared, and none of its {edge.runs:,} runs does it"
            how = phantom if code == PHANTOM_EDGE.code else "is seen, and not declared"
            problem = f"that it {edge.direction.value}s {edge.dataset} {how}"
            remedy = "run `graft declared propose`, which prints the YAML that settles it"
            if edge.task in models:
                remedy = "name tables by `ref` and `source`, and only those that the model reads"
            owner = lineage.tasks[edge.task].info.owner if edge.task in lineage.tasks else ""
            yield code, RULES[code].finding(edge.task, problem, remedy, owner)
    owner_of = {str(dataset): text.owner for dataset, text in described.descriptions.items()}
    for dataset_id, text in column_lines(drifted.columns):
        subject = str(dataset_id)
        remedy = "run `dbt docs generate`, and correct the columns in YAML"
        owner = owner_of.get(subject, "")
        yield COLUMN_DRIFT.code, COLUMN_DRIFT.finding(subject, text, remedy, owner)
    for order in drifted.orders:
        if order.fault.is_error:
            remedy = "let it depend on the writer, or `airflow: {ignore: …}` in graft.yml"
            yield DAG_ORDER.code, DAG_ORDER.finding(order.task, order.text, remedy)
    catalog = grafted.catalog if grafted else {}
    yield from (
        (finding.code, finding) for finding in contract_findings(config, described, catalog)
    )


def _scope(config: Config, flows: Sequence[Flow]) -> RuleScope:
    newest: datetime | None = max((flow.last_at for flow in flows if flow.last_at), default=None)
    return RuleScope(
        frozenset(map(str.casefold, config.rules.certified)),
        frozenset(map(str.casefold, config.rules.gold)),
        config.rules.platform,
        newest - config.impact.stale_span if newest else None,
    )
