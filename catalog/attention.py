"""Findings that need attention, the health of the lineage in numbers, and what is missing in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, ClassVar

from dbt_graft.analysis.history.dag_runs import failed_dags
from dbt_graft.catalog.dates_panel import TaintNote
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.node_results import all_results
from dbt_graft.catalog.page import MAX_ROWS, Page
from dbt_graft.lineage.code_lines import CodeLine, code_gaps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind, gap_reason
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import Gap, gaps, tasks_by_gap
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import NodeResult, Outcome, Reject, Run, Status
from dbt_graft.lineage.settings import IgnoredTasks

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@frozen
class AttentionList:
    """Findings of one kind.

    Attributes:
        kind: `tainted`, `tasks`, `dags`, `builds`, `tests`, `checks`, `stale`, `writers`, `cycles`,
            `models`, `statements` or `rejects`: how the template shows an item, and the anchor.
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


@frozen
class HealthRatio:
    """A part of the lineage that is well, of all that is known: `Tests passed`, 812 of 830."""

    title: str
    well: int
    of: int


@frozen(kw_only=True)
class AttentionPage(Page):
    """The context of `attention.html.j2`."""

    template: ClassVar[str] = "attention"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    lists: Sequence[AttentionList]
    ratios: Sequence[HealthRatio]


def attention_page(index: Index, lists: Sequence[AttentionList]) -> AttentionPage:
    """The page of everything that needs attention."""
    return AttentionPage(
        path="attention/",
        title="Needs attention",
        index=index,
        lists=first_items(lists, MAX_ROWS),
        ratios=health_ratios(index),
    )


def first_items(lists: Sequence[AttentionList], limit: int) -> list[AttentionList]:
    """The lists with as many items as are shown."""
    return [
        replace(
            attention_list,
            items=attention_list.items[:limit],
            hidden=max(len(attention_list.items) - limit, 0),
        )
        for attention_list in lists
    ]


def attention_lists(index: Index) -> list[AttentionList]:
    """All findings, in lists that are not empty."""
    return [attention_list for attention_list in _lists(index) if attention_list.items]


def _lists(index: Index) -> Iterator[AttentionList]:
    def make_list(
        kind: str, title: str, look: str, items: Iterable[Any], page: str = ""
    ) -> AttentionList:
        listed = list(items)
        return AttentionList(kind, title, look, listed, len(listed), page)

    def count_reasons(kind: str, title: str, reasons: Counter[str]) -> AttentionList:
        items = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        page = f"gaps/index.html#{kind}"
        return AttentionList(kind, title, "quiet", items, reasons.total(), page)

    lineage = index.lineage
    tainted = sorted(index.tainted.items(), key=_taint_order)
    yield make_list("tainted", "Bad data", "failed", tainted)
    by_dataset = all_results(index)
    nodes = {dataset: by_dataset[dataset] for dataset in sorted(by_dataset)}
    failed = [task for task in index.tasks.values() if task.runs]
    failed = [task for task in failed if task.runs[0].status is Status.FAILED]
    failed.sort(key=lambda task: _recency(task.runs[0]), reverse=True)
    yield make_list(
        "tasks", "Failed tasks", "failed", failed, "tasks/index.html#tasks-sort=-health"
    )
    yield make_list("dags", "Failed DAGs", "failed", failed_dags(index.dags))
    builds = [
        (dataset, run)
        for dataset, node in nodes.items()
        if (run := node.last_run) and node.last_run_failed
    ]
    builds.sort(key=lambda build: _recency(build[1]), reverse=True)
    yield make_list("builds", "Failed dbt runs", "failed", builds)
    tests = [
        (dataset, results) for dataset, node in nodes.items() if (results := node.failed_tests)
    ]
    tests.sort(key=lambda entry: -len(entry[1]))
    yield AttentionList(
        "tests", "Failed tests", "failed", tests, sum(len(results) for _, results in tests)
    )
    not_run = [
        (dataset, node.tests_not_run, node.check_not_run)
        for dataset, node in nodes.items()
        if node.tests_not_run or node.check_not_run
    ]
    total = sum(len(tests) + bool(check) for _, tests, check in not_run)
    yield AttentionList("checks", "Tests and checks that could not run", "warn", not_run, total)
    stale = ((dataset, node.last_check) for dataset, node in nodes.items() if node.is_stale)
    yield make_list("stale", "Stale sources", "warn", stale)
    writers = (
        (dataset, (*(["dbt"] if lineage.definition(dataset, DefinitionKind.DBT) else []), *tasks))
        for dataset, tasks in sorted(lineage.writer_names().items())
    )
    several = (entry for entry in writers if len(entry[1]) > 1)
    yield make_list("writers", "Datasets with several writers", "warn", several)
    yield make_list("cycles", "Cycles", "warn", index.graph.cycles())
    statements: Counter[str] = Counter()
    for gap in gaps(lineage.shapes.values()):
        statements[gap.reason] += gap.shapes
    yield count_reasons("statements", "Statements not parsed, or only in part", statements)
    yield count_reasons(
        "models",
        "dbt models whose columns could not all be followed",
        Counter(gap_reason(model.gap) for model in lineage.definitions.values() if model.gap),
    )
    yield count_reasons(
        "rejects", "Rejected log records", Counter(reject.reason for reject in lineage.rejects)
    )


def _taint_order(item: tuple[DatasetId, Sequence[TaintNote]]) -> tuple[bool, bool]:
    """The beginning first, then bad data, then such as may be."""
    dataset, notes = item
    return (
        not any(note.dataset == dataset for note in notes),
        not any(note.dates for note in notes),
    )


def _recency(run: Run | NodeResult) -> datetime:
    return run.started_at or _BEGINNING


def health_ratios(index: Index) -> list[HealthRatio]:
    """The health of the lineage in numbers, each of what is known; nothing is weighted."""
    lineage = index.lineage
    dbt = [*all_results(index).values()]
    runs = (task.runs[0].status for task in lineage.tasks.values() if task.runs)
    tests = chain.from_iterable((node.other_tests, *node.column_tests.values()) for node in dbt)
    models = (
        model
        for model in lineage.definitions.values()
        if model.kind is DefinitionKind.DBT
        # A seed has no columns to follow.
        and not ((dbt_node := index.descriptions.get(model.dataset)) and dbt_node.role is Role.SEED)
    )
    cases = {
        "Tasks whose last run succeeded": [
            status is Status.OK for status in runs if status is not Status.UNKNOWN
        ],
        "Last dbt runs that succeeded": [
            run.status is Status.OK for node in dbt if (run := node.last_run)
        ],
        "Tests passed": [
            not test.failed
            for test in chain.from_iterable(tests)
            if test.result and test.result.is_verdict
        ],
        "Sources fresh": [
            not node.is_stale for node in dbt if node.last_check and not node.check_not_run
        ],
        "Statements parsed completely": [
            shape.outcome is Outcome.PARSED for shape in lineage.shapes.values()
        ],
        "dbt models with all columns followed": [not model.gap for model in models],
    }
    return [HealthRatio(title, sum(well), len(well)) for title, well in cases.items() if well]


@frozen(kw_only=True)
class GapsPage(Page):
    """The context of `gaps.html.j2`.

    Attributes:
        reject_counts: Reason -> number of rejected log records.
        gaps: Statements not parsed completely, with the tasks that ran them.
        models: Reason -> the dbt models whose columns were not followed for it.
        ignored: The tasks that graft.yml leaves out.
        code_gaps: Lines of tasks' code that could not be followed, with their tasks.
    """

    template: ClassVar[str] = "gaps"

    reject_counts: Mapping[str, int]
    rejects: Sequence[Reject]
    gaps: Sequence[tuple[Gap, Sequence[str]]]
    index: Index
    models: Mapping[str, Sequence[Definition]]
    ignored: IgnoredTasks
    code_gaps: Sequence[tuple[str, CodeLine, str]]


def gaps_page(index: Index) -> GapsPage:
    """The page of rejected log records, and of statements, models and code not followed in full."""
    lineage = index.lineage
    tasks = tasks_by_gap(lineage)
    return GapsPage(
        path="gaps/",
        title="Parsing gaps",
        reject_counts=dict(sorted(Counter(reject.reason for reject in lineage.rejects).items())),
        rejects=lineage.rejects,
        gaps=[
            (gap, tasks.get((gap.outcome, gap.reason), ())) for gap in gaps(lineage.shapes.values())
        ],
        index=index,
        models=_models(index),
        ignored=lineage.ignored,
        code_gaps=[
            (task, line, reason)
            for task in lineage.codes
            for line, reason in code_gaps(lineage, task)
        ],
    )


def _models(index: Index) -> dict[str, list[Definition]]:
    """The models with a gap by its reason, the most frequent first."""
    models_by_reason = group_by_key(
        (gap_reason(definition.gap), definition)
        for definition in index.lineage.definitions.values()
        if definition.gap
    )
    return dict(sorted(models_by_reason.items(), key=lambda item: (-len(item[1]), item[0])))
