"""Data contracts: what teams promise of datasets, and the datasets that they mean.

A contract stands beside dashboards as a consumer: somebody relies on the data, by a deadline.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple

from dbt_graft.analysis.checks.contract_servers import TableServer, same_place
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import name_grain
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.describe import CONTRACT, Consumer
from dbt_graft.lineage.frozen import frozen

KIND = CONTRACT
# Logical types whose values are no dates; a number that looks like one may be a key.
_NO_DATES = ("integer", "number", "boolean", "object", "array", "map", "vector", "time")


@frozen
class ColumnPromise:
    """The promises of a column.

    Attributes:
        type: As the contract has it, folded.
        required: Whether it is never null.
        constraints: Others: `unique`, `primary_key`, `check` with the digest of its condition.
        values: Digests of the values that it may have; empty where nothing limits them.
        classification: The highest label, as it is written.
        unit: Of its values: `EUR`.
    """

    type: str = ""
    required: bool = False
    constraints: frozenset[tuple[str, str]] = frozenset()
    values: frozenset[str] = frozenset()
    classification: str = ""
    unit: str = ""


@frozen
class ContractColumn:
    """A column of a contract; `a.b` for a field.

    Attributes:
        labels: Classifications, as the contract has them.
        partition: The place among the columns that the table is partitioned by, from 1 on; 0 of
            others.
        type: The logical type in small letters: `date`, `string`; empty where none is written.
        promise: What a review compares.
    """

    name: str
    labels: tuple[str, ...] = ()
    partition: int = 0
    type: str = ""
    promise: ColumnPromise = field(default=ColumnPromise(), compare=False)

    @property
    def is_date_partition(self) -> bool:
        """Whether the table is partitioned by it, and its values may be dates."""
        return self.partition > 0 and self.type not in _NO_DATES

    @property
    def grain(self) -> Grain | None:
        """The unit of its dates, by its name and type."""
        return name_grain(self.name) or (Grain.DAY if self.type == "date" else None)


@frozen
class WrittenPromise:
    """A promise of a contract: a service level, or bounds of values.

    Attributes:
        property: `frequency`, `retention`; `bounds` and `quality rule` of columns and tables.
        value: With its unit, as it is written; how many there are of bounds and rules.
        unchecked: Why it cannot be checked, if the contract itself is the reason.
    """

    property: str
    value: str = ""
    unchecked: str = ""


@frozen
class ContractTable:
    """A table of a contract.

    Attributes:
        names: What it may be called, the most exact first: with database and schema, without.
        servers: Where it lies, production first; empty where the contract names no server.
        promises: What the contract says of it beside its columns, as it is written.
    """

    names: tuple[str, ...]
    columns: tuple[ContractColumn, ...] = ()
    freshness_slo: str = ""
    deadline: str = ""
    servers: tuple[TableServer, ...] = ()
    promises: tuple[WrittenPromise, ...] = ()

    @property
    def name(self) -> str:
        """Its most exact name."""
        return self.names[0]


@frozen
class DataContract:
    """A data contract.

    Attributes:
        file: Where it is written.
        status: `active`, `draft`… in small letters; empty where none is written.
        owner: The team, or who has the role of the owner; empty where nobody has.
    """

    id: str
    name: str
    file: str
    version: str = ""
    owner: str = ""
    text: str = ""
    tags: tuple[str, ...] = ()
    tables: tuple[ContractTable, ...] = ()
    status: str = ""


class UnmatchedTable(NamedTuple):
    """A table of a contract that means no dataset, or several.

    Attributes:
        candidates: The datasets that it could be.
        elsewhere: Datasets of its name that lie on no server of the contract.
    """

    contract: DataContract
    table: ContractTable
    candidates: tuple[DatasetId, ...] = ()
    elsewhere: tuple[DatasetId, ...] = ()


@frozen
class ContractMatches:
    """Contracts with the datasets that they mean.

    Attributes:
        tables: Each table that means a dataset, with its contract.
        unmatched: Tables that mean none, or several.
    """

    tables: tuple[tuple[DataContract, ContractTable, DatasetId], ...] = ()
    unmatched: tuple[UnmatchedTable, ...] = ()

    def partitions(self) -> dict[DatasetId, dict[str, Grain]]:
        """Dataset -> the columns with dates that contracts say it is partitioned by, in order."""
        grains: dict[DatasetId, dict[str, Grain]] = defaultdict(dict)
        for _, table, dataset in self.tables:
            for column in sorted(table.columns, key=lambda column: column.partition):
                if column.is_date_partition and column.grain:
                    grains[dataset].setdefault(column.name.casefold(), column.grain)
        return dict(grains)

    def consumers(self, taken: Collection[str] = ()) -> list[Consumer]:
        """Each contract, or each table of it with a promise of its own, as a consumer.

        Args:
            taken: Names of tasks and of other consumers: each name is that of one page.
        """
        reads: dict[tuple[DataContract, str, str], list[DatasetId]] = defaultdict(list)
        columns: dict[tuple[DataContract, str, str], dict[tuple[DatasetId, str], None]]
        columns = defaultdict(dict)
        for contract, table, dataset in self.tables:
            key = contract, table.freshness_slo, table.deadline
            reads[key].append(dataset)
            # Fields of nested columns are not in lineage.
            names = (column.name for column in table.columns if "." not in column.name)
            columns[key] |= dict.fromkeys((dataset, name) for name in names)
        titles = Counter(contract.name for contract, *_ in reads)
        consumers, used = [], Counter[str]()
        for (contract, slo, deadline), datasets in reads.items():
            name = contract.name
            if titles[name] > 1 and contract.version:
                name = f"{name} {contract.version}"
            name = f"{name} (contract)" if name in taken else name
            used[name] += 1
            name = f"{name} ({used[name]})" if used[name] > 1 else name
            consumers.append(
                Consumer(
                    f"contract:{contract.id}",
                    name,
                    KIND,
                    tuple(sorted(set(datasets))),
                    contract.text,
                    contract.owner,
                    tags=contract.tags,
                    freshness_slo=slo,
                    deadline=deadline,
                    columns=(named := tuple(columns[contract, slo, deadline])),
                    known_reads=tuple(sorted({of for of, _ in named})),
                )
            )
        return consumers


def match_contracts(
    contracts: Iterable[DataContract],
    datasets: Iterable[DatasetId],
    others: Mapping[DatasetId, DatasetId] = MappingProxyType({}),
) -> ContractMatches:
    """The datasets that contracts mean: on the first server that has one of the table's names.

    Of the names the most exact counts that any dataset there has, in any case.

    Args:
        others: Other names of datasets, such as those in logs and paths, with the dataset of each.
    """
    names = _DatasetsByName(datasets, others)
    tables, unmatched = [], []
    for contract in contracts:
        for table in contract.tables:
            by_server = [
                names.on_server(server)
                for server in table.servers or (TableServer(names=table.names),)
            ]
            bound = next((c[0] for c in by_server if len(c) == 1), None)
            if bound:
                tables.append((contract, table, bound))
                continue
            candidates = next(filter(None, by_server), ())
            elsewhere = () if candidates else names.elsewhere(table)
            unmatched.append(UnmatchedTable(contract, table, candidates, elsewhere))
    return ContractMatches(tuple(tables), tuple(unmatched))


class _DatasetsByName:
    """Datasets by their names, by the ends of these, and by what identifies them."""

    def __init__(
        self, datasets: Iterable[DatasetId], others: Mapping[DatasetId, DatasetId]
    ) -> None:
        own = sorted(datasets)
        self._pairs = [*((name, name) for name in own), *sorted(others.items())]
        self._ends: dict[str, list[tuple[DatasetId, DatasetId]]] = defaultdict(list)
        for pair in self._pairs:
            parts = pair[0].name.casefold().split(".")
            ends = {".".join(parts[at:]) for at in range(len(parts))}
            for end in {*ends, same_place(str(pair[0]))}:
                self._ends[end].append(pair)

    def on_server(self, server: TableServer) -> tuple[DatasetId, ...]:
        """The datasets that a table on a server may be: by its location, else by its names."""
        if there := _datasets(pair for pair in self._pairs if server.is_at(pair[0])):
            return there
        allowed = (
            _datasets(pair for pair in self._named(name) if server.may_mean(name, pair[0]))
            for name in server.names
        )
        return next(filter(None, allowed), ())

    def elsewhere(self, table: ContractTable) -> tuple[DatasetId, ...]:
        """The datasets of the first of a table's names that any has, whatever its servers say."""
        if any(server.is_stream for server in table.servers):
            return ()
        return next(filter(None, (_datasets(self._named(name)) for name in table.names)), ())

    def _named(self, name: str) -> Sequence[tuple[DatasetId, DatasetId]]:
        return self._ends.get(same_place(name), ())


def _datasets(pairs: Iterable[tuple[DatasetId, DatasetId]]) -> tuple[DatasetId, ...]:
    """The datasets of names: of those that have one as their own, else of all."""
    pairs = [*pairs]
    own = [dataset for name, dataset in pairs if name == dataset]
    return tuple(dict.fromkeys(own or (dataset for _, dataset in pairs)))
