"""Findings as annotations of GitHub, which show them beside the lines of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.errors import GraftError

_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_FILE = re.compile(r"(?P<file>[^:]+\.(?:ya?ml|json|sql|py))(?::(?P<line>\d+))?(?:,.*)?")
_REFERENCES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_REFERENCES, ":": "%3A", ",": "%2C"}


def annotation(finding: Finding) -> str:
    """`::error file=graft.yml,line=3::…`; without a file if the finding is about none."""
    match = _FILE.fullmatch(finding.subject)
    properties = {
        "file": match["file"] if match else None,
        "line": match["line"] if match else None,
        "title": None if match else finding.subject,
    }
    written = ",".join(
        f"{key}={_escape(value, _IN_PROPERTIES)}" for key, value in properties.items() if value
    )
    message = f"{finding.problem}\n{finding.remedy}" if finding.remedy else finding.problem
    head = f"::{_KINDS[finding.severity]} {written}".rstrip()
    return f"{head}::{_escape(message, _REFERENCES)}"


def findings(error: GraftError) -> Iterator[Finding]:
    """An error as findings: one for each line that names a place of its own."""
    for fault in error.problem.splitlines():
        place, _, problem = (error.place, "", fault) if error.place else fault.partition(": ")
        if not problem:
            place, problem = "", fault
        yield Finding(Severity.ERROR, place, problem, error.remedy)


def _escape(text: str, references: dict[str, str]) -> str:
    return "".join(references.get(character, character) for character in text)
