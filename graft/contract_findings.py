"""The findings of `graft check` about data contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.graft.annotations import findings
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import read_contracts
from dbt_graft.graft.rules_section import CONTRACT_COLUMN, CONTRACT_NOT_READ, CONTRACT_UNMATCHED
from dbt_graft.lineage.contracts import matched
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.rules import RuleFinding


def contract_findings(
    config: Config, described: DescribedLineage, catalog: Mapping[str, Any]
) -> Iterator[RuleFinding]:
    """Contracts that cannot be read, mean no dataset, or promise columns that are not there.

    Args:
        catalog: dbt's catalog after the graft.
    """
    files = read_contracts(config)
    for fault in files.faults:
        for one in findings(fault):
            remedy = one.remedy or "correct the file, or `contracts` in graft.yml"
            yield RuleFinding(CONTRACT_NOT_READ, one.subject or "contracts", one.problem, remedy)
    lineage = described.lineage
    found = matched(files.contracts, {*lineage.datasets, *described.descriptions})
    for contract, table, some in found.unmatched:
        several = f"may mean {', '.join(map(str, some[:3]))}" if some else "means no known dataset"
        problem = f"its table {table.names[0]} {several}"
        remedy = "name database and schema in `servers`, or the table in `physicalName`"
        yield RuleFinding(CONTRACT_UNMATCHED, contract.name, problem, remedy, contract.owner)
    for contract, table, dataset in found.tables:
        facts = lineage.datasets.get(dataset) if _is_complete(described, dataset, catalog) else None
        known = {one.name.casefold() for one in facts.columns} if facts else set()
        lacks = [one.name for one in table.columns if one.name.casefold() not in known]
        # Fields of nested columns are not in catalogs.
        lacks = [name for name in lacks if "." not in name] if known else []
        if lacks:
            problem = f"lacks {', '.join(lacks[:5])}, which the contract {contract.name} promises"
            remedy = "add them, or agree on a new version of the contract"
            yield RuleFinding(CONTRACT_COLUMN, str(dataset), problem, remedy, contract.owner)


def _is_complete(
    described: DescribedLineage, dataset: DatasetId, catalog: Mapping[str, Any]
) -> bool:
    """Whether all columns of a dataset are known: by dbt's catalog, or by a write.

    Logs of reads show those that were read.
    """
    about = described.descriptions.get(dataset)
    if about and about.role not in (Role.ADDED, Role.NEW_SOURCE):
        entries = {**(catalog.get("nodes") or {}), **(catalog.get("sources") or {})}
        if any(one in entries for one in (about.node_id, *about.dbt_ids)):
            return True
    return bool(described.lineage.writers(dataset))
