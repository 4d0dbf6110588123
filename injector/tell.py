"""The report of a graft as text for people; each section begins with the rule it went by."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_graft.injector.report import Built, Cycle, Read, Report

_SHOWN = 200


def tell(report: Report) -> str:
    """The report as Markdown; a section that has nothing to say is left out."""
    sections = [
        (
            "Promoted sources",
            "A source that tasks write, or that is a view, became a model; all that named it "
            "names the model.",
            (f"{', '.join(b.sources)} -> {_built(b)}" for b in report.promoted),
        ),
        (
            "New models",
            "Tasks write what dbt does not know.",
            map(_built, report.added),
        ),
        (
            "New sources",
            "Tasks read what dbt does not know and nobody is seen to write.",
            map(_read, report.new_sources),
        ),
        (
            "Exposures",
            "A task that reads and writes nothing lasting, or a declared consumer.",
            map(_read, report.exposures),
        ),
        (
            "Second writers",
            "dbt builds it and tasks write it too: dbt's node stays, its description names them.",
            map(_built, report.second_writers),
        ),
        (
            "Several writers",
            "More than one task writes it: one model, which depends on what each of them reads.",
            map(_built, report.shared),
        ),
        (
            "Reads of one's own",
            "A task reads what it writes: no edge, since the page cannot draw it.",
            (f"{read.task}: {read.dataset}" for read in report.self_reads),
        ),
        (
            "Cycles",
            "dbt's own edges stay; of the others the one first seen last is left out.",
            map(_cycle, report.cycles),
        ),
        (
            "Ambiguous names",
            "Of several dbt nodes on one relation the first by id stands for it; a name in a log "
            "that could mean several relations means none of them.",
            (f"{a.dataset}: {', '.join(a.candidates)}" for a in report.ambiguous),
        ),
        (
            "Taken names",
            "A name grows by the database, then the namespace, then a digest, until it is free.",
            (f"{name.wanted} -> {name.given}" for name in report.renamed),
        ),
        ("Notices", "", report.notices),
        (
            "Defects in dbt's artifacts",
            "They were there before the graft and stay; dbt's docs page may fail on them.",
            (f"{f.rule}: {f.subject}: {f.text}" for f in report.findings),
        ),
    ]
    told = [_section(*section) for section in sections]
    return "\n".join(["# What the graft did", "", *filter(None, told)])


def _section(title: str, rule: str, lines: Iterable[str]) -> str:
    found = list(lines)
    if not found:
        return ""
    more = [f"- and {len(found) - _SHOWN:,} more"] if len(found) > _SHOWN else []
    head = [f"## {title} ({len(found):,})", ""] + ([rule, ""] if rule else [])
    return "\n".join([*head, *(f"- {line}" for line in found[:_SHOWN]), *more, ""])


def _built(built: Built) -> str:
    return f"{built.node_id} ({built.dataset}): {', '.join(built.tasks)}"


def _read(read: Read) -> str:
    dataset = f" ({read.dataset})" if read.dataset else ""
    return f"{read.node_id}{dataset}: {', '.join(read.tasks)}"


def _cycle(cycle: Cycle) -> str:
    step = cycle.left_out
    tasks = f" by {', '.join(step.tasks)}, {step.evidence}" if step.tasks else ""
    return f"{cycle.path}; left out: {step.source} -> {step.target}{tasks}"
