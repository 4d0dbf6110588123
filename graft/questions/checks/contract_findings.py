"""The findings of `graft check` about data contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_graft.analysis.checks.contracts import match_contracts
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.github import findings
from dbt_graft.analysis.rule import CONTRACT_COLUMN, CONTRACT_NOT_READ, CONTRACT_UNMATCHED
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.contracts import read_contracts
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.described import DescribedLineage


def contract_findings(
    config: Config, described: DescribedLineage, catalog: Mapping[str, Any]
) -> Iterator[Finding]:
    """Contracts that cannot be read, mean no dataset, or promise columns that are not there.

    Args:
        catalog: dbt's catalog after the graft.
    """
    files = read_contracts(config)
    for fault in files.faults:
        for finding in findings(fault):
            remedy = finding.remedy or "correct the file, or `contracts` in graft.yml"
            yield CONTRACT_NOT_READ.finding(finding.subject or "contracts", finding.problem, remedy)
    lineage = described.lineage
    matches = match_contracts(files.contracts, {*lineage.datasets, *described.descriptions})
    for contract, table, candidates in matches.unmatched:
        several = (
            f"may mean {', '.join(map(str, candidates[:3]))}"
            if candidates
            else "means no known dataset"
        )
        problem = f"its table {table.names[0]} {several}"
        remedy = "name database and schema in `servers`, or the table in `physicalName`"
        yield CONTRACT_UNMATCHED.finding(contract.name, problem, remedy, contract.owner)
    for contract, table, dataset in matches.tables:
        facts = lineage.datasets.get(dataset) if _is_complete(described, dataset, catalog) else None
        column_names = {column.name.casefold() for column in facts.columns} if facts else set()
        lacks = [
            column.name for column in table.columns if column.name.casefold() not in column_names
        ]
        # Fields of nested columns are not in catalogs.
        lacks = [name for name in lacks if "." not in name] if column_names else []
        if lacks:
            problem = f"lacks {', '.join(lacks[:5])}, which the contract {contract.name} promises"
            remedy = "add them, or agree on a new version of the contract"
            yield CONTRACT_COLUMN.finding(str(dataset), problem, remedy, contract.owner)


def _is_complete(
    described: DescribedLineage, dataset: DatasetId, catalog: Mapping[str, Any]
) -> bool:
    """Whether all columns of a dataset are known: by dbt's catalog, or by a write.

    Logs of reads show those that were read.
    """
    description = described.descriptions.get(dataset)
    if description and description.role not in (Role.ADDED, Role.NEW_SOURCE):
        entries = {**(catalog.get("nodes") or {}), **(catalog.get("sources") or {})}
        if any(node_id in entries for node_id in (description.node_id, *description.dbt_ids)):
            return True
    return bool(described.lineage.writers(dataset))
