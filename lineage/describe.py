"""Descriptions of datasets and consumers, from dbt and from YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen


class Role(StrEnum):
    """Role of a dataset in the dbt project after the graft.

    PROMOTED: a model that was a source, because a task writes it or it is a view.
    ADDED: a model for a dataset of a task, or a view, that dbt did not know.
    """

    MODEL = "model"
    SEED = "seed"
    SNAPSHOT = "snapshot"
    SOURCE = "source"
    PROMOTED = "promoted"
    ADDED = "added"
    NEW_SOURCE = "new source"


@frozen
class NodeTest:
    """A dbt test of a dataset.

    Attributes:
        node_id: dbt's unique_id.
        name: The generic test, `not_null`; of another test its own name.
        column: The column that it is on; empty for a test of the table.
        model: The ephemeral model that it tests, if that is not the dataset itself.
    """

    node_id: str
    name: str
    column: str = ""
    model: str = ""

    @property
    def title(self) -> str:
        """`not_null`, `not_null (stg_orders)`"""
        return f"{self.name} ({self.model})" if self.model else self.name


@frozen
class Description:
    """Description of a dataset in dbt's artifacts after the graft.

    Attributes:
        node_id: dbt's unique_id.
        name: The name of the dbt node.
        text: Markdown.
        columns: Column name -> Markdown description.
        tests: Its dbt tests, by column and name.
        inner_tests: Those of the ephemeral models that are part of its SQL.
        dbt_ids: The ids by which dbt itself knows it: of the sources that a promoted model was.
        labels: What tags and `meta` say of its sensitivity, as they write it: `PII`, `internal`.
        column_labels: Column name -> the same of a column, where anything does.
        is_checked_for_freshness: A source of dbt has limits for the age of its rows.
        selection: In commands of dbt, selects the model, seed or snapshot alone; empty for others.
    """

    dataset: DatasetId
    node_id: str
    name: str
    role: Role
    text: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[NodeTest, ...] = ()
    inner_tests: tuple[NodeTest, ...] = ()
    dbt_ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    column_labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_checked_for_freshness: bool = False
    selection: str = ""

    @property
    def sensitivity(self) -> str:
        """The label that pages show: `PII`; empty where nothing needs protection."""
        return _shown_label(self.labels)

    @property
    def column_sensitivity(self) -> dict[str, str]:
        """Column name -> the label that pages show, where there is one."""
        labels = {name: _shown_label(labels) for name, labels in self.column_labels.items()}
        return {name: label for name, label in labels.items() if label}


# Classes of data that need no protection: pages do not mark them.
_HARMLESS = frozenset({"public", "internal", "low", "unclassified"})


def _shown_label(labels: Iterable[str]) -> str:
    return next((label for label in labels if label.casefold() not in _HARMLESS), "")


_CRITICAL = frozenset({"critical", "high", "tier1", "tier 1"})
_UNCRITICAL = frozenset({"low", "none", "tier3", "tier 3"})
CONTRACT = "data contract"
# Kinds of consumers that read by program.
_UNATTENDED = frozenset({"api", "application", CONTRACT})


@frozen
class Consumer:
    """A reader without outputs: a dashboard, a report, an API, a task that only reads.

    Attributes:
        criticality: Of dbt's `meta`: `high`, `critical`; empty where nothing says it.
        freshness_slo: The age that its data may have, as dbt's `meta` says it: `PT2H`, `2h`.
        deadline: The time of day by which it needs them: `08:00`.
        columns: The columns of these that it names, as far as they are known.
        known_reads: Those of `reads` of which it reads none but the columns that it names.
    """

    node_id: str
    name: str
    kind: str
    reads: tuple[DatasetId, ...]
    text: str = ""
    owner: str = ""
    url: str = ""
    tags: tuple[str, ...] = ()
    criticality: str = ""
    freshness_slo: str = ""
    deadline: str = ""
    columns: tuple[tuple[DatasetId, str], ...] = ()
    known_reads: tuple[DatasetId, ...] = ()

    def may_read(self, dataset: DatasetId, column: str) -> bool:
        """Whether it may read a column of a dataset that it reads: as a field or a struct, too."""
        if dataset not in self.known_reads:
            return True
        folded = f"{column.casefold()}."
        names = (f"{name.casefold()}." for other, name in self.columns if other == dataset)
        return any(name.startswith(folded) or folded.startswith(name) for name in names)

    def names(self, dataset: DatasetId, column: str) -> bool:
        """Whether it names a column, or any of a dataset where `column` is empty."""
        folded = column.casefold()
        return any(
            other == dataset and folded in ("", name.casefold()) for other, name in self.columns
        )

    @property
    def is_critical(self) -> bool:
        """Whether a change weighs more here: somebody waits for it, or no person looks at it first.

        It is of high criticality, has an SLO or a deadline, or is an application, an API or a data
        contract that nobody calls uncritical.
        """
        word = self.criticality.casefold()
        if self.freshness_slo or self.deadline or word in _CRITICAL:
            return True
        return self.kind.casefold() in _UNATTENDED and word not in _UNCRITICAL


@frozen
class DocsNode:
    """A page of dbt docs about what has no page in the catalog: a test, a macro, a metric.

    Attributes:
        kind: dbt's resource type.
        text: Markdown.
        is_generic_test: It stands on the page of the dataset that it tests, too.
    """

    node_id: str
    name: str
    kind: str
    text: str = ""
    is_generic_test: bool = False
