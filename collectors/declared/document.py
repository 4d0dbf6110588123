"""A file of declared lineage, and its JSON schema: docs/declared-lineage.schema.json.

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
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from dbt_graft.collectors.checked_yaml import Section, Text, read_yaml
from dbt_graft.collectors.public_address import public_address
from dbt_graft.collectors.task_entry import ConsumerType, TaskEntry
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.records import Subtype, TaskInfo


def _dataset(text: str) -> str:
    parse_dataset_id(text)
    return public_address(text)


def _column(text: str) -> str:
    parse_column(text)
    return public_address(text)


def parse_column(text: str) -> tuple[DatasetId, str]:
    """`namespace/name.column`

    Raises:
        ValueError: It is not written so.
    """
    dataset, dot, column = text.rpartition(".")
    if not dot or not column:
        raise ValueError(f"{text!r} is not a column: write <namespace>/<name>.<column>")
    return parse_dataset_id(dataset), column


def _written(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern})


DatasetName = Annotated[Text, AfterValidator(_dataset), _written("^[^/]+(://[^/]+)?/.+$")]
ColumnName = Annotated[Text, AfterValidator(_column), _written(r"^[^/]+(://[^/]+)?/.+\..+$")]


class DeclaredUpstream(Section):
    """An input of a column."""

    column: ColumnName
    how: Subtype = Subtype.IDENTITY
    masking: bool = False


# Output column -> the columns that it comes from.
UpstreamColumns = dict[Text, tuple[ColumnName | DeclaredUpstream, ...]]


class DeclaredFlow(Section):
    """A flow of data from each dataset in `from` to each in `to`."""

    source: tuple[DatasetName, ...] = Field(default=(), alias="from")
    target: tuple[DatasetName, ...] = Field(default=(), alias="to")
    columns: dict[DatasetName, dict[Text, tuple[ColumnName | DeclaredUpstream, ...]]] = Field(
        default={}
    )

    @model_validator(mode="after")
    def _goes_somewhere(self) -> DeclaredFlow:
        if not self.source and not self.target:
            raise ValueError("name datasets in `from` or `to`")
        into = {parse_dataset_id(name) for name in self.target}
        for name in self.columns:
            if parse_dataset_id(name) not in into:
                raise ValueError(f"{name} is in `columns` but not in `to`")
        return self


class DeclaredTask(TaskEntry):
    """A task and its flows."""

    flows: tuple[DeclaredFlow, ...] = Field(min_length=1)


class DeclaredConsumer(TaskEntry):
    """A reader that writes no dataset: a dashboard, a report, an API."""

    type: ConsumerType = "application"
    reads: tuple[DatasetName, ...] = Field(min_length=1)


class Document(Section):
    """A file of declared lineage."""

    version: Literal[1]
    tasks: dict[Text, DeclaredTask] = Field(default={})
    consumers: dict[Text, DeclaredConsumer] = Field(default={})

    @model_validator(mode="after")
    def _each_name_once(self) -> Document:
        if both := sorted(self.tasks.keys() & self.consumers.keys()):
            raise ValueError(f"{', '.join(both)}: a task and a consumer have the same name")
        return self

    def infos(self) -> dict[str, TaskInfo]:
        """Task or consumer -> its description, owner and so on."""
        return {name: entry.info() for name, entry in {**self.tasks, **self.consumers}.items()}


def read(path: Path) -> Document:
    """Read and check a file.

    Raises:
        GraftError: It cannot be read or is not valid; all faults at once, each with its line.
    """
    return read_yaml(path, Document, "must hold `version: 1` and `tasks:` or `consumers:`")


def schema() -> dict[str, Any]:
    """The JSON schema of a file (https://json-schema.org/draft/2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Document.model_json_schema(by_alias=True),
        "title": "Declared lineage of dbt-graft, version 1",
    }
