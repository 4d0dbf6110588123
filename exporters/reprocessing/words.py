"""The plan behind a taint as text for a terminal, and as Markdown for an incident."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from dbt_graft.analysis.dates.taint_plan import BadReport, Rerun, TaintPlan
from dbt_graft.analysis.render.markdown import code, one_line
from dbt_graft.exporters.reprocessing.commands import RerunStep
from dbt_graft.lineage.dates.date_text import dates_text

_MOST = 8  # ranges of dates in a line
_LISTED = 20


def taint_text(
    plan: TaintPlan, steps: Sequence[RerunStep], backfills: Sequence[str]
) -> Iterator[str]:
    """The plan for a terminal, line by line."""
    yield from map(one_line, _summary_lines(plan, _plain))
    if not steps:
        yield "nothing must run again"
    for number, step in enumerate(steps, 1):
        if number == 1:
            yield ""
            yield "Run again, in this order:"
        yield one_line(f"{number}. {_title(step.rerun, _plain)}")
        yield from (f"   {one_line(reason)}" for reason in _reasons(step.rerun, _plain))
        yield from (f"   {one_line(line)}" for line in _command_lines(step))
    yield from _section_lines("Or complete DAGs:", backfills)
    yield from _section_lines("Let know:", [_report(report, _plain) for report in plan.reports])
    yield from _section_lines("Clean again:", list(_superseded_lines(plan, _plain)))
    yield from _section_lines(
        "All dates count, as nothing maps them:", list(_unmapped_lines(plan, _plain))
    )
    yield from _section_lines(
        "Tasks that need each other:", [" -> ".join(cycle) for cycle in plan.cycles]
    )


def taint_markdown(
    plan: TaintPlan, steps: Sequence[RerunStep], backfills: Sequence[str], level: int = 1
) -> Iterator[str]:
    """The plan as Markdown, below headings of a level."""
    title, part = "#" * level, "#" * (level + 1)
    yield f"{title} Bad data: what must run again"
    yield ""
    for line in _summary_lines(plan, code):
        yield f"- {line}"
    yield ""
    yield f"{part} Run again, in this order"
    yield ""
    if not steps:
        yield "Nothing."
    for number, step in enumerate(steps, 1):
        yield from _markdown_step(number, step)
    if backfills:
        yield ""
        yield "Or complete DAGs:"
        yield ""
        yield from _block(backfills, "")
    for heading, entries in (
        ("Let know", [_report(report, code) for report in plan.reports]),
        ("Clean again", list(_superseded_lines(plan, code))),
        ("All dates count, as nothing maps them", list(_unmapped_lines(plan, code))),
        ("Tasks that need each other", [" -> ".join(map(code, cycle)) for cycle in plan.cycles]),
    ):
        if entries:
            yield ""
            yield f"{part} {heading}"
            yield ""
            yield from (f"- {line}" for line in entries)


def _markdown_step(number: int, step: RerunStep) -> Iterator[str]:
    yield f"{number}. {_title(step.rerun, code)}"
    for reason in _reasons(step.rerun, code):
        yield f"   - {reason}"
    if step.url:
        yield f"   - <{one_line(step.url)}>"
    if step.note:
        yield f"   - {one_line(step.note)}"
    if step.commands:
        yield ""
        yield from _block(step.commands, "   ")
        yield ""


_Name = Callable[[str], str]


def _plain(name: str) -> str:
    return one_line(name)


def _block(commands: Sequence[str], indent: str) -> Iterator[str]:
    """A fenced block that no name in it can end."""
    yield f"{indent}```sh"
    yield from (f"{indent}{one_line(command)}" for command in commands)
    yield f"{indent}```"


def _summary_lines(plan: TaintPlan, name: _Name) -> Iterator[str]:
    for write in plan.bad[:_LISTED]:
        dates = dates_text(write.dates, most=_MOST)
        writer = f", by run {name(write.run)} of {name(write.task)}" if write.run else ""
        at = f" at {_moment(write.at)}" if write.at else ", since before the logs begin"
        yield f"{name(str(write.dataset))} is bad for {dates}{writer}{at}"
    if len(plan.bad) > _LISTED:
        yield f"and {len(plan.bad) - _LISTED:,} more bad writes"
    if plan.last_good:
        task, run, ended = plan.last_good
        yield f"last good run before: {name(run)} of {name(task)} at {_moment(ended)}"


def _title(rerun: Rerun, name: _Name) -> str:
    dates = dates_text(rerun.dates, rerun.grain, _MOST)
    owner = f" ({one_line(rerun.info.owner)})" if rerun.info.owner else ""
    return f"{name(rerun.name) if rerun.name else 'unknown writer'}{owner}: {dates}"


def _reasons(rerun: Rerun, name: _Name) -> Iterator[str]:
    for output in rerun.outputs[:_LISTED]:
        dates = dates_text(output.dates, output.grain, _MOST)
        runs = len(output.runs)
        bad_runs = f", {runs:,} bad {'run' if runs == 1 else 'runs'}" if runs else ""
        path = f" by {' -> '.join(map(name, output.path))}" if len(output.path) > 1 else ""
        yield f"{name(output.dataset.short)} {dates}{bad_runs}{path}"


def _command_lines(step: RerunStep) -> Iterator[str]:
    yield from (f"$ {command}" for command in step.commands)
    if step.url:
        yield step.url
    if step.note:
        yield f"({step.note})"


def _report(report: BadReport, name: _Name) -> str:
    owner = f", {one_line(report.owner)}" if report.owner else ""
    datasets = ", ".join(
        f"{name(dataset.short)} {dates_text(dates, most=_MOST) if dates else '(clean again)'}"
        for dataset, dates in list(report.datasets.items())[:_LISTED]
    )
    at = f", last read at {_moment(report.read_at)}" if report.read_at else ""
    return f"{name(report.name)} ({one_line(report.kind)}{owner}): {datasets}{at}"


def _superseded_lines(plan: TaintPlan, name: _Name) -> Iterator[str]:
    for write in plan.superseded[-_LISTED:]:
        yield (
            f"{name(write.output[1].short)} {dates_text(write.dates, most=_MOST)}, written again "
            f"by run {name(write.run)} of {name(write.task)} at {_moment(write.at)}"
        )
    if len(plan.superseded) > _LISTED:
        yield f"and {len(plan.superseded) - _LISTED:,} more before"


def _unmapped_lines(plan: TaintPlan, name: _Name) -> Iterator[str]:
    for (task, source, target), _ in plan.unmapped:
        yield f"{name(source.short)} -> {name(target.short)}, by {name(task)}"


def _section_lines(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        yield from (f"  {one_line(line)}" for line in lines)


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
