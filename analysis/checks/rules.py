"""Rules about the quality of lineage: what should be known of datasets and tasks, and is not.

The codes of what is missing are those of the platform's rules for published data: a version has a
producing run, a run has a code reference, a certified dataset has an owner and an SLO.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime

from dbt_graft.analysis.checks.former_writers import former_writers
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.quality.faults import tests_of
from dbt_graft.analysis.quality.times import length, time_of_day
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.rule import (
    CERTIFIED_WITHOUT_OWNER,
    CERTIFIED_WITHOUT_SLO,
    GOLD_WITHOUT_RESULT,
    MISSING_CODE_REF,
    MISSING_PRODUCING_RUN,
    OUTSIDE_PLATFORM,
    PROMISE_NOT_READ,
    SECOND_WRITER,
    STALE_EDGE,
    UNRESOLVED,
    matches_any,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import column_gaps, open_tasks, rejects_of_any
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Direction


@frozen
class RuleScope:
    """The tags, tasks and dates that the rules are about.

    Attributes:
        certified, gold: The tags of certified and of gold datasets, in small letters.
        platform: Patterns of the tasks that may write; all may if there are none.
        accept: Patterns of datasets and dbt nodes that may have several writers, and of tasks that
            may write what others do, or more than is known.
        stale_before: An edge that was not seen since is stale, and so is a writer without a
            rhythm; None for neither.
    """

    certified: frozenset[str] = frozenset({"certified"})
    gold: frozenset[str] = frozenset({"gold"})
    platform: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    stale_before: datetime | None = None


@frozen
class _Subject:
    lineage: Lineage
    descriptions: Mapping[DatasetId, Description]
    consumers: tuple[Consumer, ...]
    scope: RuleScope

    def owner(self, dataset: DatasetId) -> str:
        description = self.descriptions.get(dataset)
        metadata = self.lineage.dataset_metadata.get(dataset)
        return (description.owner if description else "") or (metadata.owner if metadata else "")

    def tagged_datasets(self, tags: frozenset[str]) -> Iterator[DatasetId]:
        for dataset in sorted(self.lineage.datasets):
            description = self.descriptions.get(dataset)
            metadata = self.lineage.dataset_metadata.get(dataset)
            dataset_tags = {*(description.tags if description else ())}
            dataset_tags |= {*(metadata.tags if metadata else ())}
            if not tags.isdisjoint(map(str.casefold, dataset_tags)):
                yield dataset


def rule_findings(
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    consumers: Iterable[Consumer],
    scope: RuleScope,
) -> list[Finding]:
    """The findings of all rules, by rule and subject."""
    subject = _Subject(lineage, descriptions, (*consumers,), scope)
    return [finding for rule in _RULES for finding in rule(subject)]


def owners(lineage: Lineage, descriptions: Mapping[DatasetId, Description]) -> dict[str, str]:
    """The datasets and tasks that somebody owns -> the owner."""
    subject = _Subject(lineage, descriptions, (), RuleScope())
    owner_by_subject = {str(dataset): subject.owner(dataset) for dataset in lineage.datasets}
    owner_by_subject |= {task.name: task.info.owner for task in lineage.tasks.values()}
    return {subject: owner for subject, owner in owner_by_subject.items() if owner}


def _without_run(subject: _Subject) -> Iterator[Finding]:
    lineage = subject.lineage
    for dataset, writers in lineage.writer_names().items():
        usages = lineage.writers(dataset)
        seen = any(usage.evidence.is_of_runs or usage.evidences for usage in usages)
        if not seen and not lineage.definition(dataset):
            yield MISSING_PRODUCING_RUN.finding(
                str(dataset),
                f"no run of {_list_names(writers)} is seen to write it: it is declared only",
                "collect the logs of its engine, or let it emit OpenLineage events",
                subject.owner(dataset),
            )


def _without_code(subject: _Subject) -> Iterator[Finding]:
    for task in _writing(subject.lineage):
        info = task.info
        if not (info.repo or info.path or any(run.code_version for run in task.runs)):
            yield MISSING_CODE_REF.finding(
                task.name,
                "nothing says which code it runs",
                "name its `repo` and `path` below `tasks` in graft.yml",
                info.owner,
            )


def _certified(subject: _Subject) -> Iterator[Finding]:
    with_slo = {
        dataset
        for consumer in subject.consumers
        if length(consumer.freshness_slo) or time_of_day(consumer.deadline)
        for dataset in consumer.reads
    }
    for dataset in subject.tagged_datasets(subject.scope.certified):
        owner = subject.owner(dataset)
        if not owner:
            yield CERTIFIED_WITHOUT_OWNER.finding(
                str(dataset),
                "is certified and has no owner",
                "name one in dbt's `meta: {owner: …}`, or as `group`",
            )
        description = subject.descriptions.get(dataset)
        checked = description is not None and description.is_checked_for_freshness
        if dataset not in with_slo and not checked:
            yield CERTIFIED_WITHOUT_SLO.finding(
                str(dataset),
                "is certified, and nothing says how fresh it must be",
                "give the source a `freshness` in dbt, or an exposure that reads it `meta: "
                "{freshness_slo: 2h}`",
                owner,
            )


def _promises(subject: _Subject) -> Iterator[Finding]:
    for consumer in subject.consumers:
        for promise, is_read, remedy in (
            (
                f"deadline {consumer.deadline}",
                time_of_day(consumer.deadline),
                "`08:00 Europe/Berlin`",
            ),
            (
                f"freshness SLO {consumer.freshness_slo}",
                length(consumer.freshness_slo),
                "`2h` or `PT2H`",
            ),
        ):
            if not promise.endswith(" ") and not is_read:
                yield PROMISE_NOT_READ.finding(
                    consumer.name,
                    f"its {promise} is not a time that can be watched",
                    f"write it as {remedy}",
                    consumer.owner,
                )


def _gold(subject: _Subject) -> Iterator[Finding]:
    for dataset in subject.tagged_datasets(subject.scope.gold):
        tests = tests_of(subject.lineage, dataset, subject.descriptions.get(dataset))
        verdicts = (subject.lineage.dbt.last_verdict(test.node_id) for test in tests)
        if not any(verdicts):
            problem = "its tests have no result" if tests else "is gold and has no test"
            remedy = "collect dbt's run_results.json: docs/logs.md" if tests else "test it in dbt"
            yield GOLD_WITHOUT_RESULT.finding(str(dataset), problem, remedy, subject.owner(dataset))


def _outside(subject: _Subject) -> Iterator[Finding]:
    platform = subject.scope.platform
    for task in subject.lineage.tasks.values() if platform else ():
        # To delete rows, to drop a table or to alter one is no less than to fill it.
        changes = {
            str(usage.dataset)
            for usage in task.usages
            if usage.direction is Direction.WRITE and not (usage.failed or usage.repeats)
        }
        if changes and not matches_any([task.name], platform):
            verb = "writes" if changes <= {*map(str, task.writes)} else "changes"
            yield OUTSIDE_PLATFORM.finding(
                task.name,
                f"is not of the platform, and {verb} {_list_names(changes)}",
                "move it to the platform, or add it to `rules: {platform: […]}` in graft.yml",
                task.info.owner,
            )


def _second_writer(subject: _Subject) -> Iterator[Finding]:
    lineage, scope = subject.lineage, subject.scope
    for dataset, tasks in lineage.writer_names().items():
        model = lineage.definition(dataset, DefinitionKind.DBT)
        models = [model.name] if model else []
        names = (str(dataset), *tasks, *models)
        if len(tasks) + len(models) < 2 or matches_any(names, scope.accept):
            continue
        former = former_writers(lineage, dataset, scope.stale_before)
        writers = [task for task in tasks if task not in former]
        writers += [f"dbt ({name})" for name in models]
        if len(writers) > 1:
            yield SECOND_WRITER.finding(
                str(dataset),
                f"is written by {_list_names(writers)}",
                "let one of them write it, or look at their pages whether they take turns",
                subject.owner(dataset),
            )


def _unresolved(subject: _Subject) -> Iterator[Finding]:
    lineage, accept = subject.lineage, subject.scope.accept
    unread = rejects_of_any(lineage)
    yield from _unread_parts(unread, accept)
    of_logs: dict[str, set[str]] = defaultdict(set)
    for (_, reason), tasks in unread.items():
        for name in tasks:
            of_logs[name].add(reason)
    reasons = {
        name: [reason for reason in of_task if reason not in of_logs[name]]
        for name, of_task in open_tasks(lineage).items()
    }
    for name, task in lineage.tasks.items():
        if reasons.get(name) and not matches_any([name], accept):
            yield UNRESOLVED.finding(
                name,
                f"may read or write more than is known: {join_names(reasons[name], 2)}",
                "run `graft show TASK --why`; a snapshot of the server tells what is missing "
                "(docs/logs.md), or declare it (docs/declared.md) and name the task in "
                "`check: {accept: […]}`",
                task.info.owner,
            )
        columns = column_gaps(lineage, name)
        if columns:
            statements = sum(shape in lineage.shapes for shape in task.shapes)
            yield UNRESOLVED.finding(
                name,
                f"of {len(columns):,} of its {statements:,} statements not all columns are known",
                "run `graft show TASK --why`, which shows them with the reasons",
                task.info.owner,
            )


def _unread_parts(
    unread: Mapping[tuple[str, str], list[str]], accept: Collection[str]
) -> Iterator[Finding]:
    """A finding for each log with a part that may be of any of its tasks."""
    for (log, reason), tasks in sorted(unread.items()):
        names = [name for name in tasks if not matches_any([name, log], accept)]
        if names:
            yield UNRESOLVED.finding(
                log,
                f"a part could not be used ({reason}): each task in it may read or write more "
                f"than is known: {join_names(names)}",
                "repair the log and run `graft collect`, or name the log in `check: {accept: […]}`",
            )


def _stale(subject: _Subject) -> Iterator[Finding]:
    before = subject.scope.stale_before
    newest: dict[tuple[DatasetId, DatasetId], datetime] = {}
    tasks: dict[tuple[DatasetId, DatasetId], list[str]] = defaultdict(list)
    for flow in subject.lineage.flows:
        if flow.last_at:
            edge = flow.source, flow.target
            newest[edge] = max(newest.get(edge, flow.last_at), flow.last_at)
            tasks[edge].append(flow.task)
    for edge, at in sorted(newest.items()):
        if before and at < before:
            source, target = edge
            yield STALE_EDGE.finding(
                str(target),
                f"data came from {source} by {_list_names(tasks[edge])}, last on {at:%Y-%m-%d}",
                "if that is over, `graft store forget` what showed it; else look why it stopped",
                subject.owner(target),
            )


def _writing(lineage: Lineage) -> Iterator[Task]:
    return (task for task in lineage.tasks.values() if task.writes)


def _list_names(names: Iterable[str]) -> str:
    """`a and b`, `a, b, c and 3 more`."""
    listed = sorted({*names})
    if len(listed) > 3:
        listed[3:] = [f"{len(listed) - 3:,} more"]
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))


_RULES: tuple[Callable[[_Subject], Iterator[Finding]], ...] = (
    _without_run,
    _without_code,
    _certified,
    _promises,
    _gold,
    _outside,
    _second_writer,
    _unresolved,
    _stale,
)
