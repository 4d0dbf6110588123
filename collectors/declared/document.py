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

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from dbt_graft.collectors.checked_yaml import read_yaml
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.records import Subtype, TaskInfo

ConsumerType = Literal["dashboard", "notebook", "analysis", "ml", "application", ""]
Maturity = Literal["high", "medium", "low", ""]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _dataset(text: str) -> str:
    parse_dataset_id(text)
    return text


def _column(text: str) -> str:
    parse_column(text)
    return text


def parse_column(text: str) -> tuple[DatasetId, str]:
    """`namespace/name.column`

    Raises:
        ValueError: It is not written so.
    """
    dataset, dot, column = text.rpartition(".")
    if not dot or not column:
        raise ValueError(f"{text!r} is no column: write <namespace>/<name>.<column>")
    return parse_dataset_id(dataset), column


def _written(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern})


Dataset = Annotated[Text, AfterValidator(_dataset), _written("^[^/]+(://[^/]+)?/.+$")]
ColumnName = Annotated[Text, AfterValidator(_column), _written(r"^[^/]+(://[^/]+)?/.+\..+$")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskEntry(_Section):
    """What no log knows of a task; see `lineage.records.TaskInfo`."""

    description: str = ""
    owner: str = ""
    repo: str = ""
    path: str = ""
    runbook: str = ""
    schedule: str = ""
    tags: tuple[Text, ...] = ()
    type: ConsumerType = ""
    url: str = ""
    maturity: Maturity = ""

    def info(self) -> TaskInfo:
        """The same as everybody downstream reads it."""
        return TaskInfo(**{name: getattr(self, name) for name in TaskEntry.model_fields})


class Upstream(_Section):
    """A column that another comes from, or that decides on it."""

    column: ColumnName
    how: Subtype = Subtype.IDENTITY
    masking: bool = False


class Flow(_Section):
    """Data that goes from each dataset of `from` into each of `to`."""

    source: tuple[Dataset, ...] = Field(default=(), alias="from")
    target: tuple[Dataset, ...] = Field(default=(), alias="to")
    columns: dict[Dataset, dict[Text, tuple[ColumnName | Upstream, ...]]] = {}

    @model_validator(mode="after")
    def _goes_somewhere(self) -> Flow:
        if not self.source and not self.target:
            raise ValueError("name the datasets it comes `from`, or goes `to`")
        into = {parse_dataset_id(name) for name in self.target}
        for name in self.columns:
            if parse_dataset_id(name) not in into:
                raise ValueError(f"{name} has columns and is not named in `to`")
        return self


class DeclaredTask(TaskEntry):
    """A task, and the data it moves."""

    flows: tuple[Flow, ...] = Field(min_length=1)


class Consumer(TaskEntry):
    """Who reads and writes nothing: a dashboard, a report, an API."""

    type: ConsumerType = "application"
    reads: tuple[Dataset, ...] = Field(min_length=1)


class Document(_Section):
    """A file of declared lineage."""

    version: Literal[1]
    tasks: dict[Text, DeclaredTask] = {}
    consumers: dict[Text, Consumer] = {}

    @model_validator(mode="after")
    def _each_name_once(self) -> Document:
        if both := sorted(self.tasks.keys() & self.consumers.keys()):
            raise ValueError(f"{', '.join(both)}: a task and a consumer of one name")
        return self

    def infos(self) -> dict[str, TaskInfo]:
        """What it says of its tasks and consumers beside their data."""
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
