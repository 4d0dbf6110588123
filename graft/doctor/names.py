"""Datasets of the logs beside dbt's relations: what is unmatched, contested or goes in circles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from graft import pipeline
from graft.config import Config
from graft.doctor.words import count, named
from graft.progress import Progress
from injector.forbidden import violations
from injector.relations import relations
from injector.report import Built, Grafted, Read
from lineage.dataset import DatasetId
from lineage.findings import Finding, Severity

_MOST = 10


def matches(config: Config) -> Iterator[Finding]:
    """What a graft would do that people may not want.

    Raises:
        GraftError: dbt's artifacts cannot be grafted.
    """
    grafted = pipeline.graft(config, Progress(quiet=True), write=False, inspect=True)
    report = grafted.report
    unmatched: list[str] = []
    alike = _alike(grafted, config.dbt.namespace)
    for found in violations(report, accept=config.check.accept):
        dataset, *_ = found.names
        if found.rule != "unmatched":
            remedy = "correct it, or name it under `check.accept` in graft.yml"
            yield Finding(Severity.WARNING, dataset, found.text, remedy)
        elif other := alike.get(dataset):
            yield Finding(
                Severity.WARNING,
                dataset,
                f"dbt does not know it, and no task uses dbt's {other}",
                "if both are one, write under `names` in graft.yml: "
                f'- {{from: "{dataset}", to: "{other}"}}',
            )
        else:
            unmatched.append(dataset)
    if unmatched:
        yield Finding(
            Severity.NOTE,
            "graft.yml",
            f"{count(len(unmatched), 'dataset')} of tasks new to dbt: {named(unmatched, _MOST)}",
            "where dbt has one under another name, write a rule under `names`",
        )
    for name in report.ambiguous[:_MOST]:
        yield Finding(
            Severity.WARNING,
            str(name.dataset),
            f"could be any of {named(name.candidates)}",
            "say which by a rule under `names` in graft.yml",
        )
    if report.findings:
        first = report.findings[0]
        yield Finding(
            Severity.WARNING,
            str(config.target_dir),
            f"dbt's artifacts have {count(len(report.findings), 'defect')}: "
            f"{first.subject}: {first.text}",
            "`graft inject --report` lists them; dbt's docs page may fail on them",
        )


def _alike(grafted: Grafted, namespace: str) -> dict[str, str]:
    """For a dataset that dbt does not know, the one relation of the same last name that no task
    touches."""
    report = grafted.report
    made: list[Built | Read] = [*report.added, *report.new_sources]
    new = {one.node_id for one in made}
    used = {
        usage.dataset
        for task in grafted.touched.tasks.values()
        if not task.is_definition
        for usage in task.usages
    }
    idle: dict[str, set[DatasetId]] = defaultdict(set)
    for node_id, dataset in relations(grafted.manifest, namespace).datasets.items():
        if node_id not in new and dataset not in used:
            idle[_last(dataset)].add(dataset)
    return {
        str(one.dataset): str(next(iter(found)))
        for one in made
        if one.dataset and len(found := idle.get(_last(one.dataset), set())) == 1
    }


def _last(dataset: DatasetId) -> str:
    return (dataset.parts or (dataset.name,))[-1].casefold()
