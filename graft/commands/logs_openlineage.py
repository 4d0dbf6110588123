"""The command `graft logs openlineage`: emitted events against expected ones."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.questions.logs.emitted_events import compare_events


@click.command(
    epilog="\b\nExit codes: 0 as expected; 1 a difference, or a file cannot be read; 2 invalid "
    "command line.\n\n"
    "\b\nExamples:\n"
    "  graft logs openlineage events.jsonl --expect expected.json\n"
    "  graft logs openlineage events/ --expect expected/ --json\n\n"
    "\b\nexpected.json:\n"
    '  {"load_orders.event.complete": {\n'
    '    "run": {"runId": "{{ is_uuid(result) }}"},\n'
    '    "outputs": [{"namespace": "mssql://crm:1433", "name": "Shop.dbo.Orders"}]}}'
)
@click.argument("events", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--expect",
    "templates",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="Expected events: a JSON or YAML file, or a folder of them; repeatable.",
)
@json_option
def openlineage(events: Path, templates: tuple[Path, ...], *, as_json: bool) -> None:
    """Compare emitted events with expected ones.

    EVENTS is a file with an event a line or a list of events, a folder of such files, or - for
    standard input; .gz too. Only what an expected event names is compared. Its texts may be Jinja
    with the functions any, is_datetime, is_uuid, regex_match, env_var and not_match, as in the
    system tests of Airflow's OpenLineage provider.
    """
    compared = compare_events(events, templates)
    if as_json:
        print_json(compared.to_json(), str(events))
    else:
        click.echo("\n".join(map(one_line, compared.lines())))
    if not compared.is_met:
        sys.exit(1)
