"""The check `drift`: what people and dbt declare, against what runs are seen to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.column_drift import ColumnDrift, column_drift
from dbt_graft.analysis.checks.drift import code_drift, drift, model_drift
from dbt_graft.analysis.checks.drift_answer import drift_answer
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.rule import CODE_DRIFT
from dbt_graft.collectors.python_code.code_cache import CodeCache
from dbt_graft.graft.questions.checks.checked_project import CheckedProject
from dbt_graft.graft.questions.review.git import commit_reader
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction, Status

_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def check_drift(checked: CheckedProject) -> Answer:
    """The edges and columns on which they do not agree."""
    options, lineage = checked.options, checked.described.lineage
    since = checked.now - options.since if options.since else None
    answer = drift_answer(
        [*drift(lineage, options.runs, since), *model_drift(lineage, options.runs, since)],
        _drifted_columns(checked, lineage),
        checked.owners,
        {definition.name for definition in lineage.definitions.values()},
        since,
    )
    of_code = code_drift(lineage, checked.owners, options.runs)
    of_commits = _other_commits(checked, lineage)
    return replace(answer, findings=[*answer.findings, *of_code, *of_commits])


def _other_commits(checked: CheckedProject, lineage: Lineage) -> Iterator[Finding]:
    """The tasks whose last run had another code than is here, by the commit that its log names."""
    config = checked.config
    for name, match in lineage.codes.items():
        runs = lineage.tasks[name].runs if name in lineage.tasks else ()
        version = (runs[0].code_version if runs else None) or ""
        if not _COMMIT.fullmatch(version):
            continue
        try:
            read_file = commit_reader(config.folder, version)
        except GraftError:
            continue  # git has no such commit here
        if read_file and read_file(match.code.file) is not None:
            ran = CodeCache(None, read_file).code(match.code.file, name)
            if ran.syntax != match.code.syntax:
                yield CODE_DRIFT.finding(
                    name,
                    f"its last run had its code of {version[:12]}, and that is another",
                    "deploy what is here, or check out what runs",
                    checked.owners.get(name, ""),
                    match.code.file,
                )


def _drifted_columns(checked: CheckedProject, lineage: Lineage) -> list[ColumnDrift]:
    """The columns on which catalog.json, YAML and the logs do not agree; none without artifacts."""
    facts = checked.asked.facts
    if facts.columns is None:
        return []
    return column_drift(facts.columns, facts.logged, _last_writes(lineage))


def _last_writes(lineage: Lineage) -> dict[DatasetId, datetime]:
    """The last write of each dataset, by tasks and by dbt."""
    last_writes: dict[DatasetId, datetime] = {}

    def add(dataset: DatasetId, at: datetime | None) -> None:
        if at:
            last_writes[dataset] = max(at, last_writes.get(dataset, at))

    for task in lineage.tasks.values():
        for usage in task.usages:
            if usage.direction is Direction.WRITE and usage.moves_data and not usage.failed:
                add(usage.dataset, usage.last_at)
    for definition in lineage.definitions.values():
        for result in lineage.dbt.node_results.get(definition.name, ()):
            if result.status is Status.OK:
                add(definition.dataset, result.started_at)
    return last_writes
