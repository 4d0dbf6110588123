"""Answers of commands as JSON, checked by the schema of the envelope and of their data."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource

DOCS = Path(__file__).parents[3] / "docs/schemas"


def read_answer(output: str) -> dict[str, Any]:
    """The answer that a command printed with `--json`, valid by both schemas."""
    answer: dict[str, Any] = json.loads(output)
    for schema, value in (("answer", answer), (answer["question"], answer["data"])):
        _validator(f"{schema}.schema.json").validate(value)
    return answer


@cache
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    content = _schema(schema).contents
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(
        content, registry=Registry(retrieve=_schema), format_checker=jsonschema.FormatChecker()
    )


@cache
def _schema(address: str) -> Resource[Any]:
    """A schema of docs/schemas/, by its name or its address, with which others refer to it."""
    return Resource.from_contents(json.loads((DOCS / address.rpartition("/")[2]).read_text()))
