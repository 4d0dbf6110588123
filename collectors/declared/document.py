"""A file of declared lineage, and its JSON schema: docs/schemas/declared-lineage.schema.json.

version: 1
tasks:
  load_orders:
    owner: Data platform
    flows:
      - from: [sftp/orders]
        to: [spark/raw.orders]
        columns: {spark/raw.orders: {amount: [sftp/orders.amt]}}
consumers:
  revenue_dashboard: {type: dashboard, url: https://…, reads: [spark/mart.revenue]}
datasets:
  spark/mart.weekly: {period: day, reads: {spark/raw.orders: [-6, 0]}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from dbt_graft.collectors.checked_yaml import json_schema, read_yaml
from dbt_graft.collectors.public_address import public_address
from dbt_graft.collectors.task_entry import ConsumerType, TaskEntry
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.dates.dataset_kind import DatasetKind
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Masking, Subtype, TaskInfo
from dbt_graft.lineage.redaction import redact_text
from dbt_graft.lineage.section import Checked, JsonSchema, Limits, Section, Text


def _dataset(text: str) -> str:
    parse_dataset_id(text)
    return public_address(text)


def _column(text: str) -> str:
    dataset, dot, column = text.rpartition(".")
    if not dot or not column:
        raise ValueError(f"{text!r} is not a column: write <namespace>/<name>.<column>")
    parse_dataset_id(dataset)
    return public_address(text)


def _json_pattern(pattern: str) -> JsonSchema:
    return JsonSchema({"type": "string", "pattern": pattern})


TaskName = Annotated[Text, Checked(redact_text)]
DatasetName = Annotated[Text, Checked(_dataset), _json_pattern("^[^/]+(://[^/]+)?/.+$")]
ColumnName = Annotated[Text, Checked(_column), _json_pattern(r"^[^/]+(://[^/]+)?/.+\..+$")]


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


DeclaredMasking = Annotated[
    bool | Literal["HASH", "ENCRYPT", "TOKENIZE", "MASK"], Checked(_upper, first=True)
]


@frozen
class DeclaredUpstream(Section):
    """An input of a column; `masking` may name the operation that hides its values."""

    column: ColumnName
    how: Subtype = Subtype.IDENTITY
    masking: DeclaredMasking = False

    @property
    def masked_by(self) -> Masking:
        """The operation, if it is named."""
        return Masking(self.masking) if isinstance(self.masking, str) else Masking.NONE


@frozen
class SplitDataset(Section):
    """A dataset whose namespace has a path, where no log knows it: text does not tell its end."""

    namespace: Text
    name: Text


def dataset_of(entry: str | SplitDataset) -> DatasetId:
    """The dataset that an entry names."""
    if isinstance(entry, SplitDataset):
        return DatasetId(public_address(entry.namespace), public_address(entry.name))
    return parse_dataset_id(entry)


# Output column -> the columns that it comes from.
UpstreamColumns = dict[Text, tuple[ColumnName | DeclaredUpstream, ...]]


@frozen
class DeclaredFlow(Section):
    """A flow of data from each dataset in `from` to each in `to`."""

    source: tuple[DatasetName | SplitDataset, ...] = field(default=(), metadata={"key": "from"})
    target: tuple[DatasetName | SplitDataset, ...] = field(default=(), metadata={"key": "to"})
    columns: dict[DatasetName, UpstreamColumns] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.source and not self.target:
            raise ValueError("name datasets in `from` or `to`")
        into = set(map(dataset_of, self.target))
        for name, columns in self.columns.items():
            if parse_dataset_id(name) not in into:
                raise ValueError(f"{name} is in `columns` but not in `to`")
            for upstream in columns.values():
                for column in upstream:
                    self.origin(column)

    def origin(self, column: str | DeclaredUpstream) -> tuple[DatasetId, str]:
        """The dataset of an input column, and its name, which has dots where it is a field.

        Raises:
            ValueError: It is a column of no dataset in `from`.
        """
        text = column.column if isinstance(column, DeclaredUpstream) else column
        sources, end = {*map(dataset_of, self.source)}, len(text)
        while (end := text.rfind(".", 0, end)) > 0 and "/" in text[:end]:
            if (dataset := parse_dataset_id(text[:end])) in sources:
                return dataset, text[end + 1 :]
        raise ValueError(f"{text} is in `columns` but its dataset is not in `from`")


@frozen(kw_only=True)
class DeclaredTask(TaskEntry):
    """A task and its flows."""

    flows: Annotated[tuple[DeclaredFlow, ...], Limits(min_length=1)]


@frozen(kw_only=True)
class DeclaredConsumer(TaskEntry):
    """A reader that writes no dataset: a dashboard, a report, an API."""

    type: ConsumerType = "application"
    reads: Annotated[tuple[DatasetName | SplitDataset, ...], Limits(min_length=1)]


def _check_order(offsets: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    first, last = offsets
    if first is not None and last is not None and first > last:
        raise ValueError(f"write the first unit before the last: [{last}, {first}]")
    return offsets


# Of the first and the last unit that a unit needs; null for an open side.
UnitOffset = Annotated[int, Limits(ge=-10_000, le=10_000)]
UnitOffsets = Annotated[tuple[UnitOffset | None, UnitOffset | None], Checked(_check_order)]


ToDate = Literal["week to date", "month to date", "quarter to date", "year to date"]


@frozen
class DeclaredPeriods(Section):
    """The dates of a dataset; see `lineage.declared_dates.DeclaredDates`."""

    period: Grain
    kind: DatasetKind | None = None
    reads: dict[DatasetName, UnitOffsets | ToDate] = field(default_factory=dict)
    estimated: dict[DatasetName, UnitOffsets | Literal["last"]] = field(default_factory=dict)
    completed: dict[DatasetName, UnitOffsets | Literal["last"]] = field(default_factory=dict)

    def dates(self) -> DeclaredDates:
        """The entry as a record."""
        return DeclaredDates(
            self.period,
            {parse_dataset_id(name): _reads(offsets) for name, offsets in self.reads.items()},
            self.kind,
            _needs(self.estimated),
            _needs(self.completed),
        )


def _reads(offsets: tuple[int | None, int | None] | str) -> tuple[int | None, int | None] | Grain:
    return Grain(offsets.partition(" ")[0]) if isinstance(offsets, str) else offsets


def _needs(
    needs: Mapping[str, tuple[int | None, int | None] | Literal["last"]],
) -> dict[DatasetId, tuple[int | None, int | None] | None]:
    return {
        parse_dataset_id(name): None if need == "last" else need for name, need in needs.items()
    }


@frozen
class Document(Section):
    """A file of declared lineage."""

    version: Literal[1]
    tasks: dict[TaskName, DeclaredTask] = field(default_factory=dict)
    consumers: dict[TaskName, DeclaredConsumer] = field(default_factory=dict)
    datasets: dict[DatasetName, DeclaredPeriods] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if duplicates := sorted(self.tasks.keys() & self.consumers.keys()):
            raise ValueError(f"{', '.join(duplicates)}: a task and a consumer have the same name")

    def infos(self) -> dict[str, TaskInfo]:
        """Task or consumer -> its description, owner and so on."""
        return {name: entry.info() for name, entry in {**self.tasks, **self.consumers}.items()}

    def dates(self) -> dict[DatasetId, DeclaredDates]:
        """Dataset -> what is declared of its dates."""
        return {parse_dataset_id(name): entry.dates() for name, entry in self.datasets.items()}


def read(path: Path) -> Document:
    """Read and check a file.

    Raises:
        GraftError: It cannot be read or is not valid; all faults at once, each with its line.
    """
    return read_yaml(
        path, Document, "must hold `version: 1` and `tasks:`, `consumers:` or `datasets:`"
    )


def schema() -> dict[str, Any]:
    """The JSON schema of a file (https://json-schema.org/draft/2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **json_schema(Document),
        "title": "Declared lineage of dbt-graft, version 1",
    }
