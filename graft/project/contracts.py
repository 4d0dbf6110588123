"""Data contracts that graft.yml names: read, matched with datasets, and put beside dbt's part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from glob import has_magic
from pathlib import Path

from dbt_graft.analysis.checks.contracts import ContractMatches, DataContract, match_contracts
from dbt_graft.graft.project.code_stamps import stamps
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.names import all_names
from dbt_graft.graft.project.section_file import RememberedValue, value_key
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage

# Classifications of columns whose values may stand in a log of dates.
_HARMLESS = frozenset(("public", "internal", "none", "open"))


@frozen
class ContractFiles:
    """The contracts of a project.

    Attributes:
        faults: Files that cannot be read as contracts, and patterns that name none.
    """

    contracts: Sequence[DataContract] = ()
    faults: Sequence[GraftError] = field(default=())


def read_contracts(config: Config, *, keep: bool = True) -> ContractFiles:
    """The contracts that `contracts` of graft.yml names; one that is damaged stops no other.

    Args:
        keep: They are those of the project as it is.
    """
    faults: list[GraftError] = []
    files = _files(config, faults)
    if not files:
        return ContractFiles((), tuple(faults))
    folder = Path(config.path(config.artifacts))
    remembered = RememberedValue(folder, "contracts.bin", value_key(stamps(files)))
    read = _read_files(tuple(files), remembered, keep=keep)
    return ContractFiles(read.contracts, (*faults, *read.faults))


@lru_cache(maxsize=16)
def _read_files(
    files: tuple[Path, ...], remembered: RememberedValue, *, keep: bool
) -> ContractFiles:
    """The contracts in files, read once by all that a command asks."""
    if keep and isinstance(contracts := remembered.read(), tuple):
        return ContractFiles(contracts)
    # Its checks, pydantic with them, take longer to import than most questions take.
    from dbt_graft.collectors.contracts.odcs import read_contract

    contracts, faults = [], []
    for file in files:
        try:
            if contract := read_contract(file):
                contracts.append(contract)
        except GraftError as error:
            faults.append(error)
    if keep and not faults:
        remembered.write(tuple(contracts))
    return ContractFiles(tuple(contracts), tuple(faults))


def _files(config: Config, faults: list[GraftError]) -> list[Path]:
    files: dict[Path, None] = {}
    for pattern in config.contracts:
        path = Path(config.path(pattern))
        names = [path]
        if has_magic(str(path)):
            names = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        if not names:
            remedy = "correct `contracts` in graft.yml"
            faults.append(GraftError("names no file", place=str(path), remedy=remedy))
        files |= dict.fromkeys(names)
    return list(files)


def matched_contracts(
    contracts: Iterable[DataContract], lineage: Lineage, descriptions: Iterable[DatasetId] = ()
) -> ContractMatches:
    """The datasets that contracts mean: by their names, and by those in logs and links to them."""
    contracts = list(contracts)
    if not contracts:
        return ContractMatches()
    datasets = {*lineage.datasets, *descriptions}
    names = all_names(lineage)
    others = {name: dataset for name, dataset in names.items() if name not in datasets}
    return match_contracts(contracts, datasets, others)


def merge_contracts(
    matches: ContractMatches,
    descriptions: Mapping[DatasetId, Description],
    consumers: Sequence[Consumer],
    tasks: Iterable[str] = (),
) -> tuple[dict[DatasetId, Description], tuple[Consumer, ...]]:
    """Descriptions with the owners of contracts where dbt names none, and contracts as consumers.

    A classification that dbt lacks is the contract's on pages, too.
    """
    described = dict(descriptions)
    for contract, table, dataset in matches.tables:
        description = described.get(dataset)
        if description is None:
            continue
        labelled = {name.casefold() for name in description.column_labels}
        labels = {
            column.name: column.labels
            for column in table.columns
            if column.labels and column.name.casefold() not in labelled
        }
        described[dataset] = replace(
            description,
            owner=description.owner or contract.owner,
            column_labels={**description.column_labels, **labels},
        )
    taken = {*tasks, *(consumer.name for consumer in consumers)}
    return described, (*consumers, *matches.consumers(taken))


def add_contracts(grafted: Grafted, config: Config, warn: Callable[[str], None]) -> Grafted:
    """A graft whose descriptions and consumers are those of contracts, too.

    Args:
        warn: Told of contracts that are left out.
    """
    files = read_contracts(config)
    for fault in files.faults:
        warn(f"a data contract is left out: {fault}")
    if not files.contracts:
        return grafted

    def describe() -> DescribedLineage:
        lineage, descriptions = grafted.lineage, grafted.descriptions
        matches = matched_contracts(files.contracts, lineage, descriptions)
        history = replace(lineage.history, partition_columns=matches.partitions())
        return DescribedLineage(
            replace(lineage, history=history),
            *merge_contracts(matches, descriptions, grafted.consumers, lineage.tasks),
        )

    return replace(grafted, describe=describe)


def partition_columns(config: Config) -> tuple[str, ...]:
    """The columns by which contracts say that tables are partitioned, and that may hold dates.

    Those with a classification that pages warn of are left out.
    """
    columns = {
        column.name.casefold()
        for contract in read_contracts(config).contracts
        for table in contract.tables
        for column in table.columns
        if column.is_date_partition and _HARMLESS.issuperset(map(str.casefold, column.labels))
    }
    return tuple(sorted(columns - {""}))
