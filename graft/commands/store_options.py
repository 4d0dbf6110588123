"""The options that the commands of the store share."""

from __future__ import annotations

from typing import Any

import click
import orjson

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(value: dict[str, Any]) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
