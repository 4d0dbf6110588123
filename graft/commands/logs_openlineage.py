"""The command `graft logs openlineage`: emitted events against expected ones."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.exporters.openlineage.expectations import (
    ExpectedEvents,
    KeyResult,
    compare,
    event_name,
    expected_events,
)
from dbt_graft.exporters.openlineage.files import (
    document_files,
    read_document,
    read_events,
    read_stream,
)
from dbt_graft.lineage.errors import GraftError

_STANDARD_INPUT = Path("-")
_OTHERS = 5


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def openlineage(events: Path, templates: tuple[Path, ...], *, as_json: bool) -> None:
    """Compare emitted events with expected ones.

    EVENTS is a file with an event a line or a list of events, a folder of such files, or - for
    standard input; .gz too. Only what an expected event names is compared. Its texts may be Jinja
    with the functions any, is_datetime, is_uuid, regex_match, env_var and not_match, as in the
    system tests of Airflow's OpenLineage provider.
    """
    expected = _read_expected(templates)
    emitted = _read_emitted(events)
    try:
        results = compare(expected, emitted)
    except RecursionError as error:
        raise GraftError("an event is nested too deeply", place=str(events)) from error
    others = sorted({event_name(event) for event in emitted} - {group.key for group in expected})
    if as_json:
        click.echo(orjson.dumps(_json(results, len(emitted)), option=orjson.OPT_INDENT_2))
    else:
        _print(results, others)
    if not all(result.is_met for result in results):
        sys.exit(1)


def _read_expected(paths: Sequence[Path]) -> list[ExpectedEvents]:
    groups: dict[str, ExpectedEvents] = {}
    for path in paths:
        for file in document_files(path):
            try:
                expected = expected_events(read_document(file))
            except ValueError as error:
                raise GraftError(str(error), place=str(file)) from error
            for group in expected:
                if group.key in groups:
                    raise GraftError(
                        f"{group.key} is expected in another file too",
                        place=str(file),
                        remedy="write all events of a key as a list in one file",
                    )
                groups[group.key] = group
    if not groups:
        raise GraftError("no event is expected", place=", ".join(map(str, paths)))
    return list(groups.values())


def _read_emitted(path: Path) -> list[Any]:
    is_input = path == _STANDARD_INPUT
    events = read_stream(sys.stdin.buffer, "-") if is_input else read_events(path)
    for number, event in enumerate(events, 1):
        try:
            event_name(event)
        except ValueError as error:
            raise GraftError(f"event {number} {error}", place=str(path)) from error
    return events


def _print(results: Sequence[KeyResult], others: Sequence[str]) -> None:
    for result in results:
        if result.is_met:
            continue
        click.echo(one_line(result.key))
        if result.expected != result.found:
            wanted = count(result.expected, "event") if result.expected else "no event"
            click.echo(f"  expected {wanted}, found {result.found or 'none'}")
        for difference in result.differences:
            click.echo(one_line(f"  {difference.path or 'event'}: {difference.problem}"))
    met = sum(result.is_met for result in results)
    if any(result.found < result.expected for result in results) and others:
        rest = f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
        click.echo(one_line(f"other events: {', '.join(others[:_OTHERS])}{rest}"))
    click.echo(f"{met} of {count(len(results), 'key')} as expected")


def _json(results: Sequence[KeyResult], events: int) -> dict[str, Any]:
    return {
        "events": events,
        "expected": sum(result.expected for result in results),
        "as_expected": all(result.is_met for result in results),
        "missing": [result.key for result in results if result.expected and not result.found],
        "keys": [
            {
                "key": result.key,
                "as_expected": result.is_met,
                "expected": result.expected,
                "found": result.found,
                "differences": [
                    {
                        "path": difference.path,
                        "problem": difference.problem,
                        "expected": difference.expected,
                        "found": difference.found,
                    }
                    for difference in result.differences
                ],
            }
            for result in results
        ],
    }
