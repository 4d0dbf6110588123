"""The command `graft logs xel`: events in .xel files, without Windows and SQL Server."""

from __future__ import annotations

import os
import sys

import click

from dbt_graft.graft.commands.answering import FAILS
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.questions.logs.xel_events import (
    EventTally,
    event_filter,
    print_events,
    read_chunks,
)

_EXAMPLES = """\b
Examples:
  graft logs xel lineage_0_133*.xel --summary
  graft logs xel xe/ --application 'python_task::*' --name sql_batch_completed
  graft logs xel lineage.xel --format ndjson | jq -r .data.batch_text
"""


@click.command(epilog=_EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "ndjson", "xml"]),
    help="Output format.  [default: table on a terminal, else ndjson]",
)
@click.option("--summary", is_flag=True, help="Count the events instead of printing them.")
@json_option
@click.option("--name", "names", multiple=True, help="Only events of this name; repeatable.")
@click.option(
    "--application",
    multiple=True,
    help="Only events with a client_app_name like this glob; repeatable.",
)
@click.option("--head", type=click.IntRange(min=0), help="Only this many events.")
@click.option("--strict", is_flag=True, help="Exit with 3 if something was damaged.")
def xel(
    files: tuple[str, ...],
    form: str | None,
    names: tuple[str, ...],
    application: tuple[str, ...],
    head: int | None,
    *,
    summary: bool,
    as_json: bool,
    strict: bool,
) -> None:
    """Print the events in FILES, or folders of .xel files.

    All that was captured is shown: statements with their literals, names of users and machines.
    Damaged blocks are reported on standard error and skipped; where nothing is left, it is an
    error.
    """
    out = sys.stdout.buffer
    tally = EventTally()
    chunks = read_chunks(files, event_filter(names, application), tally)
    try:
        if summary or as_json:
            for chunk in chunks:
                tally.add(chunk)
            if as_json:
                print_json(tally.to_json())
            else:
                click.echo(str(tally))
        else:
            print_events(chunks, form or ("table" if out.isatty() else "ndjson"), head, out)
        out.flush()
    except BrokenPipeError:
        # `| head` has enough; Python would complain when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if strict and tally.damages:
        sys.exit(FAILS)
    sys.exit(int(bool(tally.damages) and not tally.is_read))
