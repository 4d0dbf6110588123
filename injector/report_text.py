"""The report of a graft as Markdown; each section begins with the rule behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dbt_graft.injector.report import BuiltDataset, Cycle, NewSource, Report, TaskExposure

_SHOWN = 200


class ReportSection(NamedTuple):
    """The changes of one kind, a line each, and the rule behind them."""

    title: str
    rule: str
    lines: list[str]


def render_report(report: Report) -> str:
    """Render the report as Markdown, without empty sections."""
    return "\n".join(["# Graft report", "", *map(_render, report_sections(report))])


def report_sections(report: Report) -> list[ReportSection]:
    """The sections of the report that have a line."""
    sections: list[tuple[str, str, Iterable[str]]] = [
        (
            "Promoted sources",
            "Sources that tasks write, or that are views, are models now. References to a source "
            "point to its model.",
            (f"{', '.join(b.sources)} -> {_built(b)}" for b in report.promoted),
        ),
        (
            "New models",
            "Datasets that tasks write, or views, that are not in the dbt project.",
            map(_built, report.added),
        ),
        (
            "New sources",
            "Datasets that tasks read, that no task writes and that are not in the dbt project.",
            map(_new_source, report.new_sources),
        ),
        (
            "Exposures",
            "Tasks that only read, and declared consumers.",
            map(_exposure, report.exposures),
        ),
        (
            "Second writers",
            "Datasets that dbt builds and tasks write too. The dbt node is unchanged; its "
            "description names the tasks.",
            map(_built, report.second_writers),
        ),
        (
            "Several writers",
            "Datasets that more than one task writes. One model depends on everything that these "
            "tasks read for it.",
            map(_built, report.shared),
        ),
        (
            "Self-reads",
            "Tasks that read a dataset they write. The model gets no edge to itself.",
            (f"{read.task}: {read.dataset}" for read in report.self_reads),
        ),
        (
            "Cycles",
            "dbt's own edges stay. Of the edges from logs, the one first seen last is left out.",
            map(_cycle, report.cycles),
        ),
        (
            "Ambiguous names",
            "Where several dbt nodes share a relation, lineage goes to the first one listed. A "
            "short name in a log that matches several relations is matched to none.",
            (f"{a.dataset}: {', '.join(a.candidates)}" for a in report.ambiguous),
        ),
        (
            "Name conflicts",
            "The name of an added node was taken. The database, the namespace or a digest makes "
            "it unique.",
            (f"{name.wanted} -> {name.chosen}" for name in report.name_conflicts),
        ),
        (
            "Columns that differ",
            "What dbt's SQL says of a column and what the log of dbt's own runs shows. The catalog "
            "has the edges of both.",
            (f"{difference.node_id}: {difference}" for difference in report.column_differences),
        ),
        ("Notices", "", report.notices),
        (
            "Defects in dbt's artifacts",
            "They are not caused by the graft and were not changed. dbt's docs page may fail on "
            "them.",
            (f"{d.rule}: {d.subject}: {d.text}" for d in report.defects),
        ),
    ]
    listed = [ReportSection(title, rule, list(lines)) for title, rule, lines in sections]
    return [section for section in listed if section.lines]


def _render(section: ReportSection) -> str:
    title, rule, lines = section
    rest = [f"- and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    head = [f"## {title} ({len(lines):,})", ""] + ([rule, ""] if rule else [])
    return "\n".join([*head, *(f"- {line}" for line in lines[:_SHOWN]), *rest, ""])


def _built(built: BuiltDataset) -> str:
    return f"{built.node_id} ({built.dataset}): {', '.join(built.tasks)}"


def _new_source(source: NewSource) -> str:
    return f"{source.node_id} ({source.dataset}): {', '.join(source.tasks)}"


def _exposure(exposure: TaskExposure) -> str:
    return f"{exposure.node_id}: {exposure.task}"


def _cycle(cycle: Cycle) -> str:
    edge = cycle.left_out
    tasks = f" by {', '.join(edge.tasks)}, {edge.evidence}" if edge.tasks else ""
    return f"{cycle.path}; left out: {edge.source} -> {edge.target}{tasks}"
