"""The checks of `graft check`.

To add a rule, write it into `dbt_graft.analysis.rule`, with the name of its check; whatever finds
what breaks it makes `RULE.finding(subject, problem, remedy)`. graft.yml's severities are applied
here, to all findings alike, so a check gives each its rule's own. The table in docs/check.md has
the rule, too.

To add a check, write a module beside this one with a function that takes a `CheckedProject` and
returns an `Answer`: its findings, and the tables, facts and notes that `--only` shows beside them.
Its verdict, a few words, is all that stands for these when several checks run. Its `data` is of
`docs/NAME.schema.json`, which docs/check.schema.json refers to. It raises `NothingToCheckError`
where there is nothing that it could look at. Then name it in `CHECKS`; an option that it needs is
one of `CheckOptions` and of `graft.commands.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.report import check_answer
from dbt_graft.analysis.checks.rules import owners
from dbt_graft.analysis.rule import RULES, Rule
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.graft.questions.checks.rules import check_rules


@dataclass(frozen=True, slots=True)
class Check:
    """A check.

    Attributes:
        doc: Its line in `graft check --help`.
        ask: Answers it; each finding has the severity of its rule.
    """

    name: str
    doc: str
    ask: Callable[[CheckedProject], Answer]

    @property
    def rules(self) -> list[Rule]:
        """The rules that it holds."""
        return [rule for rule in RULES.values() if rule.check == self.name]


CHECKS: Mapping[str, Check] = {
    check.name: check
    for check in (
        Check("rules", "What should be known of datasets and tasks, and is not.", check_rules),
    )
}


def run_checks(checked: CheckedProject, names: Sequence[str] = ()) -> Answer:
    """The answer of all checks that can run, or of those that are named.

    Raises:
        GraftError: The project cannot be read, or a check that is named cannot run.
    """
    answers: dict[str, Answer] = {}
    notes = []
    for name in names or CHECKS:
        try:
            answers[name] = CHECKS[name].ask(checked)
        except NothingToCheckError as reason:
            if names:
                raise
            remedy = f"; {reason.remedy}" if reason.remedy else ""
            notes.append(f"{name} was left out: {reason.problem}{remedy}")
    severities = checked.config.rules.severities
    if names:
        return check_answer(answers, severities)
    described = checked.described
    owned = owners(described.lineage, described.descriptions)
    return check_answer(answers, severities, notes, owned)
