"""All forms of an answer, by their names on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.render.github import github
from dbt_graft.analysis.render.json import json_document
from dbt_graft.analysis.render.markdown import markdown
from dbt_graft.analysis.render.sarif import sarif
from dbt_graft.analysis.render.text import text

# Form -> an answer in it; the number is that of the rows of a table, None for all.
FORMS: Mapping[str, Callable[[Answer, int | None], str]] = {
    "text": text,
    "json": lambda answer, _most: json_document(answer),
    "markdown": markdown,
    "github": lambda answer, _most: github(answer),
    "sarif": lambda answer, _most: sarif(answer),
}
