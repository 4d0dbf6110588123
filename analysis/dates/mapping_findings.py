"""Differences between declared partition mappings and those that runs show."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence


def mapping_findings(history: AccessHistory) -> Iterator[Finding]:
    """A finding for each declared mapping that runs do not keep, or whose input nothing reads."""
    for dataset, declared in sorted(history.lineage.history.declared_dates.items()):
        inputs = {edge[1] for edge in history.upstream.get(dataset, ())}
        for source in sorted({*declared.reads, *declared.estimated, *declared.completed} - inputs):
            yield Finding(
                "DATE_MAPPING",
                Severity.WARNING,
                str(dataset),
                f"declared lineage names {source} as its input, and nothing reads it for that",
                "correct the name below `datasets`",
            )
        for edge in history.upstream.get(dataset, ()):
            wanted, derived = declared.mapping(edge[1]), history.derived_mapping(edge)
            if wanted is None or derived.evidence is not MappingEvidence.RUNS:
                continue
            if not derived.is_like(wanted):
                yield Finding(
                    "DATE_MAPPING",
                    Severity.WARNING,
                    str(dataset),
                    f"it is declared to need {wanted} of {edge[1]}, and {derived.agreeing:,} of "
                    f"{derived.of:,} runs of {edge[0]} read {derived}",
                    "correct `reads` in the declared lineage, or the task",
                )
