"""The option `--json` of commands that are no questions, and what it prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.render.json import json_document

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(data: Mapping[str, Any], title: str = "") -> None:
    """Print data in the envelope of all answers; its question is the command."""
    command = click.get_current_context().command_path.partition(" ")[2]
    click.echo(json_document(Answer(title, question=command, data=data)), nl=False)
