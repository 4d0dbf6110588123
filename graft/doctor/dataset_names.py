"""Datasets of tasks beside dbt's relations: unmatched, ambiguous, written twice, in cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dbt_graft.graft import pipeline
from dbt_graft.graft.config import Config
from dbt_graft.graft.doctor.phrases import count, first_findings, named
from dbt_graft.graft.progress import Progress
from dbt_graft.injector.forbidden import violations
from dbt_graft.injector.relations import relations
from dbt_graft.injector.report import BuiltDataset, Grafted, NewSource
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.findings import Finding, Severity


def matches(config: Config) -> Iterator[Finding]:
    """Changes of a graft that may be unwanted.

    Raises:
        GraftError: dbt's artifacts cannot be grafted.
    """
    grafted = pipeline.graft(config, Progress(quiet=True), write=False, inspect=True)
    report = grafted.report
    adapter = str(grafted.manifest["metadata"].get("adapter_type") or "")
    alike = _alike(grafted, pipeline.dbt_platform(config, adapter).namespace)
    unwanted: list[Finding] = []
    one_of_two: list[Finding] = []
    unmatched: list[str] = []
    for found in violations(report, accept=config.check.accept):
        subject, *_ = found.names
        if found.rule != "unmatched":
            remedy = "correct it, or list it under `check.accept` in graft.yml"
            unwanted.append(Finding(Severity.WARNING, subject, found.text, remedy))
        elif other := alike.get(subject):
            problem = f"not a relation of dbt, and no task uses dbt's {other}"
            remedy = "if they are the same dataset, add under `names` in graft.yml: "
            remedy += f'- {{from: "{subject}", to: "{other}"}}'
            one_of_two.append(Finding(Severity.WARNING, subject, problem, remedy))
        else:
            unmatched.append(subject)
    yield from first_findings(unwanted, "graft.yml", "cycles and second writers")
    yield from first_findings(one_of_two, "graft.yml", "datasets that may have two names")
    if unmatched:
        yield Finding(
            Severity.NOTE,
            "graft.yml",
            f"{count(len(unmatched), 'dataset')} of tasks new to dbt: {named(unmatched, 10)}",
            "for one that dbt has under another name, add a rule under `names`",
        )
    remedy = "add a rule under `names` in graft.yml"
    ambiguous = [
        Finding(
            Severity.WARNING,
            str(name.dataset),
            f"matches several relations: {named(name.candidates)}",
            remedy,
        )
        for name in report.ambiguous
    ]
    yield from first_findings(ambiguous, "graft.yml", "ambiguous names")
    if report.defects:
        first = report.defects[0]
        yield Finding(
            Severity.WARNING,
            str(config.target_dir),
            f"dbt's artifacts have {count(len(report.defects), 'defect')}: "
            f"{first.subject}: {first.text}",
            "`graft inject --report` lists them; dbt's docs page may fail on them",
        )


def _alike(grafted: Grafted, namespace: str) -> dict[str, str]:
    """Dataset unknown to dbt -> the one unused relation with the same name.

    Schema and name must be the same, for sources the name alone: many models are named like a raw
    table.
    """
    report = grafted.report
    made: list[BuiltDataset | NewSource] = [*report.added, *report.new_sources]
    new = {one.node_id for one in made}
    used = {usage.dataset for task in grafted.touched.tasks.values() for usage in task.usages}
    idle: dict[tuple[str, ...], set[DatasetId]] = defaultdict(set)
    for node_id, dataset in relations(grafted.manifest, namespace).datasets.items():
        if node_id not in new and dataset not in used:
            idle[_name(dataset, 2)].add(dataset)
            if node_id in grafted.manifest["sources"]:
                idle[_name(dataset, 1)].add(dataset)
    found = {}
    for one in made:
        if one.dataset:
            same = idle.get(_name(one.dataset, 2)) or idle.get(_name(one.dataset, 1)) or set()
            if len(same) == 1:
                found[str(one.dataset)] = _in_rule(next(iter(same)))
    return found


def _in_rule(relation: DatasetId) -> str:
    """A relation of dbt as a rule can name it: the path of a DuckDB file has slashes."""
    try:
        readable = parse_dataset_id(str(relation)) == relation
    except ValueError:
        readable = False
    return str(relation) if readable else f"dbt/{relation.name}"


def _name(dataset: DatasetId, parts: int) -> tuple[str, ...]:
    return tuple(part.casefold() for part in dataset.parts[-parts:])
