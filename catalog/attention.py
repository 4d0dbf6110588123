"""Findings that need attention, as lists, and the health of the lineage in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

from dbt_graft.catalog.health import HealthSummary
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.node_results import node_results
from dbt_graft.catalog.page import MAX_ROWS, Page
from dbt_graft.lineage.definition import DefinitionKind, gap_reason
from dbt_graft.lineage.records import NodeResult, Outcome, Run, Status

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AttentionList:
    """Findings of one kind.

    Attributes:
        kind: `tasks`, `builds`, `tests`, `stale`, `writers`, `cycles`, `models`, `statements` or
            `rejects`: how the template shows an item, and the list's anchor.
        look: `failed`, `warn` or `quiet`.
        items: Those that are listed, the newest or worst first.
        total: How many there are.
        hidden: Items that are not listed.
        page: The page that says more about all of them, relative to the site's root, or empty.
    """

    kind: str
    title: str
    look: str
    items: Sequence[Any]
    total: int
    page: str = ""
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class HealthRatio:
    """A part of the lineage that is well, of all that is known: `dbt tests passed`, 812 of 830."""

    title: str
    well: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionPage(Page):
    """The context of `attention.html.j2`."""

    template: ClassVar[str] = "attention"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    lists: Sequence[AttentionList]
    ratios: Sequence[HealthRatio]


def attention_page(index: Index, health: HealthSummary) -> AttentionPage:
    """The page of everything that needs attention."""
    return AttentionPage(
        path="attention/",
        title="Needs attention",
        index=index,
        lists=attention_lists(index, health, MAX_ROWS),
        ratios=list(health_ratios(index)),
    )


def attention_lists(index: Index, health: HealthSummary, limit: int) -> list[AttentionList]:
    """The lists that are not empty, each with as many items as are shown."""
    lists = [attention_list for attention_list in _lists(index, health) if attention_list.items]
    return [
        replace(
            attention_list,
            items=attention_list.items[:limit],
            hidden=max(len(attention_list.items) - limit, 0),
        )
        for attention_list in lists
    ]


def _lists(index: Index, health: HealthSummary) -> Iterator[AttentionList]:
    def make_list(
        kind: str, title: str, look: str, items: Iterable[Any], page: str = ""
    ) -> AttentionList:
        listed = list(items)
        return AttentionList(kind, title, look, listed, len(listed), page)

    def count_reasons(
        kind: str, title: str, reasons: Mapping[str, int], page: str
    ) -> AttentionList:
        items = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        return AttentionList(kind, title, "quiet", items, sum(reasons.values()), page)

    failed = sorted(health.failed, key=lambda task: _recency(task.runs[0]), reverse=True)
    builds = sorted(
        health.failed_builds.items(), key=lambda build: _recency(build[1]), reverse=True
    )
    tests = sorted(health.failed_tests.items(), key=lambda entry: -len(entry[1]))
    yield make_list(
        "tasks", "Failed tasks", "failed", failed, "tasks/index.html#tasks-sort=-health"
    )
    yield make_list("builds", "Failed dbt models", "failed", builds)
    yield AttentionList(
        "tests", "Failed dbt tests", "failed", tests, sum(len(results) for _, results in tests)
    )
    yield make_list("stale", "Stale sources", "warn", health.stale.items())
    yield make_list(
        "writers", "Datasets with several writers", "warn", health.multiple_writers.items()
    )
    yield make_list("cycles", "Cycles", "warn", health.cycles)
    statements: dict[str, int] = {}
    for gap in health.gaps:
        statements[gap.reason] = statements.get(gap.reason, 0) + gap.shapes
    models: dict[str, int] = {}
    for definition in index.lineage.definitions.values():
        if definition.gap:
            reason = gap_reason(definition.gap)
            models[reason] = models.get(reason, 0) + 1
    title = "Statements not parsed, or only in part"
    yield count_reasons("statements", title, statements, "gaps/index.html#statements")
    title = "dbt models whose columns could not all be followed"
    yield count_reasons("models", title, models, "gaps/index.html#models")
    yield count_reasons(
        "rejects", "Rejected log records", health.rejects, "gaps/index.html#rejects"
    )


def _recency(run: Run | NodeResult) -> datetime:
    return run.started_at or _BEGINNING


def health_ratios(index: Index) -> Iterator[HealthRatio]:
    """The health of the lineage in numbers, each of what is known; nothing is weighted."""
    lineage = index.lineage
    dbt = [node_results(index, dataset) for dataset in index.descriptions]
    tests = [
        test
        for node in dbt
        for test in (*node.other_tests, *(t for ts in node.column_tests.values() for t in ts))
    ]
    last_runs = (
        task.runs[0].status
        for task in lineage.tasks.values()
        if task.runs and task.runs[0].status is not Status.UNKNOWN
    )
    last_builds = (node.runs[0].status for node in dbt if node.runs)
    results = (test.look for test in tests if test.result)
    checks = (node.is_stale for node in dbt if node.checks)
    outcomes = (shape.outcome for shape in lineage.shapes.values())
    models = [
        definition
        for definition in lineage.definitions.values()
        if definition.kind is DefinitionKind.DBT
    ]

    def ratio(title: str, values: Iterable[Any], well: Callable[[Any], bool]) -> HealthRatio:
        cases = list(values)
        return HealthRatio(title, sum(map(well, cases)), len(cases))

    for health_ratio in (
        ratio("Tasks whose last run succeeded", last_runs, lambda status: status is Status.OK),
        ratio(
            "dbt models whose last run succeeded", last_builds, lambda status: status is Status.OK
        ),
        ratio("dbt tests passed", results, lambda look: look != Status.FAILED),
        ratio("Sources fresh", checks, lambda stale: not stale),
        ratio("Statements parsed completely", outcomes, lambda outcome: outcome is Outcome.PARSED),
        ratio(
            "dbt models with all columns followed", models, lambda definition: not definition.gap
        ),
    ):
        if health_ratio.of:
            yield health_ratio
