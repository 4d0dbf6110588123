"""Datasets of tasks beside dbt's relations: unmatched, ambiguous, written twice, in cycles."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import partial

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count, first_findings, join_names
from dbt_graft.analysis.rule import UNKNOWN_DATASET
from dbt_graft.graft.project.dbt_relations import dbt_platform
from dbt_graft.graft.project.project import Project
from dbt_graft.injector.relations import relations
from dbt_graft.injector.report import BuiltDataset, Grafted, NewSource
from dbt_graft.injector.unwanted import unwanted_changes
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id

_warning = partial(Finding, "DATASET_NAMES", Severity.WARNING)


def matches(project: Project) -> Iterator[Finding]:
    """Changes of a graft that may be unwanted.

    Raises:
        GraftError: dbt's artifacts cannot be grafted.
    """
    config, grafted = project.config, project.grafted(inspect=True)
    report = grafted.report
    adapter = str(grafted.manifest["metadata"].get("adapter_type") or "")
    namespace = dbt_platform(config, adapter).namespace
    if cause := _other_namespace(grafted, namespace):
        yield cause
    pairs = _pair_alike(grafted, namespace)
    paired = {str(dataset) for same in pairs.values() for dataset in same}
    unwanted: list[Finding] = []
    unmatched: list[str] = []
    unknown: set[str] = set()
    for finding in unwanted_changes(report, config.check.accept):
        if finding.code != UNKNOWN_DATASET.code:
            unwanted.append(finding)
            continue
        unknown.add(finding.subject)
        if finding.subject not in paired:
            unmatched.append(finding.subject)
    yield from first_findings(unwanted, "graft.yml", "cycles and second writers")
    if not cause:
        wanted = {
            relation: [dataset for dataset in same if str(dataset) in unknown]
            for relation, same in pairs.items()
        }
        yield from name_rules(wanted)
    if unmatched:
        yield Finding(
            "DATASET_NAMES",
            Severity.NOTE,
            "graft.yml",
            f"{count(len(unmatched), 'dataset')} of tasks new to dbt: {join_names(unmatched, 10)}",
            "for one that dbt has under another name, add a rule under `names`",
        )
    remedy = "add a rule under `names` in graft.yml"
    ambiguous = [
        _warning(str(name.dataset), f"may mean any of {join_names(name.candidates)}", remedy)
        for name in report.ambiguous
    ]
    yield from first_findings(ambiguous, "graft.yml", "ambiguous names")
    if report.defects:
        first = report.defects[0]
        yield _warning(
            str(config.target_dir),
            f"dbt's artifacts have {count(len(report.defects), 'defect')}: "
            f"{first.subject}: {first.text}",
            "`graft inject --report` lists them; dbt's docs page may fail on them",
        )


def _pair_alike(grafted: Grafted, namespace: str) -> dict[DatasetId, list[DatasetId]]:
    """Unused relation -> the datasets unknown to dbt that have its name.

    Schema and name must be the same, for sources the name alone: many models are named like a raw
    table. A dataset that fits several relations is left out.
    """
    used = _used_datasets(grafted)
    idle: dict[tuple[str, ...], set[DatasetId]] = defaultdict(set)
    for node_id, dataset in _relations_of_dbt(grafted, namespace).items():
        if dataset not in used:
            idle[_name(dataset, 2)].add(dataset)
            if node_id in grafted.manifest["sources"]:
                idle[_name(dataset, 1)].add(dataset)
    datasets_by_relation: dict[DatasetId, list[DatasetId]] = defaultdict(list)
    for addition in _additions(grafted):
        if addition.dataset:
            same = (
                idle.get(_name(addition.dataset, 2))
                or idle.get(_name(addition.dataset, 1))
                or set()
            )
            if len(same) == 1:
                datasets_by_relation[next(iter(same))].append(addition.dataset)
    return {
        relation: sorted(datasets_by_relation[relation])
        for relation in sorted(datasets_by_relation)
    }


def name_rules(pairs: Mapping[DatasetId, list[DatasetId]]) -> Iterator[Finding]:
    """Name rules as a block to paste: at most one for each relation."""
    rules = [(same[0], relation) for relation, same in pairs.items() if len(same) == 1]
    if rules:
        lines = [
            f"  - {{from: {_quote(str(dataset))}, to: {_quote(_rule_text(relation))}}}"
            for dataset, relation in rules
        ]
        problem = f"{count(len(rules), 'dataset')} of tasks may be dbt's under another name, which "
        problem += "no task uses"
        remedy = "\n".join(["if they are the same, paste into graft.yml:", "names:", *lines])
        yield _warning("graft.yml", problem, remedy)
    several = [
        _warning(
            str(relation),
            f"may be any of {join_names(list(map(str, same)))}, which dbt does not know",
            "add a rule under `names` in graft.yml for the one that it is",
        )
        for relation, same in pairs.items()
        if len(same) > 1
    ]
    yield from first_findings(several, "graft.yml", "relations that may have several names")


def _quote(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _other_namespace(grafted: Grafted, namespace: str) -> Finding | None:
    """The one cause if no dataset of a task is dbt's: their namespace is not that of dbt's."""
    used = _used_datasets(grafted)
    relations_of_dbt = {*_relations_of_dbt(grafted, namespace).values()}
    if not used or used & relations_of_dbt:
        return None
    names = {dataset.name.casefold() for dataset in relations_of_dbt}
    namespaces = Counter(dataset.namespace for dataset in used if dataset.name.casefold() in names)
    if not namespaces:
        return None
    [(best, number)] = namespaces.most_common(1)
    return _warning(
        "graft.yml",
        f"no dataset of a task is dbt's: dbt's have the namespace {namespace}, but "
        f"{count(number, 'dataset')} of the same names {best}",
        f"paste into graft.yml:\ndbt:\n  namespace: {_quote(best)}\n  former_namespaces: "
        f"[{_quote(namespace)}] # published addresses lead on",
    )


def _additions(grafted: Grafted) -> list[BuiltDataset | NewSource]:
    return [*grafted.report.added, *grafted.report.new_sources]


def _used_datasets(grafted: Grafted) -> set[DatasetId]:
    return {usage.dataset for task in grafted.touched.tasks.values() for usage in task.usages}


def _relations_of_dbt(grafted: Grafted, namespace: str) -> dict[str, DatasetId]:
    """The nodes of dbt's own in the grafted manifest, with their datasets."""
    new = {addition.node_id for addition in _additions(grafted)}
    datasets = relations(grafted.manifest, namespace).datasets
    return {node_id: dataset for node_id, dataset in datasets.items() if node_id not in new}


def _rule_text(relation: DatasetId) -> str:
    """A relation of dbt as a rule can name it: the path of a DuckDB file may begin with a slash."""
    try:
        readable = parse_dataset_id(str(relation)) == relation
    except ValueError:
        readable = False
    return str(relation) if readable else f"dbt/{relation.name}"


def _name(dataset: DatasetId, parts: int) -> tuple[str, ...]:
    return tuple(part.casefold() for part in dataset.parts[-parts:])
