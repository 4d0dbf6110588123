"""Findings as annotations of GitHub, which show them beside the lines of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.errors import GraftError

ERROR = "ERROR"  # the code of an error, which no rule has
_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
# Also as `target/manifest.json, line 1, byte 2`.
_FILE = re.compile(r"(?P<place>[^:]+\.(?:ya?ml|json|sql|py|csv|md|html|txt)(?::\d+)?)(?:,.*)?")
_PLACE = re.compile(r"(?!\w+://)(?P<file>.+?)(?::(?P<line>\d+))?", re.DOTALL)  # no URL
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
    file, line = file_of(finding)
    subject = "" if file and finding.subject in ("", finding.place) else finding.subject
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


def file_of(finding: Finding) -> tuple[str, int]:
    """Its file and line, `graft.yml` and 3; empty and 0 where it is about no file or no line.

    Names of tables and tasks look like files: `landing/orders.csv`. Code hosts count a file from
    the top of its repository.
    """
    match = _PLACE.fullmatch(finding.place)
    if not match:
        return "", 0
    file = posixpath.normpath(posixpath.join(_folder(Path.cwd()), match["file"]))
    return file, int(match["line"] or 0)


@lru_cache(maxsize=1)
def _folder(folder: Path) -> str:
    """A folder from the top of its repository; `.` for the top, and outside of one."""
    tops = (top for top in (folder, *folder.parents) if (top / ".git").exists())
    return folder.relative_to(next(tops, folder)).as_posix()


def with_file(finding: Finding) -> Finding:
    """A finding about a setting or a log; if its subject is a file, that is its place."""
    file = None if finding.place else _FILE.fullmatch(finding.subject)
    return replace(finding, place=file["place"]) if file else finding


def findings(error: GraftError) -> Iterator[Finding]:
    """An error as findings: one for each line that names a place of its own."""
    for fault in error.problem.splitlines():
        place, _, problem = (error.place, "", fault) if error.place else fault.partition(": ")
        if not problem:
            place, problem = "", fault
        yield with_file(Finding(ERROR, Severity.ERROR, place, problem, error.remedy))


def _escape(text: str, references: dict[str, str]) -> str:
    return "".join(references.get(character, character) for character in text)
