"""All forms of an answer, by their names on the command line; SARIF 2.1.0 is made here.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from dbt_graft import __version__
from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.github import file_of, github
from dbt_graft.analysis.render.json import json_document
from dbt_graft.analysis.render.markdown import markdown
from dbt_graft.analysis.render.text import text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif(answer: Answer) -> str:
    """The document: a result for each finding."""
    rules = [{"id": code} for code in sorted({finding.code for finding in answer.findings})]
    tool = {"driver": {"name": "dbt-graft", "version": __version__, "rules": rules}}
    runs = [{"tool": tool, "results": [_result(finding) for finding in answer.findings]}]
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": runs}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _result(finding: Finding) -> dict[str, Any]:
    text = f"{finding.subject}: {finding.statement}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{text}\n{finding.remedy}" if finding.remedy else text},
    }
    file, line = file_of(finding)
    if file:
        # A name of a file may hold what a URI may not: blanks, `#`, letters beyond ASCII.
        uri = quote(file, errors="surrogateescape")
        location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
        if line:
            location["region"] = {"startLine": line}
        result["locations"] = [{"physicalLocation": location}]
    if finding.accepted:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.accepted}]
    return result


# Form -> an answer in it; the number is that of the rows of a table, None for all.
FORMS: Mapping[str, Callable[[Answer, int | None], str]] = {
    "text": text,
    "json": lambda answer, _most: json_document(answer),
    "markdown": markdown,
    "github": lambda answer, _most: github(answer),
    "sarif": lambda answer, _most: sarif(answer),
}
