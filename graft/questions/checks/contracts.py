"""The check `contracts`: data contracts, held against the datasets that they mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.checks.contract_promises import (
    AGES,
    CheckedPromise,
    PromiseState,
    checked_promises,
)
from dbt_graft.analysis.checks.contracts import ContractMatches, DataContract
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.github import findings
from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.analysis.rule import (
    CONTRACT_COLUMN,
    CONTRACT_NOT_READ,
    CONTRACT_PROMISE,
    CONTRACT_UNMATCHED,
)
from dbt_graft.graft.project.contracts import matched_contracts, read_contracts
from dbt_graft.graft.questions.checks.checked_project import CheckedProject
from dbt_graft.graft.questions.checks.quality import project_quality
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.operations import Operation


def check_contracts(checked: CheckedProject) -> Answer:
    """Contracts that cannot be read, mean no dataset, or promise columns that are not there."""
    files = read_contracts(checked.config)
    described = checked.described
    matches = matched_contracts(files.contracts, described.lineage, described.descriptions)
    columns = checked.asked.facts.columns
    cataloged = columns.cataloged if columns else ()
    rows = [
        (contract.name, table.names[0], str(dataset)) for contract, table, dataset in matches.tables
    ]
    keys = ("contract", "table", "dataset")
    promises = project_promises(checked, matches)
    promised = [
        (p.contract.name, str(p.dataset), p.property, p.value, p.state.value, p.reason)
        for p in promises
    ]
    promise_keys = ("contract", "dataset", "property", "value", "state", "reason")
    unchecked = Counter(p.property for p in promises if p.state is PromiseState.NOT_CHECKED)
    names = ", ".join(f"{name} ({number})" for name, number in sorted(unchecked.items()))
    return Answer(
        "data contracts",
        f"{count(len(files.contracts), 'contract')} of {count(len(rows), 'dataset')}",
        tables=[Table("tables", keys, rows), Table("promises", promise_keys, promised)],
        notes=[f"promises of contracts that are not checked: {names}"] if unchecked else [],
        findings=[
            *_unread(files.faults),
            *_empty(files.contracts),
            *_unmatched(matches),
            *missing_columns(matches, described, cataloged),
            *_broken(promises),
        ],
        data={
            "tables": [dict(zip(keys, row, strict=True)) for row in rows],
            "promises": [dict(zip(promise_keys, row, strict=True)) for row in promised],
        },
    )


def project_promises(checked: CheckedProject, matches: ContractMatches) -> list[CheckedPromise]:
    """The promises of the contracts of a project, and their states."""
    if not matches.tables:
        return []
    quality = project_quality(checked)
    return checked_promises(matches, quality.history, quality.at)


def _broken(promises: Iterable[CheckedPromise]) -> Iterator[Finding]:
    """Those that no other check finds: of deadlines and ages `quality` does."""
    for promise in promises:
        if promise.state is PromiseState.BROKEN and promise.property not in AGES:
            contract = promise.contract
            problem = f"{promise.property} {promise.value} for {promise.dataset}: {promise.reason}"
            remedy = "keep the promise, or agree on a new version of the contract"
            yield CONTRACT_PROMISE.finding(
                contract.name, problem, remedy, contract.owner, contract.file
            )


def _unread(faults: Iterable[GraftError]) -> Iterator[Finding]:
    for fault in faults:
        for finding in findings(fault):
            remedy = finding.remedy or "correct the file, or `contracts` in graft.yml"
            place = finding.place or finding.subject
            yield CONTRACT_NOT_READ.finding("contracts", finding.problem, remedy, place=place)


def _empty(contracts: Iterable[DataContract]) -> Iterator[Finding]:
    for contract in contracts:
        if not contract.tables:
            problem, remedy = "it has no table", "describe its tables: below `schema`, or `models`"
            yield CONTRACT_UNMATCHED.finding(
                contract.name, problem, remedy, contract.owner, contract.file
            )


def _unmatched(matches: ContractMatches) -> Iterator[Finding]:
    for contract, table, candidates, elsewhere in matches.unmatched:
        problem = f"its table {table.names[0]} means no known dataset"
        remedy = "name database and schema in `servers`, or the table in `physicalName`"
        if candidates:
            names = join_names([*map(str, candidates)])
            problem = f"its table {table.names[0]} may mean {names}"
        elif elsewhere:
            kinds = " or ".join(dict.fromkeys(f"{s.type} {s.host}".strip() for s in table.servers))
            names = join_names([*map(str, elsewhere)])
            problem += f" on {kinds}; {names} {'is' if len(elsewhere) == 1 else 'are'} elsewhere"
            remedy = "add the server of that dataset to `servers`, if it is meant"
        yield CONTRACT_UNMATCHED.finding(
            contract.name, problem, remedy, contract.owner, contract.file
        )


def missing_columns(
    matches: ContractMatches, described: DescribedLineage, cataloged: Container[DatasetId]
) -> Iterator[Finding]:
    """The datasets that lack columns of their contracts.

    Args:
        cataloged: The datasets whose columns are in dbt's catalog.
    """
    remedy = "add them, or agree on a new version of the contract"
    for contract, table, dataset in matches.tables:
        facts = described.lineage.datasets.get(dataset)
        if facts is None or not _is_complete(described, dataset, cataloged):
            continue
        columns = {column.name.casefold() for column in facts.columns}
        # Fields of nested columns are not in catalogs.
        promised = [column.name for column in table.columns if "." not in column.name]
        lacks = [name for name in promised if name.casefold() not in columns] if columns else []
        if lacks:
            problem = f"lacks {join_names(lacks, 5)}, which the contract {contract.name} promises"
            yield CONTRACT_COLUMN.finding(
                str(dataset), problem, remedy, contract.owner, contract.file
            )


def _is_complete(
    described: DescribedLineage, dataset: DatasetId, cataloged: Container[DatasetId]
) -> bool:
    """Whether all columns of a dataset are known: by dbt's catalog, or by a write.

    Logs of reads show those that were read, and statements of SQL Server those that they fill: only
    a snapshot of its tables knows them all, with their types.
    """
    if dataset in cataloged:
        return True
    facts = described.lineage.datasets[dataset]
    typed = all(column.type for column in facts.columns)
    return any(
        usage.engine != "sqlserver" or (typed and Operation.BULK_INSERT not in usage.operations)
        for usage in described.lineage.writers(dataset)
    )
