"""Entries of `graft.yml` without effect: what they name is in no log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count, first_findings, join_names
from dbt_graft.graft.project.config import FILE_NAME, Config
from dbt_graft.injector.platform import Platform
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.names import NameRule, Rename
from dbt_graft.lineage.records import Records


def find_unused_entries(config: Config, records: Records) -> Iterator[Finding]:
    """Tasks and name rules that fit nothing in the store.

    An empty store gives none, as nothing can fit there.
    """
    if not config.collect:
        yield _warning("`collect` names no log", "name your logs there: docs/logs.md")
    for entry in config.python_code:
        if "*" not in entry.path and _is_missing(Path(config.path(entry.path))):
            yield _warning(
                f"`collect` names code where nothing is: {entry.path}",
                "write the path of the scripts, from the folder of graft.yml",
            )
    if not records.accesses:
        return
    yield from _tasks(config, records)
    datasets = {access.dataset for access in records.accesses}
    temporary = {a.dataset for a in records.accesses if a.kind is Kind.TEMPORARY}
    renamed = {dataset: config.name_rules(dataset) for dataset in datasets}
    yield from first_findings(
        list(_rules(config, datasets, temporary)), FILE_NAME, "rules under `names`"
    )
    yield from first_findings(
        list(_find_merged(config, records, renamed)),
        FILE_NAME,
        "datasets that two rules rename to one",
    )


def foreign_namespace(records: Records, rename: Rename, dbt: Platform) -> Iterator[Finding]:
    """The namespace of dbt's relations, if no dataset of the logs is in it.

    Args:
        rename: Gives a path in which dbt's relation lies that relation's name, too.
    """
    namespaces = Counter(
        rename(dataset).namespace for dataset in {access.dataset for access in records.accesses}
    )
    wanted = {namespace.casefold() for namespace in (dbt.namespace, *dbt.aliases)}
    if namespaces and not wanted.intersection(map(str.casefold, namespaces)):
        names = [f"{name} ({number:,})" for name, number in namespaces.most_common()]
        yield _warning(
            f"no dataset of the logs is in the namespace {dbt.namespace}, which holds dbt's "
            f"relations; the logs have {join_names(names)}",
            "set `dbt.namespace`, or rename them to it under `names`: `graft doctor` writes the "
            "lines where it finds tables of the same names",
        )


def _warning(problem: str, remedy: str) -> Finding:
    return Finding("UNUSED_ENTRY", Severity.WARNING, FILE_NAME, problem, remedy)


def _tasks(config: Config, records: Records) -> Iterator[Finding]:
    logged_tasks = {run.task for run in records.runs} | {access.task for access in records.accesses}
    if missing := sorted(config.tasks.keys() - logged_tasks):
        yield _warning(
            f"`tasks` has {count(len(missing), 'task')} that no log has: {join_names(missing, 10)}",
            f"correct the name; the logs have {join_names(sorted(logged_tasks), 10)}",
        )
    # With `repo`, it is a path in that repository, which may be another one.
    for task, entry in config.tasks.items():
        is_here = not entry.repo and "://" not in (entry.path or "")
        for key, path in (("path", entry.path if is_here else None), ("code", entry.code)):
            if path and _is_missing(config.folder / path):
                yield _warning(
                    f"`tasks.{task}.{key}`: there is no file {path}",
                    "write the path of its script, from the folder of graft.yml",
                )


def _is_missing(path: Path) -> bool:
    try:
        return not path.exists()
    except (OSError, ValueError):  # reading the code reports it
        return False


def _rules(
    config: Config, datasets: set[DatasetId], temporary: set[DatasetId]
) -> Iterator[Finding]:
    lasting = sorted(map(str, datasets - temporary))
    names = [str(dataset) for dataset in datasets]
    left = names
    for entry in config.names:
        pattern = NameRule(entry.source, entry.target).pattern()
        remaining = [name for name in left if not pattern.fullmatch(name)]
        if len(remaining) == len(left):
            earlier = any(map(pattern.fullmatch, names))
            yield _warning(
                f"the rule from {entry.source} is never used: "
                + ("earlier rules match all its datasets" if earlier else "it matches no dataset"),
                "put it before them, or delete it"
                if earlier
                else f"correct `from`; the logs have {join_names(lasting)}",
            )
        left = remaining


def _find_merged(
    config: Config, records: Records, renamed: dict[DatasetId, DatasetId]
) -> Iterator[Finding]:
    columns: dict[DatasetId, set[str]] = defaultdict(set)
    for facts in records.datasets:
        columns[facts.id] |= {column.name.casefold() for column in facts.columns}
    parts: dict[DatasetId, list[DatasetId]] = defaultdict(list)
    for dataset, target in renamed.items():
        if dataset != target or target in renamed:
            parts[target].append(dataset)
    for target, datasets in sorted(parts.items()):
        first, *others = sorted(datasets)
        if different := [str(other) for other in others if _differ(first, other, columns)]:
            yield _warning(
                f"rules under `names` make one dataset {target} of {first} and "
                f"{join_names(different)}",
                "if these are not the same data, rename them to different names",
            )


def _differ(first: DatasetId, other: DatasetId, columns: dict[DatasetId, set[str]]) -> bool:
    """Whether two datasets cannot be the same.

    Each has a column that the other lacks; without columns, both are tables of one platform.
    """
    if columns[first] and columns[other]:
        return not (columns[first] <= columns[other] or columns[other] <= columns[first])
    return not first.is_path and not other.is_path and _platform(first) == _platform(other)


def _platform(dataset: DatasetId) -> str:
    return dataset.namespace.partition("://")[0].casefold()
