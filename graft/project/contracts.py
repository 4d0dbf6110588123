"""Data contracts that graft.yml names: read, matched with datasets, and put beside dbt's part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from glob import has_magic
from pathlib import Path

from dbt_graft.analysis.checks.contracts import ContractMatches, DataContract, match_contracts
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.names import all_names
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage

# Classifications of columns whose values may stand in a log of dates.
_HARMLESS = frozenset(("", "public", "internal", "none", "open"))


@frozen
class ContractFiles:
    """The contracts of a project.

    Attributes:
        faults: Files that cannot be read as contracts, and patterns that name none.
    """

    contracts: Sequence[DataContract] = ()
    faults: Sequence[GraftError] = field(default=())


def read_contracts(config: Config) -> ContractFiles:
    """The contracts that `contracts` of graft.yml names; one that is damaged stops no other."""
    contracts: list[DataContract] = []
    faults: list[GraftError] = []
    for file in _files(config, faults):
        try:
            contract = _read(file)
        except GraftError as error:
            faults.append(error)
            continue
        if contract:
            contracts.append(contract)
    return ContractFiles(tuple(contracts), tuple(faults))


def _read(file: Path) -> DataContract | None:
    changed = size = 0
    with suppress(OSError):  # Reading it says what is wrong.
        state = file.stat()
        changed, size = state.st_mtime_ns, state.st_size
    return _cached_contract(file, changed, size)


@lru_cache(maxsize=4096)
def _cached_contract(file: Path, _changed: int, _size: int) -> DataContract | None:
    """A contract, read once by all that a command asks."""
    # Its checks, pydantic with them, take longer to import than most questions take.
    from dbt_graft.collectors.contracts.odcs import read_contract

    return read_contract(file)


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
            column.name: (column.classification,)
            for column in table.columns
            if column.classification and column.name.casefold() not in labelled
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
        if column.is_date_partition and column.classification.casefold() in _HARMLESS
    }
    return tuple(sorted(columns - {""}))
