"""The checks of `graft check`.

To add a rule, write it into `dbt_graft.analysis.rule`, with the name of its check; whatever finds
what breaks it makes `RULE.finding(subject, problem, remedy)`. graft.yml's severities are applied
here, to all findings alike, so a check gives each its rule's own. The table in docs/check.md has
the rule, too.

To add a check, write a module beside this one with a function `check_NAME`, by the module's name,
that takes a `CheckedProject` and returns an `Answer`: its findings, and the tables, facts and notes
that `--only` shows beside them. Its verdict, a few words, is all that stands for these when several
checks run. Its `data` is of `docs/schemas/NAME.schema.json`, which check.schema.json refers to. It
raises `NothingToCheckError` where there is nothing that it could look at: `graft check` notes it,
and `--only` fails. Then name it in `CHECKS`; an option that it needs is one of `CheckOptions` and
of `graft.commands.check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.report import check_answer
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError

# Check -> its line in `graft check --help`; `check_NAME` in the module of its name answers it.
CHECKS: Mapping[str, str] = {
    "rules": "What should be known of datasets and tasks, and is not.",
    "drift": "What is declared, and what runs are seen to do.",
    "contracts": "Data contracts, and the datasets and columns that they promise.",
    "artifacts": "What `graft inject` changes in dbt's artifacts, and lineage that is lost.",
    "dags": "The order of DAGs, and the order that lineage demands.",
    "privacy": "Where sensitive values are, and how they came there.",
    "quality": "Who reads data whose tests failed, or that is late.",
    "freshness": "Up to when each source is collected, and how far it is behind.",
    "links": "Links of runbooks into the site that lead nowhere.",
    "audience": "What published sites have and their audiences may not see.",
}


def run_checks(checked: CheckedProject) -> Answer:
    """The answer of all checks that can run, or of those that are named.

    Raises:
        GraftError: The project cannot be read, or a check that is named cannot run.
    """
    answers, left_out = ask_checks(checked)
    notes = [
        f"{name} is left out: {'; '.join(filter(None, (reason.problem, reason.remedy)))}"
        for name, reason in left_out.items()
    ]
    owned = None if checked.options.only else checked.owners
    return check_answer(answers, checked.config.rules.severities, notes, owned)


def ask_checks(
    checked: CheckedProject,
) -> tuple[dict[str, Answer], dict[str, NothingToCheckError]]:
    """The answers of checks by their names, and why others cannot run here.

    Raises:
        GraftError: As `run_checks`.
    """
    answers: dict[str, Answer] = {}
    left_out: dict[str, NothingToCheckError] = {}
    only = checked.options.only
    for name in only or CHECKS:
        try:
            # Imported now: many checks are not asked for.
            module = import_module(f"dbt_graft.graft.questions.checks.{name}")
            answers[name] = getattr(module, f"check_{name}")(checked)
        except NothingToCheckError as reason:
            if only:
                raise
            left_out[name] = reason
    return answers, left_out
