"""Commands that answer a question: one set of options, all formats, one rule for the exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.forms import FORMS
from dbt_graft.graft.commands.command import config_option
from dbt_graft.graft.commands.values import as_of_option
from dbt_graft.graft.project.output_file import write_file

FAILS = 3  # what --fail-on names was found
_ROWS = 20
SEVERITIES = tuple(severity.value for severity in reversed(Severity))
Command = Callable[..., Any]
Question = Callable[..., Answer | tuple[Answer, str | None] | None]


def answers(
    *, scale: Sequence[str] = SEVERITIES, as_of: bool = False, rows: int = _ROWS
) -> Callable[[Question], Command]:
    """Make a function that returns an `Answer` the callback of a command.

    The command has `--config`, `--format`, `--json`, `--all`, `--output` and `--fail-on`, and
    ends with 3 where the answer's grade reaches it. The function gets `config_path`, and `past` if
    it has `--as-of`; of the other options it knows nothing. It may return, beside the answer, the
    grade from which on a project fails where the command line names none; or None where a command
    below it answers.

    Args:
        scale: The grades that `--fail-on` takes, the mildest first; none for no such option.
        as_of: The question can be asked about a past time.
        rows: The rows of a table as text or Markdown where `--all` is not given.
    """

    def decorate(ask: Question) -> Command:
        @functools.wraps(ask)
        def run(
            *args: Any,
            form: str,
            as_json: bool,
            everything: bool,
            output: Path | None,
            fail_on: str | None = None,
            **settings: Any,
        ) -> None:
            result = ask(*args, **settings)
            if result is None:
                return
            answer, limit = result if isinstance(result, tuple) else (result, None)
            answer = replace(answer, findings=_with_short_places(answer.findings))
            written = FORMS["json" if as_json else form](answer, None if everything else rows)
            if output:
                write_file(output, written.encode("utf-8", "replace"))
            else:
                click.echo(written, nl=False)
            limit = fail_on or limit
            if limit and answer.grade and scale.index(answer.grade) >= scale.index(limit):
                sys.exit(FAILS)

        command: Command = run
        if as_of:
            command = as_of_option(command)
        for option in reversed(_options(scale)):
            command = option(command)
        return command

    return decorate


def _with_short_places(findings: Sequence[Finding]) -> list[Finding]:
    """Findings whose files below the working directory are relative to it, as CI annotates them."""
    return [_with_short_place(finding, f"{Path.cwd()}{os.sep}") for finding in findings]


def _with_short_place(finding: Finding, here: str) -> Finding:
    place = finding.place.removeprefix(here)
    subject = place if finding.subject == finding.place else finding.subject
    return replace(finding, place=place, subject=subject)


def _options(scale: Sequence[str]) -> list[Callable[[Command], Command]]:
    options: list[Callable[[Command], Command]] = [
        config_option,
        click.option(
            "--format",
            "form",
            type=click.Choice([*FORMS]),
            default="text",
            show_default=True,
            help="Output format: markdown for a comment, github for annotations on a pull "
            "request, sarif for code scanning.",
        ),
        click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
        click.option("--all", "everything", is_flag=True, help="Show all rows."),
        click.option(
            "--output",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the answer to this file.  [default: standard output]",
        ),
    ]
    if scale:
        fail_on = click.option(
            "--fail-on",
            type=click.Choice([*scale]),
            help=f"End with {FAILS} from this on.",
        )
        options.append(fail_on)
    return options
