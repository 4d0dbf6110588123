"""The summary of a command, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any

from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.injector.report import Report
from dbt_graft.injector.report_text import render_report
from dbt_graft.lineage.definition import ColumnCoverage
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import Gap
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Outcome, Reject
from dbt_graft.lineage.settings import IgnoredTasks

_SHOWN_REASONS = 5
_SHOWN_OF_EXAMPLE = 70
_SHOWN_PLACES = 10


@frozen
class Summary:
    """Counts and places after a command; None for those that the command does not change.

    Attributes:
        new_logs: Logs read by this command.
        runs: Runs of the Python tasks.
        rejects: Log input that could not be used.
        unnamed: Rejects that are left out as no entry of `collect` names their logs.
        report: The changes and decisions of the graft, if asked for.
        unread: Sources and logs that could not be read; they are tried again next time.
        damaged: Files of the lineage store that could not be read; the rest was published.
        noise: Requests left out by noise rules: catalog queries, health checks.
        other_clients: Name -> events in the new logs of clients of SQL Server that are no task.
        gaps: Statements that were not parsed, or only in part.
        ignored: Tasks that graft.yml leaves out.
        columns: The dbt models whose columns were followed.
        code: The columns that the code of tasks explains, in words.
        pages: The pages of the catalog.
        pages_changed: How many of them are new, or other than before.
    """

    store: str
    new_logs: int | None = None
    tasks: int | None = None
    runs: int | None = None
    datasets: int | None = None
    flows: int | None = None
    promoted: int | None = None
    added: int | None = None
    new_sources: int | None = None
    second_writers: int | None = None
    cycles: int | None = None
    rejects: tuple[Reject, ...] = ()
    unnamed: int | None = None
    unread: tuple[Reject, ...] = ()
    damaged: tuple[str, ...] = ()
    noise: int = 0
    other_clients: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    ignored: IgnoredTasks | None = None
    columns: ColumnCoverage | None = None
    code: str = ""
    artifacts: str | None = None
    site: str | None = None
    pages: int | None = None
    pages_changed: int | None = None
    report: Report | None = None

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON values."""
        counts = asdict(replace(self, report=None))
        return {
            **{key: value for key, value in counts.items() if value is not None},
            "rejected": len(self.rejects),
            **({"report": self.report.to_json()} if self.report else {}),
        }

    def _left_out(self) -> Iterator[tuple[str, str]]:
        if self.noise:
            yield "noise", f"{count(self.noise, 'request')} left out, such as catalog queries"
        if self.other_clients:
            yield "clients", _clients_text(self.other_clients)
        if self.ignored and self.ignored.tasks:
            yield "ignored", _ignored_text(self.ignored)

    def __str__(self) -> str:
        lines = []
        if self.new_logs is not None:
            lines.append(("new logs", f"{self.new_logs:,}"))
        if self.tasks is not None:
            lines.append(("tasks", f"{self.tasks:,} in {count(self.runs or 0, 'run')}"))
            flows = count(self.flows or 0, "flow")
            lines.append(("datasets", f"{self.datasets:,}, {flows} between them"))
        if self.promoted is not None:
            models = "is a model now" if self.promoted == 1 else "are models now"
            lines.append(("promoted", f"{count(self.promoted, 'source')} {models}"))
            added, sources = count(self.added or 0, "model"), count(self.new_sources or 0, "source")
            lines.append(("new", f"{added} and {sources} that dbt did not have"))
        if self.second_writers:
            lines.append(
                ("conflicts", f"{count(self.second_writers, 'dataset')} that dbt writes as well")
            )
        if self.cycles:
            lines.append(("cycles", f"{self.cycles:,}, each broken at its newest edge"))
        lines += self._left_out()
        lines += self._unread_lines()
        lines.append(("rejected", f"{len(self.rejects):,}{_reasons(self.rejects)}"))
        if self.gaps:
            lines.append(("gaps", _statements(self.gaps)))
        if self.columns:
            lines.append(("columns", _followed_text(self.columns)))
        if self.code:
            lines.append(("code", f"explains {self.code} that no log explains"))
        of_all = "" if self.pages is None else f"{self.pages_changed:,} of {self.pages:,} changed"
        places = (("pages", of_all), ("artifacts", self.artifacts), ("site", self.site))
        lines += [(name, text) for name, text in places if text]
        summary = "\n".join(f"{name:<10}{text}" for name, text in lines)
        return f"{render_report(self.report)}\n{summary}" if self.report else summary

    def _unread_lines(self) -> Iterator[tuple[str, str]]:
        if self.damaged:
            yield "damaged", _damaged_files(self.damaged)
        if self.unread:
            yield "unread", _places(self.unread)


def _damaged_files(files: Sequence[str]) -> str:
    omitted = len(files) - _SHOWN_PLACES
    shown = [
        "the lineage store; the rest was published, pages of what only these files had are gone:",
        *(f"  {file}" for file in files[:_SHOWN_PLACES]),
        *([f"  and {omitted:,} more"] if omitted > 0 else []),
        "`graft doctor --store` says what to do",
    ]
    return f"\n{'':<10}".join(shown)


def _ignored_text(ignored: IgnoredTasks) -> str:
    """`3 tasks with 12 runs and 40 statements, 5 datasets of theirs alone`"""
    text = f"{count(ignored.tasks, 'task')} with {count(ignored.runs, 'run')}"
    statements, datasets = (
        count(ignored.statements, "statement"),
        count(ignored.datasets, "dataset"),
    )
    return f"{text} and {statements}, {datasets} of theirs alone"


def _clients_text(clients: Mapping[str, int]) -> str:
    """`12 events of clients that are not tasks: 9 of python, 3 of (no name)`"""
    ordered = sorted(clients.items(), key=lambda client: -client[1])
    names = [f"{events:,} of {one_line(name)}" for name, events in ordered]
    total = count(sum(clients.values()), "event")
    return f"{total} of clients that are not tasks: {join_names(names, _SHOWN_REASONS)}"


def _places(unread: Sequence[Reject]) -> str:
    omitted = len(unread) - _SHOWN_PLACES
    shown = [one_line(f"{reject.origin}: {reject.reason}") for reject in unread[:_SHOWN_PLACES]]
    lines = [*shown, f"and {omitted:,} more"] if omitted > 0 else shown
    return f"\n{'':<10}".join(lines)


def _reasons(rejects: Iterable[Reject]) -> str:
    """Each reason with the number of its rejects and the first log that has one."""
    origins = group_by_key((reject.reason, reject.origin) for reject in rejects)
    reasons = sorted(origins.items(), key=lambda reason: -len(reason[1]))
    return _listed([f"{len(logs):,} × {text}, in {one_line(logs[0])}" for text, logs in reasons])


def _listed(reasons: Sequence[str]) -> str:
    """The first reasons, each in a line below that of the summary, and the number of the others."""
    omitted = len(reasons) - _SHOWN_REASONS
    others = [f"and {count(omitted, 'more reason')}"] if omitted > 0 else []
    return "".join(f"\n{'':<12}{line}" for line in (*reasons[:_SHOWN_REASONS], *others))


def _followed_text(columns: ColumnCoverage) -> str:
    followed = f"followed through {columns.followed:,} of {count(columns.of, 'dbt model')}"
    reasons = [f"{number:,} × {reason}" for reason, number in columns.reasons.items()]
    return f"{followed}{_listed(reasons)}"


def _statements(gaps: Sequence[Gap]) -> str:
    failed = sum(gap.shapes for gap in gaps if gap.outcome is Outcome.FAILED)
    partial = sum(gap.shapes for gap in gaps) - failed
    reasons = [
        f"{gap.shapes:,} × {gap.reason}" + (f": {example}" if example else "")
        for gap in gaps
        # Of a run without a text for it, as that of a job of Spark.
        for example in [textwrap.shorten(gap.example, _SHOWN_OF_EXAMPLE, placeholder=" …")]
    ]
    return f"{count(failed, 'statement')} not parsed, {partial:,} parsed in part{_listed(reasons)}"
