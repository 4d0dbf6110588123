"""The check `rules`: what should be known of datasets and tasks, and is not."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.rules import RuleScope, rule_findings
from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.questions.checks.checked_project import CheckedProject
from dbt_graft.lineage.flow import Flow


def check_rules(checked: CheckedProject) -> Answer:
    """The findings of the rules of lineage."""
    described, config = checked.described, checked.config
    scope = _scope(config, described.lineage.flows)
    lineage, descriptions = described.lineage, described.descriptions
    return Answer(
        "rules of lineage",
        findings=rule_findings(lineage, descriptions, described.consumers, scope),
    )


def _scope(config: Config, flows: Sequence[Flow]) -> RuleScope:
    newest = newest_of(flow.last_at for flow in flows)
    return RuleScope(
        frozenset(map(str.casefold, config.rules.certified)),
        frozenset(map(str.casefold, config.rules.gold)),
        config.rules.platform,
        config.check.accept,
        newest - config.impact.stale_span if newest else None,
    )
