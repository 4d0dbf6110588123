"""Answers and findings as JSON: one envelope for all questions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import orjson

from dbt_graft import __version__
from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding

VERSION = 1
_LINES = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_SCHEMAS = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/schemas"


def envelope(schema: str) -> dict[str, Any]:
    """The head of every document that we write."""
    return {
        "$schema": f"{_SCHEMAS}/{schema}.schema.json",
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
    }


def json_document(answer: Answer) -> str:
    """The answer in the envelope, of the schema `docs/schemas/answer.schema.json`."""
    document = {
        **envelope("answer"),
        "question": answer.question,
        "title": answer.title,
        "verdict": answer.verdict or None,
        "grade": answer.grade or None,
        "findings": [finding_json(finding) for finding in answer.findings],
        "notes": list(answer.notes),
        "data": answer.data,
    }
    # Of very many rows an answer has a sequence that makes them when they are read.
    try:
        return orjson.dumps(document, default=list, option=_LINES).decode()
    except TypeError:
        # A lone surrogate in a name of a file, which orjson does not write.
        return json.dumps(document, indent=2, default=list) + "\n"


def iso(moment: datetime | None) -> str | None:
    """A time in ISO 8601, in UTC, without what is less than a second."""
    return exact_iso(moment.replace(microsecond=0)) if moment else None


def exact_iso(moment: datetime | None) -> str | None:
    """A time in ISO 8601, in UTC, as exact as it is known."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding, with null for what it does not name."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "subject": finding.subject,
        "problem": finding.problem,
        "remedy": finding.remedy or None,
        "owner": finding.owner or None,
        "place": finding.place or None,
        "path": list(finding.path),
        "accepted": finding.accepted or None,
    }
