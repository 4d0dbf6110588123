"""The answers of several checks as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.finding import Finding, Severity, worst_first
from dbt_graft.analysis.render.text import count_severities


def check_answer(
    answers: Mapping[str, Answer],
    severities: Mapping[str, Severity],
    notes: Sequence[str] = (),
    owned: Mapping[str, str] | None = None,
) -> Answer:
    """The findings of all, the worst first, with the severities of a project.

    One check that is asked for by itself keeps its tables and facts; of several, each is a line.

    Args:
        answers: The name of a check -> what it gives.
        severities: Code -> severity; findings of other codes are left out.
        notes: The checks that could not run.
        owned: Dataset or task -> its owner, for their scores; None if not all checks ran.
    """
    answers = {name: _regrade(answer, severities) for name, answer in answers.items()}
    findings = worst_first(finding for answer in answers.values() for finding in answer.findings)
    scores = {} if owned is None else owner_scores(owned, findings)
    verdict = count_severities(findings) if findings else "nothing was found"
    if len(answers) == 1:
        [answer] = answers.values()
        title, verdict = answer.title, answer.verdict or verdict
        facts, tables, notes = answer.facts, answer.tables, [*notes, *answer.notes]
    else:
        title, tables = "check", ()
        facts = {name: _verdict(answer) for name, answer in answers.items()}
        notes = [*notes, *(note for answer in answers.values() for note in answer.notes)]
    if scores:
        head = ("owner", "% without a warning or an error")
        tables = [*tables, Table("owners", head, list(scores.items()))]
    return Answer(
        title,
        verdict,
        facts,
        tables,
        notes,
        findings,
        findings[0].severity.value if findings else "",
        "check",
        {
            **{name: answer.data for name, answer in answers.items() if answer.data},
            "owners": scores,
        },
    )


def _regrade(answer: Answer, severities: Mapping[str, Severity]) -> Answer:
    findings = [
        replace(finding, severity=severities[finding.code])
        for finding in answer.findings
        if finding.code in severities
    ]
    return replace(answer, findings=findings)


def _verdict(answer: Answer) -> str:
    findings = count_severities(answer.findings) if answer.findings else "nothing was found"
    return answer.verdict or findings


def owner_scores(owned: Mapping[str, str], findings: Collection[Finding]) -> dict[str, int]:
    """For each owner the share of datasets and tasks, in per cent, without a warning or an error.

    Args:
        owned: Dataset or task -> its owner.
    """
    wrong = {finding.subject for finding in findings if finding.severity is not Severity.NOTE}
    counts = Counter(owned.values())
    bad = Counter(owner for subject, owner in owned.items() if subject in wrong)
    return {owner: 100 * (counts[owner] - bad[owner]) // counts[owner] for owner in sorted(counts)}
