"""Views of what follows from the lineage: findings, deadlines, dates, labels, contracts, owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

from dbt_graft.analysis.rule import RULES
from dbt_graft.exporters.data.view import (
    DATASET,
    FLAG,
    NUMBER,
    OWNER,
    TASK,
    TEXT,
    TEXTS,
    TIME,
    View,
    ViewColumn,
)
from dbt_graft.exporters.data.view_data import LEFT_OUT, ViewData
from dbt_graft.lineage.dates.calendar import FIRST, LAST, dates_in, moment_of, unit_dates

# The newest units of a dataset that have rows: hours of more than a year.
_MOST = 10_000


def _findings(data: ViewData) -> Iterator[object]:
    for finding in data.answers.findings() if data.answers else ():
        is_finding = finding.code != LEFT_OUT
        check = RULES[finding.code].check if is_finding else finding.subject
        yield SimpleNamespace(finding=finding, check=check)


def _deadlines(data: ViewData) -> Iterator[object]:
    if not data.answers:
        return
    from dbt_graft.analysis.quality.words import forecast_text

    quality = data.answers.quality()
    for forecast in quality.deadlines:
        late = forecast.waits_for
        yield SimpleNamespace(
            forecast=forecast,
            promise="freshness_slo" if forecast.is_age else "deadline",
            tasks=quality.writers.get(late, ()) if late else (),
            text=forecast_text(forecast, quality.writers),
        )


def _faults(data: ViewData) -> Iterator[object]:
    if not data.answers:
        return
    from dbt_graft.analysis.quality.downstream import ReachedFault

    quality = data.answers.quality()
    reached = [(fault.dataset, ReachedFault(fault, (fault.dataset,))) for fault in quality.faults]
    for dataset, faults in sorted(quality.downstream.items()):
        reached += [(dataset, fault) for fault in faults]
    for dataset, fault in reached:
        distance = len(fault.path) - 1
        yield SimpleNamespace(dataset=dataset, of=fault.fault, path=fault.path, distance=distance)


def _date_states(data: ViewData) -> Iterator[object]:
    if not data.answers:
        return
    from dbt_graft.analysis.dates.access_history import AccessHistory
    from dbt_graft.analysis.dates.entity_states import entity_states, is_valid
    from dbt_graft.analysis.dates.recorded_states import taints_now

    history = AccessHistory(data.lineage_of_runs())
    taints = taints_now(history)
    for dataset in history.lineage.datasets:
        states = entity_states(history, dataset, taints.dates(dataset))
        bounds = [edge for span in states.written.ranges for edge in span]
        dated = [hour for hour in bounds if hour not in (FIRST, LAST)]
        if not dated:
            continue
        span = dates_in([(min(dated), max(dated))])
        units = [*span.units(states.grain)][-_MOST:] if min(dated) < max(dated) else []
        for unit in units:
            dates = unit_dates(unit, states.grain)
            of_unit = states.of_unit(unit, states.grain)
            start, end = dates.span
            run = states.run_of(dates)
            yield SimpleNamespace(
                dataset=dataset,
                start=moment_of(start),
                end=moment_of(end),
                of=states,
                dates_of="data" if states.is_dated else "writes",
                states=of_unit,
                valid=is_valid(of_unit),
                task=run[0] if run else None,
                run_id=run[1] if run else None,
            )


def _classifications(data: ViewData) -> Iterator[object]:
    if not data.answers:
        return
    labels, sensitive = data.answers.labels(), data.answers.sensitive
    for column in sorted(labels.columns(), key=labels.place):
        steps, declared = labels.path(column), labels.declared.get(column)
        first, last = steps[0], steps[-1]
        yield SimpleNamespace(
            first=first,
            last=last,
            level=last.classification.text,
            is_sensitive=last.classification >= sensitive,
            is_declared=declared is not None,
            declared_in=declared.source if declared else None,
            reason=declared.reason if declared else None,
            steps=len(steps) - 1,
            way=[f"{step.dataset}.{step.column}" for step in steps],
            operation=last.subtype,
            masked_by=next((step.masked_by for step in steps[::-1] if step.masked_by), None),
        )


def _labels(data: ViewData) -> Iterator[object]:
    for label in data.answers.written_labels() if data.answers else ():
        level = label.classification
        yield SimpleNamespace(label=label, level=level.text if level is not None else None)


def _contracts(data: ViewData) -> Iterator[object]:
    if not data.answers:
        return
    matches = data.answers.contracts()
    for contract, table, dataset in matches.tables:
        yield SimpleNamespace(contract=contract, table=table, dataset=dataset, may_be=())
    for contract, table, candidates, _ in matches.unmatched:
        yield SimpleNamespace(contract=contract, table=table, dataset=None, may_be=candidates)


def _promises(data: ViewData) -> Iterator[object]:
    yield from data.answers.promises() if data.answers else ()


def _owners(data: ViewData) -> Iterator[object]:
    from dbt_graft.analysis.checks.rules import owners

    described = data.described
    names = owners(described.lineage, described.descriptions)
    tasks = described.lineage.tasks
    for name, owner in sorted(names.items()):
        kind = "task" if name in tasks else "dataset"
        yield SimpleNamespace(owner=owner, kind=kind, name=name)
    for consumer in sorted(described.consumers, key=lambda consumer: consumer.name):
        if consumer.owner and consumer.name not in tasks:
            yield SimpleNamespace(owner=consumer.owner, kind=consumer.kind, name=consumer.name)


_PATH = ViewColumn("path", TEXTS, "the way on which it came, from its cause")

ANSWER_VIEWS = (
    View(
        "findings",
        "A finding of `graft check`, or the note `CHECK_LEFT_OUT` that a check cannot run here.",
        _findings,
        ViewColumn("check", TEXT, "the check: `rules`, `drift`, `privacy`…"),
        ViewColumn("code", TEXT, "the rule: `SECOND_WRITER`", "finding."),
        ViewColumn("severity", TEXT, "`error`, `warning` or `note`", "finding."),
        ViewColumn("subject", TEXT, "the dataset, task, consumer or setting", "finding."),
        ViewColumn("problem", TEXT, "what is wrong", "finding.statement"),
        ViewColumn("remedy", TEXT, "the next step", "finding."),
        replace(OWNER, path="finding."),
        ViewColumn("place", TEXT, "the file that it is about", "finding."),
        replace(_PATH, path="finding."),
    ),
    View(
        "deadlines",
        "The state of a deadline or a freshness SLO of a consumer or a contract, now.",
        _deadlines,
        ViewColumn("consumer", TEXT, "its name", "forecast.consumer.name"),
        replace(OWNER, path="forecast.consumer."),
        ViewColumn("promise", TEXT, "`deadline` or `freshness_slo`"),
        ViewColumn(
            "status",
            TEXT,
            "`missed`, `will miss`, `stale`, `late`, `unknown`, `on time` or `met`",
            "forecast.",
        ),
        ViewColumn("dataset", TEXT, "what it reads, the worst of it", "forecast."),
        ViewColumn("deadline_at", TIME, "the deadline; null of an age", "forecast.deadline"),
        ViewColumn(
            "expected_at",
            TIME,
            "when data comes; of an age, when it is too old",
            "forecast.expected",
        ),
        ViewColumn("waits_for", TEXT, "the dataset that is late, farthest upstream", "forecast."),
        ViewColumn("tasks", TEXTS, "the tasks that write it"),
        ViewColumn("forecast", TEXT, "all of it in words, or why nothing is known", "text"),
    ),
    View(
        "faults",
        "A dataset has data of a failed test, a failed write, or a source without new rows.",
        _faults,
        DATASET,
        ViewColumn("from_dataset", TEXT, "where the fault is", "of.dataset"),
        ViewColumn("kind", TEXT, "`completeness`, `uniqueness`, `freshness`, `write`…", "of."),
        ViewColumn("test", TEXT, "the test", "of.name"),
        ViewColumn("column", TEXT, "the column that it tests", "of."),
        ViewColumn("failed_at", TIME, "when it failed", "of."),
        ViewColumn("distance", NUMBER, "how many steps it came; 0 where it is"),
        _PATH,
    ),
    View(
        "date_states",
        "A unit of a dataset's dates, up to the newest that was written.",
        _date_states,
        DATASET,
        ViewColumn("from_date", TIME, "its beginning", "start"),
        ViewColumn("to_date", TIME, "its end, which is not in it", "end"),
        ViewColumn("grain", TEXT, "the unit: `hour`, `day`, `month`…", "of."),
        ViewColumn("dates_of", TEXT, "`data`, or `writes` where no log shows dates of data"),
        ViewColumn(
            "states",
            TEXTS,
            "`missing`, `partial`, `estimated`, `completed`, `tainted`, `superseded`",
        ),
        ViewColumn("valid", FLAG, "completed and not tainted"),
        TASK,
        ViewColumn("run_id", TEXT, "the run that wrote it last"),
    ),
    View(
        "classifications",
        "A column with a classification, declared or by the values that flow into it.",
        _classifications,
        replace(DATASET, path="last."),
        ViewColumn("column", TEXT, "its name", "last."),
        ViewColumn("classification", TEXT, "`pii`, `confidential`…", "level"),
        ViewColumn("is_sensitive", FLAG, "`privacy: sensitive` of graft.yml, or more"),
        ViewColumn("is_declared", FLAG, "people label the column itself"),
        ViewColumn("declared_in", TEXT, "where: `dbt`, `graft.yml`, a contract"),
        ViewColumn("reason", TEXT, "why it is lower than what flows in"),
        ViewColumn(
            "from_dataset", TEXT, "the dataset of the column it comes from", "first.dataset"
        ),
        ViewColumn("from_column", TEXT, "that column", "first.column"),
        ViewColumn("steps", NUMBER, "how many steps lie between; 0 of the column itself"),
        ViewColumn("way", TEXTS, "the columns on the way, this one last"),
        replace(TASK, path="last."),
        ViewColumn("operation", TEXT, "the last step: `IDENTITY`, `AGGREGATION`…"),
        ViewColumn("masked_by", TEXT, "how it was hidden on the way: `HASH`, `MASK`…"),
    ),
    View(
        "labels",
        "A label of sensitivity as people wrote it.",
        _labels,
        ViewColumn("subject", TEXT, "a column, a dataset, or dbt's unique_id", "label."),
        ViewColumn("label", TEXT, "the label", "label."),
        ViewColumn("classification", TEXT, "what it names; null where it names none", "level"),
        ViewColumn("source", TEXT, "where it is written, of those that name one", "label."),
    ),
    View(
        "contracts",
        "A table of a data contract, and the dataset that it means.",
        _contracts,
        ViewColumn("contract", TEXT, "its name", "contract.name"),
        ViewColumn("version", TEXT, "its version", "contract."),
        ViewColumn("status", TEXT, "`active`, `draft`, `deprecated`…", "contract."),
        replace(OWNER, path="contract."),
        ViewColumn("file", TEXT, "where it is written", "contract."),
        ViewColumn("table", TEXT, "the table, as the contract names it", "table.name"),
        ViewColumn("dataset", TEXT, "the dataset; null where it means none, or several"),
        ViewColumn("may_be", TEXTS, "the datasets that it could mean"),
        ViewColumn("deadline", TEXT, "the time of day that it promises", "table."),
        ViewColumn("freshness_slo", TEXT, "the age that it promises", "table."),
    ),
    View(
        "promises",
        "A promise of a contract for a dataset, beside its columns, and whether it is held.",
        _promises,
        ViewColumn("contract", TEXT, "the contract", "contract.name"),
        replace(OWNER, path="contract."),
        DATASET,
        ViewColumn("property", TEXT, "`freshness`, `frequency`, `retention`, `bounds`…"),
        ViewColumn("value", TEXT, "as it is written; the number of bounds and rules"),
        ViewColumn("state", TEXT, "`held`, `at risk`, `broken` or `not checked`"),
        ViewColumn("reason", TEXT, "why"),
    ),
    View(
        "owners",
        "A dataset, task or consumer that somebody owns.",
        _owners,
        ViewColumn("owner", TEXT, "who owns it"),
        ViewColumn("kind", TEXT, "`dataset`, `task`, `dashboard`, `data contract`…"),
        ViewColumn("name", TEXT, "its name, as the other views have it"),
    ),
)
