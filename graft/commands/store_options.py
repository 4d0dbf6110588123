"""The options that the commands of the store share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click
import orjson

from dbt_graft.graft.steps.turn import Duration

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


wait_option = click.option(
    "--wait",
    type=Duration(),
    metavar="DURATION",
    default=timedelta(hours=1),
    help="How long to wait for another graft that works on this store.  [default: 1h]",
)


no_wait_option = click.option("--no-wait", is_flag=True, help="Do not wait: end with 5.")


def print_json(value: dict[str, Any]) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
