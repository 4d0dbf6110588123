"""The impact of a change as JSON, of the schema `docs/impact.schema.json`, and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt_graft import __version__
from dbt_graft.analysis.impact.answer import AffectedConsumer, AffectedDataset, Impact
from dbt_graft.analysis.impact.change import ImpactEffect, effect_action, recommended_action
from dbt_graft.analysis.impact.path import ImpactStep
from dbt_graft.analysis.render.markdown import markdown_table, markdown_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates
from dbt_graft.lineage.dates.date_text import dates_json, dates_text

VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/impact.schema.json"
_MOST = 30  # rows of a table in Markdown
Section = dict[str, Any]
# Where only some dates of the table change: dataset -> its dates that these decide on; one that is
# not there has no mapping of dates, and all of its dates count.
ReachedDates = Mapping[DatasetId, Dates]

_WORDS = {
    ImpactEffect.GONE: "gone",
    ImpactEffect.TYPE: "another type",
    ImpactEffect.VALUES: "other values",
    ImpactEffect.ROWS: "other rows",
    ImpactEffect.SENSITIVE: "sensitive",
    ImpactEffect.LATE: "not written, or late",
    ImpactEffect.MASKED: "sensitive, masked or encrypted",
    ImpactEffect.DEPENDS: "depends on sensitive values",
    ImpactEffect.NEW: "may get the new column",
}


def impact_json(impact: Impact, dates: ReachedDates | None = None) -> Section:
    """The document; without `dates` all dates of the table change."""
    change = impact.change
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "change": {
            "dataset": str(change.dataset),
            "column": change.column or None,
            "kind": change.kind.value,
            "dates": dates_json(dates[change.dataset]) if dates else None,
        },
        "severity": impact.severity.name,
        "action": recommended_action(change.kind),
        "coverage": {"flows": impact.flows, "columns_known": impact.known},
        "datasets": [
            {
                **_dataset(affected),
                "dates": dates_json(dates.get(affected.dataset, ALL_DATES)) if dates else None,
            }
            for affected in impact.datasets
        ],
        "tasks": [
            {
                "task": task.name,
                "severity": task.severity.name,
                "breaks": task.breaks,
                "owner": task.owner or None,
            }
            for task in impact.tasks
        ],
        "tests": [
            {
                "node_id": affected.test.node_id,
                "name": affected.test.name,
                "dataset": str(affected.dataset),
                "column": affected.test.column or None,
                "breaks": affected.breaks,
            }
            for affected in impact.tests
        ],
        "consumers": [
            {
                "consumer": affected.consumer.name,
                "kind": affected.consumer.kind,
                "severity": affected.severity.name,
                "owner": affected.consumer.owner or None,
                "url": affected.consumer.url or None,
                "deadline": affected.consumer.deadline or None,
                "breaks": affected.breaks,
                "datasets": [str(dataset) for dataset in affected.datasets],
                "dates": dates_json(consumer_dates(affected, dates)) if dates else None,
            }
            for affected in impact.consumers
        ],
    }


def consumer_dates(affected: AffectedConsumer, dates: ReachedDates) -> Dates:
    """The dates of all that a consumer reads."""
    union = NO_DATES
    for dataset in affected.datasets:
        union |= dates.get(dataset, ALL_DATES)
    return union


def _dataset(affected: AffectedDataset) -> Section:
    return {
        "dataset": str(affected.dataset),
        "severity": affected.severity.name,
        "effects": [effect.name for effect in affected.effects],
        "columns": {name: effect.name for name, effect in affected.columns.items()},
        "reason": reason(affected),
        "action": effect_action(min((*affected.effects, *affected.columns.values()))),
        "path": [_step(step) for step in affected.path],
        "distance": affected.distance,
        "stale": affected.stale,
        "owner": affected.owner or None,
    }


def _step(step: ImpactStep) -> Section:
    return {
        "task": step.task,
        "edge": step.subtype.value if step.subtype else "FLOW",
        "dataset": str(step.dataset),
        "column": step.column or None,
    }


def reason(affected: AffectedDataset, most: int = 4) -> str:
    """The effects on a dataset in words: `other rows; amount, total: other values`.

    Args:
        most: The columns that are named.
    """
    parts = [_WORDS[effect] for effect in affected.effects]
    for effect in sorted({*affected.columns.values()}):
        names = [
            name for name, column_effect in affected.columns.items() if column_effect is effect
        ]
        rest = f" and {len(names) - most} more" if len(names) > most else ""
        parts.append(f"{', '.join(names[:most])}{rest}: {_WORDS[effect]}")
    return "; ".join(parts)


def coverage_text(impact: Impact) -> str:
    """The share of the way that is known by columns; empty where columns do not matter."""
    if not impact.flows:
        return ""
    share = 100 * impact.known // impact.flows
    return f"columns known for {share} % of the path ({impact.known} of {impact.flows} flows)"


def impact_markdown(impact: Impact, dates: ReachedDates | None = None) -> str:
    """The answer for a comment on a pull request; texts of logs and of people are escaped."""
    change = impact.change
    name = f"{change.dataset}.{change.column}" if change.column else str(change.dataset)
    scope = f" of {dates_text(dates[change.dataset])}" if dates else ""
    lines = [f"### {markdown_text(name)}: {change.kind.value}{scope} ({impact.severity.name})", ""]
    if note := coverage_text(impact):
        lines += [f"{note[0].upper()}{note[1:]}.", ""]
    lines += [f"Recommended: {recommended_action(change.kind)}.", ""]
    lines += markdown_table(
        ("", "dataset", "what happens", "steps", "owner", *(("dates",) if dates else ())),
        (
            (
                affected.severity.name,
                str(affected.dataset),
                f"{reason(affected)}{' (stale)' if affected.stale else ''}",
                str(affected.distance),
                affected.owner,
                *((dates_text(dates.get(affected.dataset, ALL_DATES)),) if dates else ()),
            )
            for affected in impact.datasets
        ),
        _MOST,
    )
    lines += markdown_table(
        ("", "task", "statements", "owner"),
        (
            (task.severity.name, task.name, "fail" if task.breaks else "run", task.owner)
            for task in impact.tasks
        ),
        _MOST,
    )
    lines += markdown_table(
        ("test", "dataset", "column", ""),
        (
            (
                affected.test.name,
                str(affected.dataset),
                affected.test.column,
                "breaks" if affected.breaks else "",
            )
            for affected in impact.tests
        ),
        _MOST,
    )
    lines += markdown_table(
        ("", "consumer", "kind", "owner", ""),
        (
            (
                affected.severity.name,
                affected.consumer.name,
                affected.consumer.kind,
                affected.consumer.owner,
                "breaks" if affected.breaks else "",
            )
            for affected in impact.consumers
        ),
        _MOST,
    )
    return "\n".join(lines).rstrip() + "\n"
