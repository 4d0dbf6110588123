"""Findings as annotations of GitHub, which show them beside the lines of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.errors import GraftError

ERROR = "ERROR"  # the code of an error, which no rule has
_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_FILE = re.compile(
    r"(?P<file>[^:]+\.(?:ya?ml|json|sql|py|csv|md|html|txt))(?::(?P<line>\d+))?(?:,.*)?"
)
_REFERENCES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_REFERENCES, ":": "%3A", ",": "%2C"}


def github(answer: Answer) -> str:
    """An annotation for each finding, and a notice with the answer itself."""
    lines = [annotation(finding) for finding in answer.findings]
    if answer.verdict:
        title = _escape(answer.title, _IN_PROPERTIES)
        lines.append(f"::notice title={title}::{_escape(answer.verdict, _REFERENCES)}")
    lines += [f"::notice ::{_escape(note, _REFERENCES)}" for note in answer.notes]
    return "".join(f"{line}\n" for line in lines)


def annotation(finding: Finding) -> str:
    """`::error file=graft.yml,line=3::…`; without a file if the finding is about none."""
    file, line = split_place(finding.place or finding.subject)
    subject = "" if file and not finding.place else finding.subject
    properties = {
        "file": file,
        "line": str(line) if line else "",
        "title": f"{finding.code} {subject}".strip() if finding.code != ERROR else subject,
    }
    written = ",".join(
        f"{key}={_escape(value, _IN_PROPERTIES)}" for key, value in properties.items() if value
    )
    message = "\n".join(filter(None, (finding.statement, finding.remedy)))
    head = f"::{_KINDS[finding.severity]} {written}".rstrip()
    return f"{head}::{_escape(message, _REFERENCES)}"


def split_place(place: str) -> tuple[str, int]:
    """`graft.yml:3` -> `graft.yml`, 3; an empty file and 0 where it names no file or no line."""
    match = _FILE.fullmatch(place)
    return (match["file"], int(match["line"] or 0)) if match else ("", 0)


def findings(error: GraftError) -> Iterator[Finding]:
    """An error as findings: one for each line that names a place of its own."""
    for fault in error.problem.splitlines():
        place, _, problem = (error.place, "", fault) if error.place else fault.partition(": ")
        if not problem:
            place, problem = "", fault
        yield Finding(ERROR, Severity.ERROR, place, problem, error.remedy)


def _escape(text: str, references: dict[str, str]) -> str:
    return "".join(references.get(character, character) for character in text)
