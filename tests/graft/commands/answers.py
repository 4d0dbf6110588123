"""Answers of commands as JSON, checked by the schema of the envelope and of their data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

DOCS = Path(__file__).parents[3] / "docs"


def read_answer(output: str) -> dict[str, Any]:
    """The answer that a command printed with `--json`, valid by both schemas."""
    answer: dict[str, Any] = json.loads(output)
    for schema, value in (("answer", answer), (answer["question"], answer["data"])):
        document = json.loads((DOCS / f"{schema}.schema.json").read_text())
        jsonschema.validate(value, document, format_checker=jsonschema.FormatChecker())
    return answer
